/**
 * Goal: the demo's voters use the voting API as any client does, and no answer ends them.
 * Method: a client, random numbers and a clock of the test's own.
 */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mock } from "node:test";
import { setImmediate as nextTurnOfLoop } from "node:timers/promises";
import { test } from "uvu";
import { POLL_EVERY_MS, PUBLISHED_WITHIN_MS } from "../../src/cli/demo.ts";
import { demoVoterClient } from "../../src/cli/demo-voting.ts";
import { readSettings } from "../../src/config.ts";
import { startVoters, type VotingClient } from "../../src/demo/voters.ts";
import { silentLogger } from "../../src/log.ts";

const voters = ["0.0.2001", "0.0.2002"].map((id) => ({ id, type: "ecdsa" as const, key: "" }));
const targets = ["token/0.0.1", "event/meetup"];

/** Runs so many turns with these answers, and returns what the voters asked. */
async function turns(count: number, answers: readonly (string | undefined | Error)[]) {
  const asked: string[] = [];
  const pauses: number[] = [];
  const queue = [...answers];
  const client: VotingClient = {
    async signIn({ id }) {
      asked.push(`sign in ${id}`);
      return `token of ${id}`;
    },
    async star(token, target) {
      asked.push(`${token} stars ${target}`);
      const code = queue.shift();
      if (code instanceof Error) throw code;
      return { code };
    },
  };
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const service = startVoters({
      voters,
      targets,
      client,
      log: silentLogger,
      random: () => 0,
    });
    while (pauses.length < count) {
      const before = Date.now();
      mock.timers.runAll();
      pauses.push(Date.now() - before);
      // Its answers are there: the turn ends before this does.
      await nextTurnOfLoop();
    }
    await service.close();
  } finally {
    mock.timers.reset();
  }
  return { asked, pauses };
}

test("a voter signs in once, then votes at each turn, ever more calmly", async () => {
  const { asked, pauses } = await turns(3, []);
  const star = "token of 0.0.2001 stars token/0.0.1";
  assert.deepEqual(asked, ["sign in 0.0.2001", star, star, star]);
  assert.deepEqual(
    pauses,
    [...pauses].sort((one, other) => one - other),
  );
});

test("an item already starred leads to another try, any other refusal to none", async () => {
  const { asked } = await turns(1, ["ALREADY_STARRED", "ALLOWANCE_EXHAUSTED", undefined]);
  assert.equal(asked.filter((line) => line.includes("stars")).length, 2);
});

test("tries are bounded where everything was starred already", async () => {
  const { asked } = await turns(
    1,
    Array.from({ length: 99 }, () => "ALREADY_STARRED"),
  );
  assert.ok(asked.length < 10);
});

test("an ended session is opened again, and voting goes on after an outage", async () => {
  const { asked } = await turns(3, ["INVALID_SESSION", new Error("nothing answers"), undefined]);
  assert.equal(asked.filter((line) => line.startsWith("sign in")).length, 2);
  assert.equal(asked.filter((line) => line.includes("stars")).length, 3);
});

test("a refusal that asks to come back is left until the next turn, so no stop waits for it", async () => {
  let asked = 0;
  const server = createServer((_, reply) => {
    asked += 1;
    reply.writeHead(503, { "retry-after": "1" }).end(JSON.stringify({ code: "JOURNAL_BEHIND" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = demoVoterClient(`http://127.0.0.1:${port}`);
  assert.deepEqual(await client.star("token", "token/0.0.1"), { code: "JOURNAL_BEHIND" });
  assert.equal(asked, 1);
  server.close();
});

test("who waits a minute for the ledger asks far less often than a client may", () => {
  assert.ok(PUBLISHED_WITHIN_MS / POLL_EVERY_MS < readSettings({}).VOTING_RATE_LIMIT / 2);
});

test.run();
