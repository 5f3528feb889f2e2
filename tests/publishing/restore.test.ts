/**
 * Goal: restore any older dump of the journal at any moment of any run, with one worker or two: no
 * message is on a topic twice, ever, and every star of the journal gets its message. Method: the
 * real steps of publishing over an honest ledger in memory whose mirror node lags. A run is drawn
 * from a seed: when dumps are taken, at which passing of which failpoint one of them is restored,
 * whether the process in hand dies there, what happens to its transactions. A restore replaces every
 * row, and the database's identity, in one transaction; that a restored database has another
 * identity is held against Postgres itself.
 */
import * as assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { suite } from "uvu";
import { RetryableError } from "../../src/errors.ts";
import { MirrorError } from "../../src/ledger/mirror/error.ts";
import type { Topic } from "../../src/ledger/topic.ts";
import type { PublishContext, TopicKind } from "../../src/publishing/context.ts";
import { countLost } from "../../src/publishing/journal-behind.ts";
import { leaseStars } from "../../src/publishing/outbox.ts";
import { publishStar } from "../../src/publishing/publish-star.ts";
import { createTopicKnowledge } from "../../src/publishing/topic-knowledge.ts";
import { lookAtDatabase, settleIn } from "../../src/store/database-identity.ts";
import type { SendFault } from "../support/fake-topic.ts";
import { givenNumber } from "../support/given-number.ts";
import { testDatabase } from "../support/postgres.ts";
import { boxStar, Crash, createRig, openRigs, type Rig, TOPICS, timePasses } from "./rig.ts";
import { forgetful } from "./witness.ts";

const { values } = parseArgs({
  options: { moments: { type: "string" }, seed: { type: "string" } },
  strict: false,
});
const moments = givenNumber("moments", String(values.moments ?? 24));
/** The first of the seeds: a proof that was broken off goes on there. */
const firstSeed = Number(values.seed ?? 1);

const test = suite("restore");
let rigs: Awaited<ReturnType<typeof openRigs>>;
test.before(async () => {
  rigs = await openRigs();
  await rigs.sql.unsafe(`create schema dump; create table dump.identity as select '' as identity;
    create or replace function database_identity() returns text language sql stable
    as 'select identity from dump.identity'`);
});
test.after(() => rigs.close());

const TABLES = [
  "outbox",
  "publish_attempt",
  "topic_reading",
  "topic_audit",
  "publishing_finding",
  "journal_epoch",
  "journal_home",
];

let columns: ReadonlyMap<string, string>;
test.before(async () => {
  const rows = await rigs.sql<{ table: string; names: string }[]>`
    select table_name as table, string_agg(quote_ident(column_name), ',') as names
    from information_schema.columns
    where table_schema = 'public' and is_generated = 'NEVER' and table_name in ${rigs.sql(TABLES)}
    group by table_name`;
  columns = new Map(rows.map(({ table, names }) => [table, names]));
});

/** A dump makes and copies tables: on a busy machine that is more than a statement's time. */
const PATIENTLY = "set local statement_timeout = '60s'";

async function dump(name: string): Promise<void> {
  const copies = TABLES.map((table) => `create table dump."${name} ${table}" as table ${table}`);
  await rigs.sql.unsafe(
    `set transaction isolation level repeatable read; ${PATIENTLY}; ${copies.join(";")}`,
  );
}

/** As on another server: the rows of then, and an identity that no database had before. */
async function restore(name: string, identity: string): Promise<void> {
  const rows = TABLES.map(
    (table) => `delete from ${table};
      insert into ${table} (${columns.get(table)}) overriding system value
      select ${columns.get(table)} from dump."${name} ${table}"`,
  );
  const all = `set local session_replication_role = replica; ${PATIENTLY};
    ${identityIs(identity)}; ${rows.join(";")}`;
  for (;;) {
    try {
      await rigs.sql.unsafe(all);
      return;
    } catch (error) {
      // A worker's statement and the restore waited for each other: nothing of it was done.
      if (!(error instanceof Error && "code" in error && error.code === "40P01")) throw error;
    }
  }
}

const identityIs = (identity: string): string =>
  `update dump.identity set identity = '${identity}'`;

