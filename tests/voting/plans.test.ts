/**
 * The writer plans each statement once per connection, maybe on tables that are empty yet. The
 * plans must stay look-ups by key when the tables have grown, and so must those of lists that show the
 * newest of what only grows: the server's own counts of the rows it fetched say so.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { loadWalletDays } from "../../src/journal/load.ts";
import { type CommitOutcome, sendBatch } from "../../src/journal/send-batch.ts";
import { lastFindings } from "../../src/publishing/reconciliation-findings.ts";
import { readOperatorLog } from "../../src/store/operator-log.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { loadAdmissions } from "../../src/voting/admission.ts";
import {
  decidedStar,
  type Engine,
  seedDirectory,
  startEngine,
  verdictOf,
} from "../support/engine.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

interface Context {
  database: TestDatabase;
  engine: Engine;
  admin: Sql;
}
const test = suite<Context>("plans of the writer");

test.before(async (context) => {
  context.database = await testDatabase({ migrated: true });
  context.engine = await startEngine(context.database.url);
  context.admin = openPostgres(context.database.url, {
    connections: 1,
    statementTimeoutMs: 60_000,
  });
  await seedDirectory(context.admin);
  await context.admin`insert into season (id, name, starts_at, ends_at)
    values (gen_random_uuid(), 'Now', 0, 4102444800000)`;
});
test.after(async ({ database, engine, admin }) => {
  await engine.close();
  await admin.end();
  await database.close();
});

test("an admission is planned once per connection, however few are asked at once", async ({
  database,
  engine: { clock },
}) => {
  const writer = openPostgres(database.url, { connections: 1, writer: true });
  const asked = 12;
  for (let n = 0; n < asked; n += 1) {
    const voter = { wallet: `0.0.${500 + n}` };
    const target = { type: "token" as const, id: "0.0.9001" };
    await loadAdmissions(writer, clock, [{ voter, target, key: null, day: dayOf(clock.now()) }]);
  }
  const plans = await writer`
    select generic_plans as once, custom_plans as anew from pg_prepared_statements
    where statement like '%token_hash%' and statement not like '%pg_prepared_statements%'`;
  await writer.end();
  assert.deepEqual([...plans], [{ once: asked, anew: 0 }]);
});

test("of the journal's months a star opens that of its day alone, however many there are", async ({
  database,
  engine: { clock },
  admin,
}) => {
  await admin`select ensure_star_partition(utc_day(now_ms()) - 31 * back) from generate_series(1, 12) as back`;
  const writer = openPostgres(database.url, { connections: 1, writer: true });
  const lookUp = async (sql: Sql): Promise<void> => {
    const [wallet, now] = ["0.0.777", clock.now()];
    const target = { type: "token" as const, id: "0.0.9001" };
    await loadAdmissions(sql, clock, [{ voter: { wallet }, target, key: null, day: dayOf(now) }]);
    await loadWalletDays(sql, [{ wallet, day: dayOf(now), notBefore: now }]);
    const outcome = await new Promise<CommitOutcome>((resolve, reject) => {
      const decided = decidedStar({ wallet, now, slot: 2 });
      const answerBy = performance.now() + 1_000;
      void sendBatch({ sql, now: clock.now }, [{ decided, answerBy, resolve, reject }]);
    });
    // It follows none: its slot was looked at, and nothing is stored.
    assert.deepEqual(outcome, { kind: "returned", reason: "slot" });
  };
  // Planning opens all of them, once per connection.
  await lookUp(writer);
  await writer.begin(async (transaction) => {
    await lookUp(transaction as unknown as Sql);
    const opened = await transaction`
      select distinct inhparent::regclass::text as parent, indrelid::regclass::text as month
      from pg_locks join pg_index on indexrelid = relation join pg_inherits on inhrelid = indrelid
      where pid = pg_backend_pid()`;
    const [{ month }] = await transaction<[{ month: string }]>`
      select to_char(utc_day(now_ms()), '"star_"YYYY_MM') as month`;
    assert.deepEqual([...opened], [{ parent: "star", month }]);
  });
  await writer.end();
});

const TARGETS = [
  "token/0.0.9001",
  "collection/0.0.8001",
  "project/dex",
  "event/meetup",
  "event/mint",
];
const WALLETS = 8;
const STARS = WALLETS * TARGETS.length;
/** A star fetches a few rows of each table by key; a scan of one would fetch thousands. */
const ROWS_PER_STAR_AND_TABLE = 8;
const GROWN = 4_000;
/** What a page shows. */
const SHOWN = 50;

test("plans made on empty tables fetch by key after a bulk load, before and after it is analyzed", async ({
  database,
  engine,
  admin,
}) => {
  const writer = openPostgres(database.url, { connections: 1, writer: true });
  await lookForNewerStar(writer);
  await castBy(engine, 1_001);
  await grow(admin);
  for (const [from, statement] of [
    [2_001, "select 1"],
    [3_001, "analyze"],
  ] as const) {
    await admin.unsafe(statement);
    const before = await rowsFetched(admin);
    await castBy(engine, from);
    await lookForNewerStar(writer);
    for (const [table, rows] of await rowsFetched(admin)) {
      const fetched = rows - (before.get(table) ?? 0);
      assert.ok(fetched <= ROWS_PER_STAR_AND_TABLE * STARS, `${statement}: ${fetched} of ${table}`);
    }
  }
  await writer.end();
});

