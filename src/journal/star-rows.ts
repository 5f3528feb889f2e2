import { accountNumber, type DecidedStar } from "./star-record.ts";

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
    wallet: accountNumber(star.wallet),
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
