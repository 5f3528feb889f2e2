/**
 * Goal: the view `attention` shows stars, weight and distinct wallets per item over exactly the
 * last 24 hours, 7 days and 30 days, to a reader who may read nothing else, and opens no month
 * outside. Method: stars of known ages are put into the journal, and the plan is looked at.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let sql: Sql;
let now: number;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 2 });
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  now = row?.now ?? 0;
  // It stands still, so that each window has its last millisecond.
  await sql.unsafe(`create or replace function now_ms() returns bigint language sql volatile
    as 'select ${now}::bigint'`);
});
test.after(async () => {
  await sql.end();
  await database.close();
});

let slot = 0;

async function star(
  target: string,
  age: number,
  { wallet = 1_001, weight = 1 } = {},
): Promise<void> {
  const [type = "", id = ""] = target.split("/");
  const at = now - age;
  slot += 1;
  await sql`select ensure_star_partition(${dayOf(at)})`;
  await sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    values (gen_random_uuid(), ${dayOf(at)}, ${wallet}, ${1 + (slot % 20)}, ${at}, ${type}, ${id}, true, ${weight},
      ${weight}, 1, ${weight - 1}, 0, '{}', '{}', ${at}, 20)`;
}

const attention = (target: string) => {
  const [type = "", id = ""] = target.split("/");
  return sql<{ window: string; stars: number; weight: number; wallets: number }[]>`
    select "window", stars, weight, wallets from attention
    where target_type = ${type} and target_id = ${id} order by stars`;
};
const windowsOf = async (target: string) =>
  (await attention(target)).map(({ window }) => window).sort();

for (const [age, ms, windows] of [
  ["of just now", 0, ["24h", "30d", "7d"]],
  ["a millisecond younger than 24 h", DAY_MS - 1, ["24h", "30d", "7d"]],
  ["24 h old", DAY_MS, ["30d", "7d"]],
  ["a millisecond younger than 7 d", 7 * DAY_MS - 1, ["30d", "7d"]],
  ["7 d old", 7 * DAY_MS, ["30d"]],
  ["a millisecond younger than 30 d", 30 * DAY_MS - 1, ["30d"]],
  ["30 d old", 30 * DAY_MS, []],
] as const) {
  test(`a star ${age} counts in ${windows.join(", ") || "none"}`, async () => {
    const target = `token/0.0.${1 + ms}`;
    await star(target, ms);
    assert.deepEqual(await windowsOf(target), windows);
  });
}

test("stars and weight add up, a wallet counts once, and kinds stay apart", async () => {
  await star("project/dex", HOUR_MS, { wallet: 1, weight: 5 });
  await star("project/dex", 2 * HOUR_MS, { wallet: 1, weight: 6 });
  await star("project/dex", 3 * HOUR_MS, { wallet: 2, weight: 1 });
  await star("project/dex", 3 * DAY_MS, { wallet: 3, weight: 10 });
  await star("project/dex", 20 * DAY_MS, { wallet: 2, weight: 100 });
  await star("event/dex", HOUR_MS, { wallet: 9, weight: 1_000 });
  assert.deepEqual(
    (await attention("project/dex")).map((row) => ({ ...row })),
    [
      { window: "24h", stars: 3, weight: 12, wallets: 2 },
      { window: "7d", stars: 4, weight: 22, wallets: 3 },
      { window: "30d", stars: 5, weight: 122, wallets: 3 },
    ],
  );
  const [first] = await sql`select * from attention limit 1`;
  assert.deepEqual(Object.keys(first ?? {}), [
    "target_type",
    "target_id",
    "window",
    "stars",
    "weight",
    "wallets",
  ]);
});

test("months outside of a window are never opened, also when nothing says so before the run", async () => {
  for (const age of [70, 100, 130]) await star("token/0.0.1", age * DAY_MS);
  const plan = async (query: string): Promise<string> => {
    const rows = await sql.unsafe<{ "QUERY PLAN": string }[]>(
      `explain (analyze, costs off, timing off) ${query}`,
    );
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  };
  const text = await plan("select * from attention");
  const opened = [...text.matchAll(/ on (star_\d{4}_\d\d) .*actual rows/g)].map(([, name]) => name);
  const may = new Set<string>();
  // The month of today, and the next one, which stands ready; those of the last thirty days.
  for (let age = -31; age <= 30; age += 1) {
    may.add(
      `star_${dayOf(now - age * DAY_MS)
        .slice(0, 7)
        .replace("-", "_")}`,
    );
  }
  assert.ok(opened.length >= 3, text);
  for (const name of opened) assert.ok(may.has(name ?? ""), name);
  const old = `star_${dayOf(now - 100 * DAY_MS)
    .slice(0, 7)
    .replace("-", "_")}`;
  assert.match(text, new RegExp(`on ${old} .*never executed`));
  // Asked for one window, only that one is counted.
  const one = await plan(`select * from attention where "window" = '24h'`);
  assert.match(one, /Values Scan .*\(actual rows=1(\.00)? loops=1\)/);
  assert.match(one, /Append \(actual rows=[\d.]+ loops=1\)/);
});

test("a login with the role starboard_reader reads the view, and nothing else", async () => {
  const read = (what: string) =>
    sql.begin(async (tx) => {
      await tx`set local role starboard_reader`;
      return await tx.unsafe(`select * from ${what} limit 1`);
    });
  assert.equal((await read("attention")).length, 1);
  for (const table of ["star", "session", "xp_credit", "api_key"]) {
    await assert.rejects(read(table), { code: "42501" }, table);
  }
});

test.run();
