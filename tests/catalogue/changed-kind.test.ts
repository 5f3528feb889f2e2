/**
 * Goal: an event that is starred stays under the rule its stars were counted by, and a ledger id with
 * the project whose stars' messages bear it, whatever an import and a star do at the same moment. Method: real connections; one of the two is held up in the
 * middle by a lock that the test holds, and the other passes; then many of both at once.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { ruleOf, type TargetRecord } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import { bounds } from "../../src/bounds.ts";
import { importCatalog } from "../../src/catalogue/import-catalog.ts";
import { createGroupCommit } from "../../src/journal/group-commit.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { decidedStar } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { SLACK_MS } from "../support/slack.ts";

interface Context {
  sql: Sql;
  /** Stores a star of another wallet each time, decided by the rule that is named. */
  cast(id: string, rule: "ordinary" | "forever"): Promise<string>;
  /** The same, of the project `one` under a ledger id. */
  castOnProject(ledgerId: string): Promise<string>;
  close(): Promise<void>;
}

const test = suite<Context>("an event's kind");

const { statementDeadlineMs, statementTimeoutMs } = bounds;
test.before(() => {
  // A star that the test holds up waits for as long as a busy machine takes to see that it does.
  Object.assign(bounds, {
    statementDeadlineMs: statementDeadlineMs + SLACK_MS,
    statementTimeoutMs: statementTimeoutMs + SLACK_MS,
  });
});
test.after(() => void Object.assign(bounds, { statementDeadlineMs, statementTimeoutMs }));

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 8 });
  const writer = openPostgres(database.url, { connections: 4, writer: true });
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const now = row?.now ?? 0;
  // A process for each: stars of one share their statement.
  const commits = [1, 2].map(() => createGroupCommit({ sql: writer, now: Date.now }).commit);
  let wallet = 1_000;
  const store = async (decided: ReturnType<typeof decidedStar>): Promise<string> => {
    assert.equal(decided.star.day, dayOf(now));
    const commit = commits[wallet % 2] as (typeof commits)[number];
    const outcome = await commit(decided);
    return outcome.kind === "stored" ? outcome.kind : outcome.reason;
  };
  Object.assign(context, {
    sql,
    cast(id, rule) {
      wallet += 1;
      const eventKind = rule === "forever" ? "FOREVER_MINT" : "MINT_EVENT";
      const target: TargetRecord = { type: "event", id, eventKind, ledgerId: null };
      const claims = { a: [wallet], b: null };
      const star = decidedStar({ wallet: `0.0.${wallet}`, now, target, claims });
      assert.equal(ruleOf(target).scope === "forever-mint", rule === "forever");
      return store(star);
    },
    castOnProject(ledgerId) {
      wallet += 1;
      const target: TargetRecord = { type: "project", id: "one", eventKind: null, ledgerId };
      const star = decidedStar({ wallet: `0.0.${wallet}`, now, target });
      return store({ ...star, message: JSON.stringify({ target_id: ledgerId }) });
    },
    async close() {
      await Promise.all([sql.end({ timeout: 1 }), writer.end({ timeout: 1 })]);
      await database.close();
    },
  } satisfies Context);
  await importCatalog(sql, catalog(["mint"], false), options);
});
test.after.each((context) => context.close());

const options = { approve: true, eventSources: [] };
const token = { id: "0.0.9001", symbol: "T", name: "Token" };
const catalog = (ids: readonly string[], isForeverMint: boolean) => ({
  events: ids.map((id) => ({
    id,
    title: id,
    eventType: "MINT_EVENT",
    startsAt: "2026-11-20T08:00:00Z",
    isForeverMint,
  })),
  tokens: [token],
});

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: Error) => error.message,
  );
const REFUSED = /^already starred, so isForeverMint cannot change any more: mint$/;

/** Stars that were counted by another rule than their event is under. */
const contradictions = async (sql: Sql) => [
  ...(await sql`select star.target_id from star join event on event.id = target_id
    where star.is_forever_mint <> event.is_forever_mint`),
];

/** Locks a row until it is released. */
async function hold(sql: Sql, statement: string): Promise<() => Promise<void>> {
  const connection = await reserveConnection(sql);
  await connection.unsafe(`begin; ${statement}`);
  return async () => {
    await connection`rollback`;
    connection.release();
  };
}

