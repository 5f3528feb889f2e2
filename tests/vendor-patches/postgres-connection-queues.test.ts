/** What a pool keeps of the statements that it has run. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const CONNECTIONS = 4;
const STATEMENTS = 3_000;
/** A queue begins anew after 256; the first statement of a kind is not counted. */
const PLACES_MAX = 2 * 256;

let database: TestDatabase;
test.before(async () => {
  database = await testDatabase();
});
test.after(() => database.close());

/** postgres.js looks for a connection in each of its queues: the longest one that it searched. */
async function longestQueue(work: () => Promise<void>): Promise<number> {
  const { indexOf } = Array.prototype;
  let longest = 0;
  Array.prototype.indexOf = function (this: unknown[], sought: unknown, from?: number) {
    if (Object(sought).idleTimer !== undefined) longest = Math.max(longest, this.length);
    return indexOf.call(this, sought, from);
  };
  try {
    await work();
  } finally {
    Array.prototype.indexOf = indexOf;
  }
  assert.ok(longest > 0, "the queues of postgres.js were not seen");
  return longest;
}

/** So many at a time, after all connections were open once. */
async function run(sql: Sql, lanes: number): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sql`select pg_sleep(0.05)`));
  const lane = async (): Promise<void> => {
    for (let n = 0; n < STATEMENTS / lanes; n += 1) {
      const [row] = await sql<{ n: number }[]>`select ${n}::int as n`;
      assert.equal(row?.n, n);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

test("a pool keeps nothing of its statements, whether connections are free or all busy", async () => {
  for (const lanes of [1, CONNECTIONS - 1, CONNECTIONS + 1, 5 * CONNECTIONS]) {
    const sql = openPostgres(database.url, { connections: CONNECTIONS });
    const longest = await longestQueue(() => run(sql, lanes));
    assert.ok(longest <= PLACES_MAX, `${lanes} at a time: searched through ${longest} places`);
    await sql.end();
  }
});

test("all connections of a pool go on being used, and transactions among them", async () => {
  const sql = openPostgres(database.url, { connections: CONNECTIONS });
  await run(sql, CONNECTIONS + 1);
  await Promise.all(
    Array.from({ length: 600 }, (_, n) =>
      sql.begin(async (own) => assert.equal((await own`select ${n}::int as n`)[0]?.n, n)),
    ),
  );
  await run(sql, CONNECTIONS - 1);
  const pids = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => sql`select pg_backend_pid() as pid, pg_sleep(0.2)`),
  );
  assert.equal(new Set(pids.map(([row]) => row?.pid)).size, CONNECTIONS);
  await sql.end();
});

test.run();
