/**
 * Goal: what is stored is counted, and its publisher woken, also where the answer came too late.
 * Method: an engine on Postgres whose commits are confirmed after the caller's deadline.
 */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { castStar } from "../../src/voting/cast-star.ts";
import { createEngine } from "../../src/voting/engine.ts";
import { NO_SNAPSHOTS, seedDirectory, startEngine } from "../support/engine.ts";
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

test("no star waits for the claims on thousands of NFTs that another one brings", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const writer = openPostgres(database.url, { connections: 2, writer: true });
  let largeLoads = 0;
  const slow = new Proxy(writer, {
    apply(query, self, args: Parameters<Sql>) {
      const send = () => Reflect.apply(query, self, args);
      if (!Array.isArray(args[1]) || args[1].length <= 1_000) return send();
      largeLoads += 1;
      return held.then(send);
    },
  });
  const { casting } = createEngine({
    ...{ sql: engine.sql, writer: slow, clock: engine.clock, snapshots: NO_SNAPSHOTS },
    collectionKeys: { a: "alpha", b: "beta" },
    readHoldings: async () => assert.fail("holdings are given"),
    hasTaken: async () => true,
    onAccepted: () => undefined,
    onContradiction: (error) => assert.fail(String(error)),
  });
  const slice = (wallet: string, serials: number) =>
    casting.loadSlice({
      ...{ event: "mint", day: null, wallet, serialsB: [] },
      serialsA: Array.from({ length: serials }, (_, n) => n + 1),
    });
  const large = Promise.all([1, 2, 3, 4, 5, 6].map((n) => slice(`0.0.${1_010 + n}`, 1_001)));
  assert.deepEqual((await slice("0.0.1003", 10)).counted, { A: {}, B: {} });
  await pause(200);
  assert.equal(largeLoads, 2, "the writer has connections left");
  release();
  assert.equal((await large).length, 6);
  await writer.end();
});

test.run();