/** Numbers from 0 up to and without `below`, the same for a seed (mulberry32). */
function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A worker process, stepped by hand. */
function openProcess(rig: Rig, { passing, topic }: { passing: Passing; topic: Topic }) {
  const context = { ...rig.publisher(passing).context, topic };
  const { sql } = rig;
  const parts = { ...context, sql, witness: forgetful, topics: TOPICS };
  const knowledge = createTopicKnowledge({ ...parts, isReady: () => true });
  const work = async (kind: TopicKind): Promise<void> => {
    const ground = knowledge.of(kind);
    if (ground === undefined) return;
    const { database, since } = ground;
    const outbox = { ...context.outbox, database };
    const stars = await leaseStars(outbox, { topic: kind, limit: 200, working: [], since });
    for (const star of stars) await publishStar({ ...context, outbox }, star);
  };
  const steps = [
    () => knowledge.check(),
    () => work("event"),
    () => work("asset"),
    () => context.readToEnd(TOPICS.event),
    () => context.readToEnd(TOPICS.asset),
  ];
  return {
    /** One round. @returns whether it died, or a step of it failed */
    async step(): Promise<"died" | "failed" | "done"> {
      let outcome: "failed" | "done" = "done";
      for (const step of steps) {
        try {
          await step();
        } catch (error) {
          if (error instanceof Crash) return "died";
          // A statement met the restore: the process goes on, as it does after any outage.
          if (!(error instanceof RetryableError || error instanceof MirrorError)) throw error;
          outcome = "failed";
        }
      }
      return outcome;
    },
  };
}
type Passing = PublishContext["failpoint"];

/** Faults of a sending. */
const FAULTS: readonly SendFault[] = [
  { kind: "answer lost" },
  { kind: "dropped" },
  { kind: "vanished" },
  { kind: "refused", status: "BUSY" },
  { kind: "refused", status: "INVALID_TRANSACTION_START" },
  { kind: "failed", status: "THROTTLED_AT_CONSENSUS" },
];
const ROUNDS_MAX = 80;
/** Runs that have passed fewer failpoints by then are restored between two rounds. */
const RESTORE_BY_ROUND = 10;

/** What the runs came to: a proof is only worth what happened in it. */
const sums = { restores: 0, deaths: 0, messages: 0, lost: 0 };

