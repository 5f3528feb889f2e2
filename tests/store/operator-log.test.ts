/** What an operator did is shown, also where Postgres goes away before the log's second line. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { type Act, actLogged } from "../../src/store/operator-log.ts";
import type { Sql } from "../../src/store/postgres.ts";

const ACT: Act = {
  actor: { operator: "ada", sessionId: null, origin: "command" },
  name: "keys.issue",
  subject: "client",
};

/** A database that takes the log's first line, and fails at the second. */
function failing(error: Error): Sql {
  let statements = 0;
  const statement = () => {
    statements += 1;
    return statements === 1 ? Promise.resolve([]) : Promise.reject(error);
  };
  return Object.assign(statement, { json: (value: unknown) => value }) as unknown as Sql;
}

const gone = () => Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" });

test("what is shown only once is shown", async () => {
  const issued = { notice: "", key: "shown once" };
  const { key } = await actLogged(failing(gone()), ACT, () => Promise.resolve(issued));
  assert.equal(key, "shown once");
});

test("a refusal says why, and not that the database is away", async () => {
  const refused = () => Promise.reject(new Error("INSUFFICIENT_PAYER_BALANCE"));
  await assert.rejects(actLogged(failing(gone()), ACT, refused), /INSUFFICIENT_PAYER_BALANCE/);
});

test("a line that makes no sense to Postgres is not kept quiet", async () => {
  const done = () => Promise.resolve({ notice: "" });
  await assert.rejects(actLogged(failing(new TypeError("a defect")), ACT, done), /a defect/);
});

test.run();
