import { type TargetType, targetKey } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { Standing } from "../../actors/mint-wallet.ts";
import { type Attribution, type Counted, NOTHING_COUNTED } from "../../actors/nft-accounting.ts";
import type { DayStar, WalletDayKey } from "../../actors/wallet-day.ts";
import { entityId, entityNumber } from "../ledger/entity-id.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { MintEnd } from "./mint-end.ts";

/** The version of a wallet's day: how many stars it has, and the instant of the last one. */
export interface DayVersion {
  readonly used: number;
  /** Epoch milliseconds; null before the first star. */
  readonly lastAt: number | null;
}

/** Whether a day's stars are at a version, or hold more stars than it. */
export function isAt({ used, lastAt }: DayVersion, stars: readonly DayStar[]): boolean {
  return stars.length > used || (stars.length === used && (stars.at(-1)?.at ?? null) === lastAt);
}

export interface WalletDayQuery extends WalletDayKey {
  /** The pass is the one in force now, or at this instant (epoch ms) where that is later. */
  readonly notBefore: number;
}

/** What the journal knows of one wallet's day: enough to fold its actor. */
export interface WalletDayFacts {
  readonly stars: readonly DayStar[];
  /** The season of the pass in force; null without one. */
  readonly seasonId: string | null;
  /** The season of the pass that is known now to have been in force at `notBefore`. */
  readonly seasonThen: string | null;
  /** When that was read, epoch ms by the database's clock. */
  readonly readAt: number;
}

interface WalletDayRow extends Omit<WalletDayFacts, "stars"> {
  readonly stars: readonly { id: string; at: number; type: TargetType; target: string }[] | null;
}

/** Loads wallet-days, many in one select; answers in the order of the keys. */
export function loadWalletDays(
  sql: Sql,
  keys: readonly WalletDayQuery[],
): Promise<readonly WalletDayFacts[]> {
  return dayByDay(keys, async (day, ofDay) => {
    const wallets = ofDay.map(({ wallet }) => entityNumber(wallet));
    const instants = ofDay.map(({ notBefore }) => notBefore);
    const rows = await runStatement(sql<WalletDayRow[]>`
      select
        (select json_agg(json_build_object('id', id, 'at', at, 'type', target_type, 'target', target_id)
            order by slot)
          from star where star.day = ${day} and star.wallet = key.wallet) as stars,
        ${passInForce(sql)} as "seasonId", ${passInForce(sql, sql`key.not_before`)} as "seasonThen", present.now as "readAt"
      from (select now_ms() as now offset 0) as present
      cross join unnest(${wallets}::bigint[], ${instants}::bigint[]) with ordinality as key (wallet, not_before, n)
      cross join lateral (select key.wallet, greatest(present.now, key.not_before) as instant) as voter
      order by n`);
    return rows.map(({ stars, seasonId, seasonThen, readAt }) => ({
      stars: (stars ?? []).map(({ id, at, type, target }) => ({
        id,
        at,
        target: targetKey(type, target),
      })),
      seasonId,
      seasonThen,
      readAt,
    }));
  });
}

/**
 * Runs a select for each day of its keys, nearly always one; answers in the order of the keys. A
 * day known at the start leaves the journal's other months closed. For those met on the way Postgres
 * first opens every month's indexes, which doubled what an admission costs after five years.
 */
export async function dayByDay<Key extends { readonly day: Day }, Found>(
  keys: readonly Key[],
  select: (day: Day, ofDay: readonly Key[]) => Promise<readonly Found[]>,
): Promise<readonly Found[]> {
  const days = [...new Set(keys.map(({ day }) => day))];
  const found = await Promise.all(
    days.map(async (day) => {
      const ofDay = keys.filter((key) => key.day === day);
      const rows = await select(day, ofDay);
      // Else a wallet would have another one's answer.
      if (rows.length !== ofDay.length) {
        throw new RangeError(`a select of ${ofDay.length} keys answered ${rows.length} rows`);
      }
      return ofDay.map((key, n) => [key, rows[n] as Found] as const);
    }),
  );
  const all = new Map(found.flat());
  return keys.map((key) => all.get(key) as Found);
}

/**
 * The season of a wallet's pass that is in force, or null; a part of a select. Seasons are
 * half-open (contract, section 1) and never overlap, so there is one at most.
 *
 * The select has a row `voter (wallet, instant)`.
 *
 * @param instant another than the voter's, epoch ms
 */
