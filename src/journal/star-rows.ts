import { ruleOf } from "../../actors/content.ts";
import { accountNumber, type DecidedStar } from "./star-record.ts";

/** One element of `cast_stars`' JSON array; names are the columns'. `xp`: points the star earns. */
export function rowOf(
  { star, claims, message, idempotency }: DecidedStar,
  xp: number,
): Record<string, unknown> {
  const rule = ruleOf(star.target);
  return {
    id: star.id,
    day: star.day,
    wallet: accountNumber(star.wallet),
    slot: star.slot,
    at: star.at,
    target_type: star.target.type,
    target_id: star.target.id,
    repeatable: rule.frequency === "once",
    voting_power: star.votingPower,
    weight: star.weight,
    base: star.breakdown.base,
    counted_a: star.breakdown.collectionA,
    bonus_b: star.breakdown.collectionB,
    held_a: star.holdings.collectionA,
    held_b: star.holdings.collectionB,
    holdings_read_at: star.holdings.readAt,
    allowance_limit: star.limit,
    season_id: star.seasonId,
    xp,
    topic: rule.topic,
    message,
    claims: claimRows({ star, claims }),
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

/** What a star claims, each claim as one text. */
export function claimKeys(decided: DecidedStar): readonly string[] {
  const { target, day } = decided.star;
  const scope = ruleOf(target).frequency === "once" ? target.id : `${target.id}/${day}`;
  return claimRows(decided).map(({ collection, serial }) => `${scope}/${collection}/${serial}`);
}

interface ClaimRow {
  readonly collection: "base" | "A" | "B";
  readonly serial: number;
}

function claimRows({ star, claims }: Pick<DecidedStar, "star" | "claims">): readonly ClaimRow[] {
  if (claims === null) return [];
  const onMint = ruleOf(star.target).weight === "each NFT once per mint";
  return [
    // On a mint the base counts once per wallet, so it is claimed like a serial.
    ...(onMint && star.breakdown.base === 1
      ? [{ collection: "base" as const, serial: accountNumber(star.wallet) }]
      : []),
    ...claims.a.map((serial) => ({ collection: "A" as const, serial })),
    ...(claims.b === null ? [] : [{ collection: "B" as const, serial: claims.b }]),
  ];
}
