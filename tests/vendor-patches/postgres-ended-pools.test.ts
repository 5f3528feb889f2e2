/**
 * What becomes of statements that wait for a connection when their pool ends. Method: the pool's
 * own time to end them never comes, so all that ends is what ends of its own accord.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { type Sql, withPostgres } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

let database: TestDatabase;
test.before(async () => {
  database = await testDatabase();
});
test.after(() => database.close());

test("a pool that ends opens no connection for a statement that waits", async () => {
  const asked: Promise<unknown>[] = [];
  let resume = (): void => undefined;
  // The first one fails the work, the second has the connection then, and the third waits for it.
  const work = (sql: Sql) => {
    const first = sql`select 1 / 0`.catch((error) => {
      resume = holdTimers();
      throw error;
    });
    asked.push(first, sql`select ${1}::int`, sql`select ${2}::int`);
    return Promise.all(asked);
  };
  await assert.rejects(withPostgres(database.url, { connections: 1 }, work), /division by zero/);
  resume();
  const [, second, third] = await Promise.allSettled(asked);
  assert.deepEqual([second?.status, third?.status], ["fulfilled", "rejected"]);
  assert.match(String(Object(third).reason), /the pool has ended/);
});

/** Holds back what is to be done at once, as the end of a pool's time. @returns ends that */
function holdTimers(): () => void {
  const { setTimeout } = globalThis;
  const held = (work: () => void, ms = 0, ...given: []) =>
    setTimeout(work, ms === 0 ? 2 ** 31 - 1 : ms, ...given);
  globalThis.setTimeout = Object.assign(held, setTimeout);
  return () => {
    globalThis.setTimeout = setTimeout;
  };
}

test.run();
