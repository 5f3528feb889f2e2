import type { PremiumPass } from "../../actors/allowance.ts";
import type { TargetType } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { Counted } from "../../actors/nft-accounting.ts";
import { targetKey } from "../../actors/star.ts";
import type { DayStar } from "../../actors/wallet-day.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import { accountNumber, walletOf } from "./star-record.ts";

/** Names a wallet-day actor. */
export interface WalletDayKey {
  readonly wallet: string;
  readonly day: Day;
}

/** What the journal knows of one wallet's day: enough to fold its actor. */
export interface WalletDayFacts {
  readonly stars: readonly (DayStar & { readonly limit: number; readonly repeatable: boolean })[];
  readonly passes: readonly PremiumPass[];
}

/** A wallet-day as a select tells it. */
export interface WalletDayRow {
  readonly stars:
    | readonly {
        id: string;
        at: number;
        type: TargetType;
        target: string;
        limit: number;
        repeatable: boolean;
      }[]
    | null;
  readonly passes: readonly PremiumPass[] | null;
}

/**
 * Loads wallet-days, many in one select; answers in the order of the keys.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function loadWalletDays(
  sql: Sql,
  keys: readonly WalletDayKey[],
): Promise<readonly WalletDayFacts[]> {
  const wallets = keys.map(({ wallet }) => accountNumber(wallet));
  const days = keys.map(({ day }) => day);
  const rows = await inTime(
    sql<WalletDayRow[]>`
      select
        (select json_agg(json_build_object('id', id, 'at', at, 'type', target_type, 'target', target_id,
            'limit', allowance_limit, 'repeatable', repeatable) order by slot)
          from star where star.day = key.day and star.wallet = key.wallet) as stars,
        (select json_agg(json_build_object('seasonId', season.id, 'startsAt', starts_at, 'endsAt', ends_at))
          from premium_pass join season on season.id = season_id
          where premium_pass.wallet = key.wallet) as passes
      from unnest(${wallets}::bigint[], ${days}::date[]) with ordinality as key (wallet, day, n)
      order by n`,
  );
  return rows.map(factsOfDay);
}

/** Of most wallets: one for all of them. */
const NO_PASSES: readonly PremiumPass[] = [];

/** What a row tells, in the actor's words. */
export function factsOfDay({ stars, passes }: WalletDayRow): WalletDayFacts {
  return {
    stars: (stars ?? []).map(({ id, at, type, target, limit, repeatable }) => ({
      id,
      at,
      target: targetKey(type, target),
      limit,
      repeatable,
    })),
    passes: passes ?? NO_PASSES,
  };
}

/** Asks for the part of an event actor that decides one star. */
export interface SliceKey {
  readonly event: string;
  /** Null on a forever mint. */
  readonly day: Day | null;
  readonly wallet: string;
  readonly serialsA: readonly number[];
  readonly serialsB: readonly number[];
}

/** The claims that concern one star, by whom they are held. */
export interface Slice {
  readonly counted: Counted;
  /** Forever mints: whether this wallet's base has counted. */
  readonly baseCounted: boolean;
}

interface ClaimRow {
  readonly n: number;
  readonly collection: "base" | "A" | "B";
  readonly serial: number;
  readonly wallet: number;
}

/**
 * Reads, fresh, the claims on the serials that stars bring, many stars in one select; answers
 * in the order of the keys. Never cached: the daily check may free a serial at any time.
 *
 * Each key is looked up by itself (`lateral … limit 1`): of a plain join the planner may make
 * a reading of all claims of a mint, for each of its stars.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function loadSlices(sql: Sql, keys: readonly SliceKey[]): Promise<readonly Slice[]> {
  const asked = keys.flatMap((key, n) => [
    ...key.serialsA.map((serial) => ({ n, ...key, collection: "A", serial })),
    ...key.serialsB.map((serial) => ({ n, ...key, collection: "B", serial })),
    ...(key.day === null
      ? [{ n, ...key, collection: "base", serial: accountNumber(key.wallet) }]
      : []),
  ]);
  const mints = keys.flatMap((key, n) => (key.day === null ? [{ n, ...key }] : []));
  if (asked.length === 0)
    return keys.map(() => ({ counted: { A: {}, B: {} }, baseCounted: false }));
  const rows = await inTime(
    sql<ClaimRow[]>`
      with key as materialized (
        select * from unnest(${asked.map(({ n }) => n)}::int[], ${asked.map(({ event }) => event)}::text[],
          ${asked.map(({ day }) => day)}::date[], ${asked.map(({ collection }) => collection)}::text[],
          ${asked.map(({ serial }) => serial)}::bigint[]) as key (n, event_id, day, collection, serial)
      ), mint as (
        select * from unnest(${mints.map(({ n }) => n)}::int[], ${mints.map(({ event }) => event)}::text[],
          ${mints.map(({ wallet }) => accountNumber(wallet))}::bigint[]) as mint (n, event_id, wallet)
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
      select n, 'B', claim.serial, mint.wallet
      from mint cross join lateral (
        select serial from serial_claim
        where serial_claim.event_id = mint.event_id and serial_claim.wallet = mint.wallet
          and serial_claim.day is null and released_at is null and collection = 'B'
        limit 1
      ) claim`,
  );
  const slices = keys.map(() => ({
    counted: { A: {} as Record<number, string>, B: {} as Record<number, string> },
    baseCounted: false,
  }));
  for (const { n, collection, serial, wallet } of rows) {
    const slice = slices[n];
    if (slice === undefined) continue;
    if (collection === "base") slice.baseCounted = true;
    else slice.counted[collection][serial] = walletOf(wallet);
  }
  return slices;
}
