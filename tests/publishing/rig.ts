import { randomUUID } from "node:crypto";
import type { Test } from "uvu";
import { newStarId } from "../../src/journal/star-id.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { beginReading } from "../../src/publishing/confirm.ts";
import type { PublishContext, PublishFailpoint, TopicKind } from "../../src/publishing/context.ts";
import { createLedgerClock } from "../../src/publishing/ledger-clock.ts";
import { starMessage } from "../../src/publishing/message.ts";
import { leaseStars, openOutbox } from "../../src/publishing/outbox.ts";
import { publishStar } from "../../src/publishing/publish-star.ts";
import { type Alarm, createPublishingAlerts } from "../../src/publishing/publishing-alerts.ts";
import { createSendGate } from "../../src/publishing/send-gate.ts";
import { followTopic } from "../../src/publishing/topic-follower.ts";
import {
  type KnownDatabase,
  lookAtDatabase,
  renewEpoch,
} from "../../src/store/database-identity.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { FakeLedger } from "../support/fake-topic.ts";
import { testDatabase } from "../support/postgres.ts";

export const TOPICS = { event: "0.0.7001", asset: "0.0.7002" } as const;
const KEYS = { a: "alpha", b: "beta" };
const SECOND = 1_000_000_000n;

/** A crash: whatever was about to happen does not. */
export class Crash extends Error {
  override readonly name = "Crash";
}

/** What happens at the nth passing of a failpoint: it hangs for the given time, or else crashes. */
export interface Fate {
  readonly at: PublishFailpoint;
  readonly hit: number;
  readonly hang?: () => Promise<void>;
}

/** Inserts a star into the outbox, as accepting it does. @returns its id */
export async function boxStar(sql: Sql, kind: TopicKind, at: number): Promise<string> {
  const starId = newStarId(at);
  await sql`insert into outbox (star_id, topic, message) values (${starId}, ${kind}, ${textOf(kind, at)})`;
  return starId;
}

export function textOf(kind: TopicKind, at: number): string {
  const target =
    kind === "event"
      ? ({ type: "event", id: "drop", eventKind: "MINT_EVENT", ledgerId: null } as const)
      : ({ type: "token", id: "0.0.500", eventKind: null, ledgerId: null } as const);
  const holdings = { collectionA: [1, 2], collectionB: [] };
  return starMessage({ wallet: "0.0.1001", at, target, votingPower: 3, holdings }, KEYS);
}

export interface OutboxRow {
  readonly star_id: string;
  readonly state: string;
  readonly topic_id: string | null;
  readonly transaction_id: string | null;
  readonly sequence_number: number | null;
  readonly consensus_timestamp: string | null;
  readonly running_hash: string | null;
  readonly lease_owner: string | null;
  readonly last_error: string | null;
}

/**
 * Publishing on a real database and a ledger in memory. No time passes by itself: waits
 * move the ledger's clock, and `turn` does what the minutes between two looks would.
 */
export async function createRig(sql: Sql) {
  const ledger = new FakeLedger();
  await empty(sql);
  const database = await knownDatabase(sql);
  let starAt = 1_795_161_600_000;

  const rig = {
    sql,
    ledger,
    database,
    alarms: [] as string[],
    /** The topics that publishers made from now on are set to. */
    topics: { ...TOPICS } as { event: string; asset: string },
    /** How far this machine's clock is from the ledger's, seconds. */
    clockOff: 0,
    /** A publisher of its own: a name, a clock, gates and faults. */
    publisher: (fate?: Fate | PublishContext["failpoint"]) => newProcess(rig, fate),
    box: (kind: TopicKind = "event") => boxStar(sql, kind, starAt++),
    async row(starId: string): Promise<OutboxRow> {
      const [row] = await sql<OutboxRow[]>`select * from outbox where star_id = ${starId}`;
      if (row === undefined) throw new Error(`no star ${starId}`);
      return row;
    },
    attempts: (starId: string) =>
      sql<{ outcome: string | null; sends: number; refusals: number; evidence: string | null }[]>`
        select outcome, sends, refusals, evidence from publish_attempt
        where star_id = ${starId} order by attempt`,
  };
  return rig;
}

/** What a publisher knows that has read its topics here. */
export async function knownDatabase(sql: Sql): Promise<KnownDatabase> {
  await renewEpoch(sql);
  return lookAtDatabase(sql, undefined);
}

/** A database for all rigs of a test file. */
export async function openRigs() {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 8 });
  return {
    sql,
    async close() {
      await sql.end({ timeout: 1 });
      await database.close();
    },
  };
}

/** Gives each test of a suite a rig of its own, on one database. */
export function eachOnRig(test: Test, take: (rig: Rig) => void): void {
  let rigs: Awaited<ReturnType<typeof openRigs>>;
  test.before(async () => {
    rigs = await openRigs();
  });
  test.after(() => rigs.close());
  test.before.each(async () => take(await createRig(rigs.sql)));
}

