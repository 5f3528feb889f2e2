import { targetOf } from "../../../actors/content.ts";
import { dayOf } from "../../../actors/day.ts";
import { grantPass, revokePass } from "../../../src/catalogue/premium.ts";
import { ensureStarPartitions } from "../../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import { sessionHash } from "../../../src/voting/session.ts";
import { seedDirectory } from "../../support/engine.ts";
import { testDatabase } from "../../support/postgres.ts";
import { createRandom } from "../random.ts";
import { uuidOf } from "../virtual-time.ts";
import { directPool } from "./model.ts";
import type { Journal } from "./statement.ts";
import { Tables } from "./tables.ts";

/** A journal under test: Postgres, or its model. */
export interface Tested {
  readonly name: string;
  readonly sql: Sql;
  /** Sets its clock, epoch milliseconds. */
  setNow(ms: number): Promise<void>;
  setPass(wallet: number, season: string, isGranted: boolean): Promise<void>;
  /** Everything that is kept, in one shape for both. */
  dump(): Promise<Dump>;
  close(): Promise<void>;
}

export interface Dump {
  readonly stars: readonly string[];
  readonly totals: readonly string[];
  readonly outbox: readonly string[];
  readonly attempts: readonly string[];
  readonly findings: readonly string[];
  readonly readings: readonly string[];
  readonly claims: readonly string[];
  readonly ends: readonly string[];
  readonly runs: readonly string[];
}

export const BEGINNING = Date.parse("2026-11-30T22:00:00Z");
export const SEASONS = {
  now: "0190a000-0000-7000-8000-000000000001",
  next: "0190a000-0000-7000-8000-000000000002",
} as const;
/** The first season ends, and the next one begins. */
export const TURN = BEGINNING + 3_600_000;
export const TOKEN = "a-token";
export const BEARER = 1_001;
export const TOPICS = { event: "0.0.7001", asset: "0.0.7002" } as const;

const record = { eventKind: null, ledgerId: null };
export const TARGETS = [
  targetOf({ ...record, type: "event", id: "meetup", eventKind: "ECOSYSTEM_MEETUP" }),
  targetOf({ ...record, type: "event", id: "mint", eventKind: "FOREVER_MINT" }),
  targetOf({ ...record, type: "token", id: "0.0.9001" }),
  targetOf({ ...record, type: "collection", id: "0.0.8001" }),
  targetOf({ ...record, type: "project", id: "dex", ledgerId: "0.0.7001" }),
] as const;

/** The model, furnished as Postgres is. */
export function openModel(): Tested & { readonly journal: Journal } {
  let now = BEGINNING;
  const random = createRandom(1);
  const tables = new Tables();
  const journal = { tables, now: () => now, identity: "model", newUuid: () => uuidOf(random) };
  for (const { type, id, eventKind, ledgerId } of TARGETS) {
    tables.targets.set(`${type}/${id}`, { eventKind, ledgerId });
  }
  tables.sessions.set(sessionHash(TOKEN), BEARER);
  tables.seasons.set(SEASONS.now, { startsAt: 0, endsAt: TURN });
  tables.seasons.set(SEASONS.next, { startsAt: TURN, endsAt: 4_102_444_800_000 });
  tables.partitions.add("2026-11");
  tables.runs.set("first", { ...IDLE, day: dayOf(BEGINNING), state: "skipped", startedAt: 0 });
  return {
    name: "model",
    journal,
    sql: directPool(journal),
    async setNow(ms) {
      now = ms;
    },
    async setPass(wallet, season, isGranted) {
      const own = (tables.passes.get(wallet) ?? []).filter((each) => each !== season);
      tables.passes = new Map(tables.passes).set(wallet, isGranted ? [...own, season] : own);
    },
    dump: async () => dumpOf(tables),
    close: async () => undefined,
  };
}

const IDLE = { passes: 0, leaseOwner: null, leaseUntil: 0, nextTryAt: 0 } as const;

function dumpOf(tables: Tables): Dump {
  const { claims, ends, runs } = tables;
  const { stars, eventTotals, itemDays, outbox, attempts, findings, readings } = tables;
  const totals = [
    ...[...eventTotals].map(([id, { weight, stars: n }]) => `event/${id} ${weight} ${n}`),
    ...[...itemDays].map(([key, { weight, stars: n }]) => `${key} ${weight} ${n}`),
  ];
  return {
    claims: [...claims]
      .flatMap(([key, { wallet, starId, anchoredAt }]) => {
        const [event, day, ...serial] = key.split("/");
        return day === "" ? [[event, ...serial, wallet, starId, anchoredAt].join(" ")] : [];
      })
      .sort(),
    ends: [...ends]
      .map(([{ collection, serial, wallet, star_id: starId, weight, spare }, { release }]) =>
        [release, collection, serial, wallet, starId, weight, spare].join(" "),
      )
      .sort(),
    runs: [...runs.values()]
      .map((run) =>
        [run.day, run.state, run.passes, run.leaseOwner, run.leaseUntil, run.nextTryAt].join(" "),
      )
      .sort(),
    stars: [...stars.values()].map(({ id, slot, weight }) => `${id} ${slot} ${weight}`).sort(),
    totals: totals.sort(),
    outbox: [...outbox.values()]
      .map((row) =>
        [
          ...[row.starId, row.state, row.topicId, row.transactionId, row.sequenceNumber],
          ...[row.runningHash, row.leaseOwner, row.leaseUntil, row.tries, row.nextTryAt],
        ].join(" "),
      )
      .sort(),
    attempts: [...attempts.values()]
      .map((row) =>
        [
          ...[row.starId, row.attempt, row.transactionId, row.validUntil, row.sends],
          ...[row.refusals, row.receiptStatus, row.receiptSequence, row.absenceRounds],
          ...[row.absenceAt, row.outcome, row.signedBytes?.toString("hex")],
        ].join(" "),
      )
      .sort(),
    findings: [...findings]
      .map(([place, { kind, isOpen }]) => `${place.split(" ")[0]} ${kind} ${isOpen}`)
      .sort(),
    readings: [...readings]
      .map(
        ([id, { sequenceNumber, runningHash }]) => `${id} ${sequenceNumber} ${runningHash ?? ""}`,
      )
      .sort(),
  };
}