export function passInForce(sql: Sql, instant = sql`voter.instant`) {
  return sql`(select season_id from premium_pass join season on season.id = season_id
    where premium_pass.wallet = voter.wallet and starts_at <= ${instant} and ${instant} < ends_at)`;
}

export interface SliceKey {
  readonly event: string;
  /** Null on a forever mint. */
  readonly day: Day | null;
  readonly wallet: string;
  readonly serialsA: readonly number[];
  readonly serialsB: readonly number[];
}

/** The part of an event actor that decides one star. */
export interface Slice {
  /** The claims on the serials it brings. */
  readonly counted: Counted;
  /** Forever mints: where the wallet stands. */
  readonly standing: Standing;
  /** How often claims of the event had become free, the version that a star carries; null: of no claims. */
  readonly releases: number | null;
  /** Forever mints: attributions of other wallets that the star proves lost; they end before it. */
  readonly ends: readonly MintEnd[];
}

interface ClaimRow {
  readonly n: number;
  readonly collection: "A" | "B" | "base" | "carrier" | "releases";
  readonly serial: number;
  readonly wallet: number;
}

/**
 * Reads, fresh, the claims on the serials that stars bring, many stars in one select; answers
 * in the order of the keys. Never cached: the daily check may free a serial at any time.
 *
 * Each key is looked up by itself (`lateral … limit 1`): of a plain join the planner may make
 * a reading of all claims of a mint, for each of its stars.
 */
export async function loadSlices(sql: Sql, keys: readonly SliceKey[]): Promise<readonly Slice[]> {
  const asked = keys.flatMap((key, n) => [
    ...key.serialsA.map((serial) => ({ n, ...key, collection: "A", serial })),
    ...key.serialsB.map((serial) => ({ n, ...key, collection: "B", serial })),
    ...(key.day === null
      ? [{ n, ...key, collection: "base", serial: entityNumber(key.wallet) }]
      : []),
  ]);
  if (asked.length === 0) return keys.map(() => NO_CLAIMS);
  const rows = await runStatement(sql<ClaimRow[]>`
    with key as materialized (
      select * from unnest(${asked.map(({ n }) => n)}::int[], ${asked.map(({ event }) => event)}::text[],
        ${asked.map(({ day }) => day)}::date[], ${asked.map(({ collection }) => collection)}::text[],
        ${asked.map(({ serial }) => serial)}::bigint[]) as key (n, event_id, day, collection, serial)
    )
    select n, collection, serial, claim.wallet
    from key cross join lateral (
      select wallet from serial_claim
      where serial_claim.event_id = key.event_id and serial_claim.day = key.day
        and serial_claim.collection = key.collection and serial_claim.serial = key.serial
        and serial_claim.day is not null
      limit 1
    ) claim
    union all
    select n, collection, serial, claim.wallet
    from key cross join lateral (
      select wallet from serial_claim
      where key.day is null and serial_claim.event_id = key.event_id
        and serial_claim.collection = key.collection and serial_claim.serial = key.serial
        and serial_claim.day is null and released_at is null
      limit 1
    ) claim
    union all
    select n, 'carrier', claim.serial, key.serial
    from key cross join lateral (
      select serial from serial_claim
      where key.collection = 'base' and serial_claim.event_id = key.event_id
        and serial_claim.wallet = key.serial
        and serial_claim.day is null and released_at is null and collection = 'B'
      limit 1
    ) claim
    union all
    select n, 'releases', releases, 0
    from (select distinct n, event_id from key) as asked join event_total using (event_id)`);
  const slices = keys.map(() => ({
    counted: { A: {} as Record<number, Attribution>, B: {} as Record<number, Attribution> },
    standing: "unstarred" as Standing,
    releases: null as number | null,
    ends: [],
  }));
  for (const { n, collection, serial, wallet } of rows) {
    const slice = slices[n];
    if (slice === undefined) continue;
    if (collection === "releases") slice.releases = serial;
    else if (collection === "carrier") slice.standing = "carrying";
    else if (collection !== "base")
      slice.counted[collection][serial] = { wallet: entityId(wallet), starId: null, at: null };
    else if (slice.standing === "unstarred") slice.standing = "counted";
  }
  return slices;
}

export const NO_CLAIMS: Slice = {
  counted: NOTHING_COUNTED,
  standing: "unstarred",
  releases: null,
  ends: [],
};