const waiting = async (sql: Sql) =>
  (
    await sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`
  ).length;

test("a star that is stored while an import is under way keeps the event's kind", async ({
  sql,
  cast,
}) => {
  // An import stores events before tokens: it has seen no star.
  const release = await hold(sql, "select from token for update");
  const importing = outcome(importCatalog(sql, catalog(["mint"], true), options));
  await until("the import waits", async () => (await waiting(sql)) > 0);
  assert.equal(await cast("mint", "ordinary"), "stored");
  await release();
  assert.match(await importing, REFUSED);
  assert.deepEqual(await contradictions(sql), []);
});

test("an import that comes while a star is being stored waits for it, and is refused", async ({
  sql,
  cast,
}) => {
  const release = await hold(sql, "insert into event_total values ('mint', 1, 1)");
  const casting = cast("mint", "ordinary");
  await until("the star is being stored", async () => (await waiting(sql)) > 0);
  const importing = outcome(importCatalog(sql, catalog(["mint"], true), options));
  await until("the import waits as well", async () => (await waiting(sql)) > 1);
  await release();
  assert.equal(await casting, "stored");
  assert.match(await importing, REFUSED);
  assert.deepEqual(await contradictions(sql), []);
});

test("a star that comes after a change is not stored under the former rule", async ({
  sql,
  cast,
}) => {
  await importCatalog(sql, catalog(["mint"], true), options);
  assert.equal(await cast("mint", "ordinary"), "kind");
  assert.equal(await cast("mint", "forever"), "stored");
});

test("no statement of any role changes the kind of a starred event", async ({ sql, cast }) => {
  await cast("mint", "ordinary");
  const change = sql`update event set is_forever_mint = true, ends_at = null where id = 'mint'`;
  await assert.rejects(change, { code: "SB409" });
  await sql`update event set title = 'Another', approved_at = null where id = 'mint'`;
});

const projects = (one: string | null, two: string | null) => ({
  projects: [
    { id: "one", name: "One", category: "DATA", ledgerId: one },
    { id: "two", name: "Two", category: "DATA", ledgerId: two },
  ],
});

test("a star under a ledger id that went to another project meanwhile is not stored", async ({
  sql,
  castOnProject,
}) => {
  await importCatalog(sql, projects("0.0.7", null), options);
  await importCatalog(sql, projects(null, "0.0.7"), options);
  assert.equal(await castOnProject("0.0.7"), "kind");
});

test("an import that takes a ledger id while a star under it is being stored waits, and is refused", async ({
  sql,
  castOnProject,
}) => {
  await importCatalog(sql, projects("0.0.7", null), options);
  const release = await hold(
    sql,
    "insert into item_day values ('project', 'one', utc_day(now_ms()), 1, 1)",
  );
  const casting = castOnProject("0.0.7");
  await until("the star is being stored", async () => (await waiting(sql)) > 0);
  const importing = outcome(importCatalog(sql, projects(null, "0.0.7"), options));
  await until("the import waits as well", async () => (await waiting(sql)) > 1);
  await release();
  assert.equal(await casting, "stored");
  assert.match(await importing, /projects\[1\] \(id "two"\) ledgerId is that of project one$/);
  // Nor later, in two steps.
  await importCatalog(sql, projects(null, null), options);
  assert.match(
    await outcome(importCatalog(sql, projects(null, "0.0.7"), options)),
    /ledgerId is that of project one$/,
  );
});

test("a ledger id that goes to another project costs the messages of the first one's stars, however many others there are", async ({
  sql,
  castOnProject,
}) => {
  await importCatalog(sql, projects("0.0.7", null), options);
  assert.equal(await castOnProject("0.0.7"), "stored");
  const others = 4_000;
  const own = 200;
  await sql`insert into star
    select gen_random_uuid(), day, wallet + n, slot, at, target_type, target_id, is_forever_mint, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, claimed_b, holdings_read_at, allowance_limit
    from star, generate_series(1, ${own - 1}::integer) as n`;
  await sql`insert into outbox (star_id, topic, message)
    select id, 'asset', '{"target_id":"0.0.7"}' from star on conflict do nothing`;
  await sql`insert into outbox (star_id, topic, message)
    select gen_random_uuid(), 'asset', '{"target_id":"0.0.9"}' from generate_series(1, ${others}::integer)`;
  await sql`analyze star, outbox`;
  const rows = await sql.begin(async (transaction) => {
    await transaction`select is_starred_as('one', '0.0.8')`;
    const [read] = await transaction<{ rows: number }[]>`
      select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'outbox'`;
    return read?.rows ?? 0;
  });
  assert.ok(rows >= own && rows < 2 * own, `${rows} messages read`);
});

test("many imports and stars at once: each event's stars are of its kind", async ({
  sql,
  cast,
}) => {
  const ids = Array.from({ length: 60 }, (_, n) => `e${n}`);
  await importCatalog(sql, catalog(ids, false), options);
  let changed = 0;
  const refusals: string[] = [];
  for (const id of ids) {
    const flips = [true, false, true].map((kind) =>
      outcome(importCatalog(sql, catalog([id], kind), options)),
    );
    const stars = [cast(id, "ordinary"), cast(id, "forever"), cast(id, "ordinary")];
    for (const kind of await Promise.all(stars)) if (kind === "kind") changed += 1;
    for (const result of await Promise.all(flips)) if (result !== "done") refusals.push(result);
  }
  assert.deepEqual(await contradictions(sql), []);
  assert.ok(changed > 0 && refusals.length > 0, `${changed} changed, ${refusals.length} refused`);
  for (const result of refusals) assert.match(result, /^already starred/);
});

test.run();