async function runOnce(seed: number): Promise<void> {
  const draw = drawing(seed);
  const rig = await createRig(rigs.sql);
  const { ledger, sql } = rig;
  await sql.unsafe(identityIs(`${seed}/0`));
  const dumps: string[] = [];
  let dumpsTaken = 0;
  const takeDump = async (): Promise<void> => {
    const name = `${seed}.${dumpsTaken++}`;
    await dump(name);
    dumps.push(name);
  };
  // One restore, or a second one soon after it.
  const restoreAt = [1 + draw(60)];
  if (draw(3) === 0) restoreAt.push((restoreAt[0] ?? 0) + 1 + draw(12));
  const dumpEvery = 1 + draw(12);
  const dies = draw(2) === 0;
  let passings = 0;
  let restores = 0;
  let isOver = false;
  let restoring = Promise.resolve();
  const restoreNow = async (): Promise<void> => {
    restores += 1;
    restoring = restore(dumps[draw(dumps.length)] ?? "", `${seed}/${restores}`);
    await restoring;
  };
  const passing: Passing = async (name) => {
    passings += 1;
    if (isOver || restores === restoreAt.length) return;
    if (passings % dumpEvery === 0) await takeDump();
    if (passings < (restoreAt[restores] ?? Number.POSITIVE_INFINITY)) return;
    await restoreNow();
    if (dies) throw new Crash(name);
  };

  const honest = ledger.topic();
  const late: Uint8Array[] = [];
  const topic: Topic = {
    ...honest,
    async send(bytes) {
      if (draw(6) > 0) {
        const fault = draw(5) === 0 ? FAULTS[draw(FAULTS.length)] : undefined;
        if (fault !== undefined) ledger.sendFaults.push(fault);
        return honest.send(bytes);
      }
      // On its way for a while: it takes effect when a node passes it on, if it is valid then.
      late.push(bytes);
      return { kind: "unknown", why: "no answer" };
    },
  };
  let boxed = 0;
  const box = (): Promise<string> =>
    boxStar(sql, draw(2) === 0 ? "event" : "asset", Date.now() - 1_000 + 10 * boxed++);
  for (let i = 0; i < 3; i++) await box();
  const open = () => openProcess(rig, { passing, topic });
  const processes = Array.from({ length: 1 + draw(2) }, open);
  // The first dump is older than every sending, and younger than a worker's first look.
  await lookAtDatabase(sql, undefined).then(({ identity }) => settleIn(sql, identity));
  await takeDump();

  let round = 0;
  for (; round < ROUNDS_MAX; round++) {
    const behind = BigInt(draw(9)) * 1_000_000_000n;
    const seen = ledger.now - behind;
    ledger.mirrorStandsAt = maxOf(ledger.mirrorStandsAt ?? 0n, seen);
    if (round < 4) await box();
    const stepped = await Promise.all(processes.map((each) => each.step()));
    for (const [index, outcome] of stepped.entries()) {
      if (outcome !== "died") continue;
      processes[index] = open();
      sums.deaths += 1;
    }
    if (restores === 0 && round === RESTORE_BY_ROUND) await restoreNow();
    if (late.length > 0 && draw(2) === 0) await honest.send(late.shift() ?? new Uint8Array());
    // A process that died may have left a reading behind, and that one may have met the next restore.
    await restoring;
    await timePasses(sql);
    ledger.advance(5 + draw(15));
    const [left] = await sql`select from outbox where state <> 'published' limit 1`;
    if (restores > 0 && left === undefined && late.length === 0) break;
  }
  ledger.mirrorStandsAt = undefined;
  // The last reading: what a restore makes pending here, no round would send. On a busy machine a
  // statement may come too late.
  isOver = true;
  const last = open();
  while ((await last.step()) !== "done");
  await judge(rig, `seed ${seed}, ${round} rounds, ${restores} of ${restoreAt.length} restores`);
  sums.restores += restores;
  const copies = dumps.flatMap((name) =>
    TABLES.map((table) => `drop table dump."${name} ${table}"`),
  );
  await sql.unsafe(copies.join(";"));
}

const maxOf = (one: bigint, other: bigint): bigint => (one > other ? one : other);

async function judge({ sql, ledger }: Rig, run: string): Promise<void> {
  const texts = ledger.texts();
  const twice = texts.filter((text, i) => texts.indexOf(text) !== i);
  assert.deepEqual(twice, [], `${run}: a message twice`);
  const rows = await sql<{ state: string; message: string; id: string; place: number }[]>`
    select state, message, topic_id as id, sequence_number as place from outbox`;
  for (const { state, message, id, place } of rows) {
    assert.equal(state, "published", `${run}: ${message}`);
    assert.equal(ledger.texts(id)[place - 1], message, run);
  }
  const known = new Set(rows.map(({ message }) => message));
  const lost = texts.filter((text) => !known.has(text));
  assert.equal(await countLost(sql), lost.length, `${run}: lost messages`);
  sums.messages += texts.length;
  sums.lost += lost.length;
}

test(`no message twice, from ${moments} moments (A6 pg-failover-lossy, P6)`, async () => {
  const startedAt = performance.now();
  for (let seed = firstSeed; seed < firstSeed + moments; seed++) {
    await runOnce(seed);
    if ((seed - firstSeed + 1) % 50 === 0) {
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      process.stdout.write(
        `${seed - firstSeed + 1} moments in ${seconds} s; go on: --seed ${seed + 1}\n`,
      );
    }
  }
  process.stdout.write(`${moments} moments: ${JSON.stringify(sums)}\n`);
});

test("a restored database has another identity: a copy on the same server, and recreated tables", async () => {
  const one = await testDatabase({ migrated: true });
  const other = await testDatabase({ migrated: true });
  const identity = async (sql: typeof one.sql): Promise<string> =>
    (await sql`select database_identity() as identity`)[0]?.identity;
  assert.notEqual(await identity(one.sql), await identity(other.sql));
  const before = await identity(one.sql);
  assert.equal(await identity(one.sql), before);
  await one.sql.unsafe("alter table outbox rename to moved; create table outbox (like moved)");
  assert.notEqual(await identity(one.sql), before);
  await Promise.all([one.close(), other.close()]);
});

test.run();
