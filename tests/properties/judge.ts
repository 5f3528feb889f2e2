import { DAY_MS, startOfDay } from "../../actors/day.ts";
import { createOracle, type OracleIntent } from "../support/oracle.ts";
import { oracleTarget } from "./histories.ts";
import { counterKey, type Journal } from "./journal.ts";
import type { Answer, Scenario, Vote } from "./schedules.ts";

/** Where votes that raced have come to. */
export interface Ending {
  readonly scenario: Pick<Scenario, "passes" | "earlier">;
  readonly journal: Journal;
  /** Null where a vote was left without an answer. */
  readonly answers: readonly { readonly vote: Vote; readonly answer: Answer | null }[];
}

type Oracle = ReturnType<typeof createOracle>;
type Star = Journal["stars"][number]["star"];

/**
 * Judges an end: the oracle, given the stars in the order of their commits, dates, numbers,
 * limits and weighs each as the journal does (so there is an order in which the votes came
 * one after the other); every counter is the sum of its stars; every answer is true.
 *
 * @returns what is wrong, or null; it is asked a million times, so it throws nothing
 */
export function wrongWith({ scenario, journal, answers }: Ending): string | null {
  const oracle = createOracle(
    Object.entries(scenario.passes).flatMap(([wallet, passes]) =>
      passes.map(({ startsAt: from, endsAt: to }) => ({ wallet, from, to })),
    ),
  );
  const totals: Record<string, number> = {};
  const exhausted = answers.filter(
    ({ answer }) => answer?.kind === "refused" && answer.decision.code === "ALLOWANCE_EXHAUSTED",
  );
  let confirmed = 0;
  for (const stored of journal.stars) {
    const wrong = wrongStar(oracle, stored);
    if (wrong !== null) return wrong;
    const { star } = stored;
    const key = counterKey(star.target, star.day);
    totals[key] = (totals[key] ?? 0) + star.weight;
    confirmed += exhausted.filter((refused) => isExhaustedAfter(oracle, star, refused)).length;
  }
  if (confirmed !== exhausted.length) return "a vote was refused though one was left";
  for (const [key, total] of Object.entries(totals)) {
    if (journal.totals[key] !== total) return `${key} shows ${journal.totals[key]}, not ${total}`;
  }
  const accepted = answers.filter(({ answer }) => answer?.kind === "accepted").length;
  if (journal.stars.length !== scenario.earlier.length + accepted) return "a star was not answered";
  for (const each of answers) {
    const lie = lieIn(each, journal, oracle);
    if (lie !== null) return lie;
  }
  return null;
}

function wrongStar(oracle: Oracle, { star, claims }: Journal["stars"][number]): string | null {
  const { wallet, target, at, day, weight, slot, limit, holdings } = star;
  const verdict = oracle.star(intentOf({ wallet, target }, at, holdings));
  if (verdict.code !== "ACCEPTED") return `${wallet} may not star ${target.id}: ${verdict.code}`;
  const due = verdict.star;
  if (due.at !== at || due.day * DAY_MS !== startOfDay(day)) return `${wallet}'s star is misdated`;
  if (due.slot !== slot || due.limit !== limit) return `${wallet}'s star is number ${slot}`;
  if (due.weight !== weight) return `${wallet}'s star weighs ${weight}, not ${due.weight}`;
  if (claims === null) return target.type === "event" ? "an event's NFTs went uncounted" : null;
  const counted = [...claims.a.map((n) => `A${n}`), ...(claims.b === null ? [] : [`B${claims.b}`])];
  return counted.join() === due.nfts.join() ? null : `${wallet}'s star counts ${counted.join()}`;
}

/** Whether a vote is rightly refused once this star, the last it knew of, stands. */
function isExhaustedAfter(oracle: Oracle, star: Star, { vote, answer }: Ending["answers"][number]) {
  if (answer?.kind !== "refused" || answer.decision.code !== "ALLOWANCE_EXHAUSTED") return false;
  const { decision, now, holdings } = answer;
  const isLast = star.wallet === vote.wallet && star.slot === decision.used;
  if (!isLast || Math.floor(now / DAY_MS) * DAY_MS !== startOfDay(star.day)) return false;
  const verdict = oracle.star(intentOf(vote, now, holdings));
  return verdict.code === decision.code && verdict.limit === decision.limit;
}

function lieIn(
  { vote, answer }: Ending["answers"][number],
  { stars }: Journal,
  oracle: Oracle,
): string | null {
  if (answer === null) return `${vote.wallet} got no answer`;
  if (answer.kind === "accepted") {
    const { id, weight } = answer.star;
    const stored = stars.find(({ star }) => star.id === id)?.star;
    return stored?.weight === weight ? null : `${vote.wallet}'s star is not as acknowledged`;
  }
  const { decision, now, holdings } = answer;
  if (decision.code !== "ALREADY_STARRED") return null;
  // Stars are never removed: a repeat once refused is one for the rest of the day.
  if (oracle.star(intentOf(vote, now, holdings)).code !== decision.code) return "it was no repeat";
  const named = stars.find(({ star }) => star.id === decision.starId)?.star;
  const isIt = named?.wallet === vote.wallet && keyOf(named) === keyOf(vote);
  return isIt ? null : "the refusal names another star";
}

function keyOf({ target }: Pick<Vote, "target">): string {
  return target.key;
}

function intentOf(
  { wallet, target }: Vote,
  now: number,
  { collectionA: a, collectionB: b }: Pick<Star["holdings"], "collectionA" | "collectionB">,
): OracleIntent {
  return { wallet, target: oracleTarget(target), now, a, b };
}