test("a page of the operator log, and a look at the findings, read a few rows however many there are", async ({
  admin,
}) => {
  await admin`insert into operator_log (action_id, phase, operator, action)
    select md5(n::text)::uuid, phase, 'Ada', 'keys.issue'
    from generate_series(1, ${GROWN}::integer) as n, unnest(array['started', 'done']) as phase
    order by n, phase desc`;
  await admin`insert into publishing_finding (kind, topic_id, sequence_number, detail, resolved_at)
    select 'foreign', '0.0.5', n, '', 1 from generate_series(1, ${GROWN}::integer) as n`;
  await admin`analyze operator_log, publishing_finding`;
  const before = await rowsFetched(admin);
  assert.equal((await readOperatorLog(admin, { limit: SHOWN })).length, SHOWN);
  assert.equal((await lastFindings(admin, SHOWN)).length, SHOWN);
  const after = await rowsFetched(admin);
  for (const table of ["operator_log", "publishing_finding"]) {
    const fetched = (after.get(table) ?? 0) - (before.get(table) ?? 0);
    assert.ok(fetched < GROWN / 2, `${fetched} of ${table}`);
  }
});

/** What a star asks that ends another wallet's attribution: whether that one has starred since. */
async function lookForNewerStar(writer: Sql): Promise<void> {
  await writer`select has_starred_since('mint', json_populate_record(null::claim_ending,
    json_build_object('collection', 'A', 'serial', 1, 'wallet', 7, 'listed_at', now_ms())))`;
  await writer`select pg_stat_force_next_flush()`;
}

/** One wallet after the other, by so many turns that each of the writer's connections plans all. */
async function castBy(engine: Engine, from: number): Promise<void> {
  for (let wallet = from; wallet < from + WALLETS; wallet += 1) {
    const collectionA = [wallet * 2, wallet * 2 + 1];
    engine.holdings.set(`0.0.${wallet}`, { collectionA, collectionB: [wallet] });
    await engine.parts.findSession(`${wallet}`);
    for (const target of TARGETS) {
      const result = await engine.cast(`0.0.${wallet}`, target, `${wallet} ${target}`);
      assert.equal(verdictOf(result), "accepted");
    }
  }
}

/** Makes the tables large: the stars and the claims of one wallet again for very many others. */
async function grow(admin: Sql): Promise<void> {
  await admin`insert into star
    select gen_random_uuid(), day, 1000000 + n, slot, at, target_type, target_id, is_forever_mint,
      voting_power, weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, claimed_b,
      holdings_read_at, allowance_limit, season_id, rules, -1 - 10 * n - slot, xp
    from star, generate_series(1, ${GROWN}::integer) as n where wallet = 1001`;
  await admin`insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select event_id, day, collection, case when collection = 'base' then 1000000 + n else 1000000 + 2 * n + serial % 2 end,
      1000000 + n, star_id
    from serial_claim, generate_series(1, ${GROWN}::integer) as n where wallet = 1001`;
  await admin`insert into idempotency_key (wallet, key, request_hash, star_id, reply, created_at)
    select 1000000 + n, key, request_hash, star_id, reply, created_at
    from idempotency_key, generate_series(1, ${GROWN}::integer) as n where wallet = 1001 and key like '%dex'`;
  await admin`insert into session (token_hash, wallet, created_at, expires_at, key_fingerprint)
    select sha256(n::text::bytea), n, now_ms(), now_ms() + 1000, sha256(n::text::bytea)
    from generate_series(1, ${GROWN}::integer) as n`;
  await admin`insert into token (id, symbol, name, created_at, approved_at)
    select '0.0.' || 1000000 + n, 'T', 'T', 0, 0 from generate_series(1, ${GROWN}::integer) as n`;
  await admin`insert into event (id, title, event_type, is_forever_mint, starts_at, ends_at, created_at, approved_at)
    select 'e' || n, 'E', 'OTHER', false, 0, 1, 0, 0 from generate_series(1, ${GROWN}::integer) as n`;
  await admin`insert into premium_pass (wallet, season_id, granted_at)
    select 1000000 + n, id, 0 from season, generate_series(1, ${GROWN}::integer) as n`;
}

/** Rows that were fetched so far from each table that has grown; partitions count for themselves. */
async function rowsFetched(admin: Sql): Promise<ReadonlyMap<string, number>> {
  // A connection reports its counts at its next statement.
  await admin`select pg_stat_force_next_flush()`;
  const rows = await admin<{ table: string; rows: number }[]>`
    select relname as table, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows
    from pg_stat_user_tables where n_tup_ins >= ${GROWN}`;
  return new Map(rows.map(({ table, rows }) => [table, rows]));
}

test.run();