/** A migrated Postgres whose clock stands where it is set. */
export async function openReal(): Promise<Tested> {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 2 });
  await sql`create table set_clock (now bigint not null)`;
  await sql`grant select on set_clock to public`;
  await sql`insert into set_clock values (${BEGINNING})`;
  await sql.unsafe(`create or replace function now_ms() returns bigint language sql volatile
    set search_path = public as 'select now from set_clock'`);
  await seedDirectory(sql);
  await ensureStarPartitions(sql, "2026-10-01");
  await sql`insert into session (token_hash, wallet, created_at, expires_at, key_fingerprint)
    values (decode(${sessionHash(TOKEN)}, 'hex'), ${BEARER}, 0, 4102444800000, decode(${"00".repeat(32)}, 'hex'))`;
  await sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
    values (gen_random_uuid(), ${dayOf(BEGINNING)}, 'scheduled', 'skipped', 0, 0)`;
  await sql`insert into season (id, name, starts_at, ends_at)
    values (${SEASONS.now}, 'now', 0, ${TURN}), (${SEASONS.next}, 'next', ${TURN}, 4102444800000)`;
  return {
    name: "Postgres",
    sql,
    setNow: async (ms) => void (await sql`update set_clock set now = ${Math.floor(ms)}`),
    async setPass(number, seasonId, isGranted) {
      const name = { wallet: `0.0.${number}`, seasonId };
      if (isGranted) await grantPass(sql, name);
      else await revokePass(sql, name).catch(() => undefined);
    },
    dump: () => dumpReal(sql),
    async close() {
      await sql.end({ timeout: 1 });
      await database.close();
    },
  };
}

async function dumpReal(sql: Sql): Promise<Dump> {
  const linesOf = async (rows: PromiseLike<readonly { line: string }[]>) =>
    (await rows).map(({ line }) => line).sort();
  return {
    claims: await linesOf(sql`
      select event_id || ' ' || collection || ' ' || serial || ' ' || wallet || ' ' || star_id || ' '
        || coalesce(anchored_at::text, '') as line
      from serial_claim where day is null and released_at is null`),
    ends: await linesOf(sql`
      select release || ' ' || collection || ' ' || serial || ' ' || wallet || ' ' || star_id || ' '
        || weight || ' ' || coalesce(spare::text, '') as line from claim_release`),
    runs: await linesOf(sql`
      select day || ' ' || state || ' ' || passes || ' ' || coalesce(lease_owner, '') || ' '
        || lease_until || ' ' || next_try_at as line
      from holdings_check_run where kind = 'scheduled'`),
    stars: await linesOf(sql`select concat_ws(' ', id, slot, weight) as line from star`),
    totals: await linesOf(sql`
      select concat_ws(' ', 'event/' || event_id, weight, stars) as line from event_total
      union all select concat_ws(' ', target_type || '/' || target_id || '/' || day, weight, stars)
      from item_day`),
    outbox: await linesOf(sql`
      select star_id || ' ' || state || ' ' || coalesce(topic_id, '') || ' '
        || coalesce(transaction_id, '') || ' ' || coalesce(sequence_number::text, '') || ' '
        || coalesce(running_hash, '') || ' ' || coalesce(lease_owner, '') || ' ' || lease_until || ' '
        || tries || ' ' || next_try_at as line from outbox`),
    attempts: await linesOf(sql`
      select star_id || ' ' || attempt || ' ' || transaction_id || ' '
        || coalesce(valid_until_ns::text, '') || ' ' || sends || ' ' || refusals || ' '
        || coalesce(receipt_status, '') || ' ' || coalesce(receipt_sequence::text, '') || ' '
        || absence_rounds || ' ' || absence_at || ' ' || coalesce(outcome, '') || ' '
        || coalesce(encode(signed_bytes, 'hex'), '') as line from publish_attempt`),
    findings: await linesOf(sql`
      select topic_id || '#' || sequence_number || ' ' || kind || ' ' || (resolved_at is null) as line
      from publishing_finding`),
    readings: await linesOf(sql`
      select topic_id || ' ' || sequence_number || ' ' || coalesce(running_hash, '') as line
      from topic_reading`),
  };
}