/** A fresh start, which the tables themselves would refuse. */
async function empty(sql: Sql): Promise<void> {
  // Few rows each: a truncate would make new files for every table and index.
  await sql.unsafe(`
    set local session_replication_role = replica;
    delete from publish_attempt; delete from outbox; delete from topic_reading;
    delete from topic_audit; delete from publishing_finding; delete from publishing_alarm;
    delete from journal_epoch; delete from journal_home`);
  for (const topicId of Object.values(TOPICS)) await beginReading(sql, topicId);
}

export type Rig = Awaited<ReturnType<typeof createRig>>;

interface World {
  readonly sql: Sql;
  readonly ledger: FakeLedger;
  readonly alarms: string[];
  readonly topics: Readonly<Record<TopicKind, string>>;
  readonly clockOff: number;
  readonly database: KnownDatabase;
}

/** One publisher process, stepped by hand. */
function newProcess(rig: World, fate?: Fate | PublishContext["failpoint"]) {
  const { sql, ledger } = rig;
  const clock = createLedgerClock(() => ledger.now + BigInt(rig.clockOff) * SECOND);
  let hits = 0;
  const failpoint = async (name: PublishFailpoint): Promise<void> => {
    if (typeof fate === "function") return fate(name);
    if (name !== fate?.at || ++hits !== fate.hit) return;
    if (fate.hang === undefined) throw new Crash(name);
    await fate.hang();
  };
  const plain = createPublishingAlerts(silentLogger, createMetrics());
  const alerts = {
    ...plain,
    raise(alarm: Alarm, detail: string) {
      rig.alarms.push(alarm);
      plain.raise(alarm, detail);
    },
    announce(...[topic, verdict]: Parameters<typeof plain.announce>) {
      if (verdict.verdict !== "published" && verdict.verdict !== "absent") {
        rig.alarms.push(verdict.verdict);
      }
      plain.announce(topic, verdict);
    },
  };
  const wait = async (milliseconds: number): Promise<void> => ledger.advance(milliseconds / 1_000);
  const mirror = ledger.mirror();
  const follow = (topicId: string, kind: TopicKind) =>
    followTopic({
      sql,
      mirror,
      clock,
      wait,
      failpoint,
      topicId,
      payer: "0.0.1002",
      onVerdict: (verdict) => alerts.announce(kind, verdict),
      onFailure: () => undefined,
    });
  const topicIds = { event: rig.topics.event, asset: rig.topics.asset };
  const lane = (kind: TopicKind) => ({
    topicId: topicIds[kind],
    gate: createSendGate({
      now: () => Number(ledger.now / 1_000_000n),
      onShut: (obstacle, detail) => {
        if (obstacle === "configuration") alerts.raise("configuration", detail);
      },
      onOpen: () => alerts.clear("configuration"),
    }),
    // Read by hand: a follower that polls would need time to pass.
    follower: { poke: () => undefined },
  });
  const context: PublishContext = {
    outbox: {
      ...openOutbox(sql, { holder: randomUUID(), leaseMs: 30_000 }),
      database: rig.database,
    },
    topic: ledger.topic(),
    mirror,
    clock,
    lanes: { event: lane("event"), asset: lane("asset") },
    readToEnd: (topicId, oneNode) => follow(topicId, "event").readToEnd(oneNode),
    call: (request) => request(),
    wait,
    closing: new AbortController().signal,
    random: () => 0.5,
    failpoint,
    alerts,
  };
  const lease = async (): Promise<readonly Parameters<typeof publishStar>[1][]> => {
    const taken = await Promise.all(
      (["event", "asset"] as const).map((topic) =>
        leaseStars(context.outbox, { topic, limit: 200, working: [] }),
      ),
    );
    return taken.flat();
  };
  return {
    context,
    clock,
    lease,
    /** Takes up everything that is due, once, and reads the topics to their ends. */
    async step(): Promise<void> {
      for (const star of await lease()) await publishStar(context, star);
      if (ledger.mirrorAway) return;
      for (const { topicId } of Object.values(context.lanes)) await context.readToEnd(topicId);
    },
    /** As many steps as it takes, with `seconds` and every delay between them gone by. */
    async run({ steps = 12, seconds = 5 } = {}): Promise<void> {
      for (let i = 0; i < steps; i++) {
        await timePasses(sql);
        await this.step();
        const [left] = await sql`select from outbox where state <> 'published' limit 1`;
        if (left === undefined) return;
        ledger.advance(seconds);
      }
    },
  };
}

/** Every delay is over, every lease of a dead process has run out. */
export async function timePasses(sql: Sql): Promise<void> {
  await sql`update outbox set next_try_at = 0, lease_until = 0 where state <> 'published'`;
  await sql`update publish_attempt set absence_at = 0 where closed_at is null`;
}

/** Postgres' clock is set back by so long: what it dated lies as far ahead. */
export async function clockIsSetBack(sql: Sql, milliseconds: number): Promise<void> {
  await sql`update outbox set next_try_at = next_try_at + ${milliseconds}::bigint,
    lease_until = lease_until + ${milliseconds}::bigint where state <> 'published'`;
  await sql`update publish_attempt set absence_at = absence_at + ${milliseconds}::bigint
    where closed_at is null`;
  await sql`update publishing_alarm set raised_at = raised_at + ${milliseconds}::bigint,
    seen_at = seen_at + ${milliseconds}::bigint`;
}
