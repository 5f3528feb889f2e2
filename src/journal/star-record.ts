import type { Target } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { Claims } from "../../actors/nft-accounting.ts";
import type { Breakdown, Holdings } from "../../actors/weight.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import type { MintEnd } from "./mint-end.ts";

/** An accepted star: one row of the journal, never changed afterwards. */
export interface StarRecord {
  /** UUIDv7 whose time is `at`, so the star's day follows from the id. */
  readonly id: string;
  readonly wallet: string;
  readonly day: Day;
  /** Which star of the wallet's day this is, from 1. */
  readonly slot: number;
  readonly at: number;
  readonly target: Target;
  readonly holdings: Holdings;
  readonly votingPower: number;
  readonly weight: number;
  readonly breakdown: Breakdown;
  readonly limit: number;
  readonly seasonId: string | null;
  /** The version of the rules it was decided under. */
  readonly rules: number;
}

/** What an Idempotency-Key binds: the reply, split where the counter stands in it. */
export interface IdempotencyBinding {
  readonly key: string;
  /** SHA-256 of the request, hex. */
  readonly requestHash: string;
  readonly replyHead: string;
  readonly replyTail: string;
}

/** Everything one accepted star writes. */
export interface DecidedStar {
  readonly star: StarRecord;
  /** The id of the wallet's star of this day that it was decided after; null for the first. */
  readonly follows: string | null;
  /** NFTs it uses up on its event; null where nothing is accounted. */
  readonly claims: Claims | null;
  /** How often claims of its event had become free when it was decided; null where it knew of no claim. */
  readonly releases: number | null;
  /** Attributions of other wallets on its forever mint that end with it, and before it. */
  readonly ends: readonly MintEnd[];
  /** The ledger message, canonical text. */
  readonly message: string;
  readonly idempotency: IdempotencyBinding | null;
  /** Where its trace goes on, as W3C's header has it; absent where it is not traced. */
  readonly traceparent?: string | undefined;
}

/**
 * One element of `cast_stars`' JSON array; names are the columns'.
 *
 * @param xp points the star earns
 * @param notAfter the last instant at which it may be stored, epoch ms
 */
export function rowOf(
  { star, follows, claims, releases, message, idempotency, traceparent }: DecidedStar,
  xp: number,
  notAfter: number,
): Record<string, unknown> {
  const { rule } = star.target;
  return {
    id: star.id,
    day: star.day,
    wallet: entityNumber(star.wallet),
    slot: star.slot,
    follows,
    at: star.at,
    target_type: star.target.type,
    target_id: star.target.id,
    ledger_id: star.target.ledgerId,
    is_forever_mint: rule.scope === "forever-mint",
    voting_power: star.votingPower,
    weight: star.weight,
    base: star.breakdown.base,
    counted_a: star.breakdown.collectionA,
    bonus_b: star.breakdown.collectionB,
    held_a: star.holdings.collectionA,
    held_b: star.holdings.collectionB,
    claimed_a: claims?.a ?? [],
    claimed_b: claims?.b ?? null,
    holdings_read_at: star.holdings.readAt,
    allowance_limit: star.limit,
    season_id: star.seasonId,
    rules: star.rules,
    releases,
    xp,
    not_after: notAfter,
    topic: rule.topic,
    message,
    traceparent,
    ...(idempotency && {
      idempotency: {
        key: idempotency.key,
        request_hash: idempotency.requestHash,
        reply_head: idempotency.replyHead,
        reply_tail: idempotency.replyTail,
      },
    }),
  };
}

/** What a star claims, each claim as one text: two stars with one in common cannot both stand. */
export function claimKeys({ star, claims }: DecidedStar): readonly string[] {
  if (claims === null) return [];
  const isOnMint = star.target.rule.scope === "forever-mint";
  const scope = isOnMint ? star.target.id : `${star.target.id}/${star.day}`;
  return [
    ...(isOnMint && star.breakdown.base > 0 ? [`${scope}/base/${star.wallet}`] : []),
    ...claims.a.map((serial) => `${scope}/A/${serial}`),
    ...(claims.b === null ? [] : [`${scope}/B/${claims.b}`]),
  ];
}

/** An end as the journal takes it; names are those of `claim_ending`. */
export function endRow(end: MintEnd): Record<string, unknown> {
  const { collection, serial, wallet, starId, weight, spare, heldB, countedB, evidence } = end;
  return {
    collection,
    serial,
    wallet: entityNumber(wallet),
    star_id: starId,
    weight,
    spare,
    held_b: heldB,
    counted_b: countedB,
    owner: evidence.owner,
    deleted: evidence.deleted,
    listed_at: evidence.listedAt,
    read_at: evidence.readAt,
  };
}
