/**
 * Goal: what is stored is counted, and its publisher woken, also where the answer came too late.
 * Method: an engine on Postgres whose commits are confirmed after the caller's deadline.
 */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { castStar } from "../../src/voting/cast-star.ts";
import { seedDirectory, startEngine } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";

const database = await testDatabase({ migrated: true });
const engine = await startEngine(database.url);
test.before(() => seedDirectory(engine.sql));
test.after(async () => {
  await engine.close();
  await database.close();
});

test("a star that was stored and answered 503 is announced once", async () => {
  const { casting } = engine.parts;
  const announced: string[] = [];
  // As long as a star may take: a busy machine has stored it by then.
  const answerBy = performance.now() + bounds.starDeadlineMs;
  const deps: typeof casting = {
    ...casting,
    onAccepted: ({ id }) => announced.push(id),
    commit: async (...given) => {
      const stored = await casting.commit(...given);
      await pause(answerBy + 100 - performance.now());
      return stored;
    },
  };
  const cast = castStar(deps, {
    voter: { wallet: "0.0.1001" },
    target: { type: "token", id: "0.0.9001" },
    idempotencyKey: null,
    answerBy,
  });
  await assert.rejects(cast, { code: "UNAVAILABLE" });
  assert.deepEqual(announced, []);
  await pause(200);
  const rows = await engine.sql<{ id: string }[]>`select id from star`;
  assert.deepEqual(
    announced,
    rows.map(({ id }) => id),
  );
  assert.equal(announced.length, 1);
});

test.run();
