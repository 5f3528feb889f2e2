import { voteLimit } from "../../actors/allowance.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { EventDecision } from "../../actors/event-day.ts";
import { rulesOn } from "../../actors/rules.ts";
import { fullBreakdown, weigh } from "../../actors/weight.ts";
import { countedInWords } from "../journal/counted-star.ts";
import type { ExportStar } from "../journal/export-format.ts";
import { isEntityId } from "../ledger/entity-id.ts";
import { parseStarMessage, starMessage } from "../publishing/message.ts";
import { isSettled, type Reading } from "./counters.ts";
import { countEventStar, type EventAccounts, type EventTurn, tablesOf } from "./event-accounts.ts";
import type { Season } from "./read-rankings.ts";
import type { HeldStar } from "./rebuild-weights.ts";
import { elsewhere, type Mismatch } from "./report.ts";
import type { TopicChain } from "./topic-chain.ts";

/**
 * Whether an exported star agrees with itself: its message is the one its facts give, its power
 * and weight add up, it is dated into the day and numbered within its allowance.
 *
 * @param day of the export
 */
export function judgeStar(
  star: ExportStar,
  { day, keys }: { readonly day: Day; readonly keys: { readonly a: string; readonly b: string } },
): readonly Mismatch[] {
  const found: Mismatch[] = [];
  const say = (kind: Mismatch["kind"], expected: string | number, seen: string | number): void =>
    void found.push({ ...placeOf(star), kind, where: day, expected, found: seen });
  const at = Date.parse(star.at);
  const rules = rulesOn(day);
  const holdings = { ...star.held, readAt: Date.parse(star.held.readAt) };
  const full = fullBreakdown(holdings, rules);
  if (dayOf(at) !== day) say("export", `a star of ${day}`, star.at);
  if (star.votingPower !== weigh(full)) say("voting-power", weigh(full), star.votingPower);
  const sum = weigh(star.breakdown);
  if (star.weight !== sum) say("export", `weight ${sum}`, star.weight);
  if (star.scope === "none" && star.weight !== star.votingPower) {
    say("export", `weight ${star.votingPower}`, star.weight);
  }
  const scope = scopeOf(star);
  if (star.scope !== scope) say("export", scope, star.scope);
  const topic = scope === "none" ? "asset" : "event";
  if (star.topic !== topic) say("export", `topic ${topic}`, star.topic);
  const text = messageOf(star, keys);
  if (text !== star.message) say("export", text ?? "a message of the star's facts", star.message);
  if (star.rules !== rules.version) say("export", `rules ${rules.version}`, star.rules);
  const limit = voteLimit(day, star.seasonId);
  if (star.limit !== limit) say("allowance", `${limit} votes`, star.limit);
  if (star.slot > star.limit) say("allowance", `≤ ${star.limit}`, star.slot);
  return found;
}

function scopeOf({ target }: ExportStar): ExportStar["scope"] {
  if (target.type !== "event") return "none";
  return target.eventType === "FOREVER_MINT" ? "forever-mint" : "event-day";
}

/** A project's ledger id stands nowhere but in the message: that part is taken from there. */
function messageOf(star: ExportStar, keys: { a: string; b: string }): string | undefined {
  const { type, id, eventType } = star.target;
  const said = parseStarMessage(Buffer.from(star.message), keys);
  const named = type === "project" && said?.type === "asset_vote" ? said.targetId : id;
  const ledgerId = isEntityId(named) ? named : null;
  const target = { type, id, eventKind: eventType, ledgerId };
  const { wallet, votingPower, held: holdings } = star;
  try {
    return starMessage({ wallet, at: Date.parse(star.at), target, votingPower, holdings }, keys);
  } catch {
    return undefined;
  }
}

/** A pass adds votes while its season is on; of the season on the leaderboard the dates are known. */
export function isPassOutside(star: ExportStar, season: Season | null): boolean {
  if (season === null || star.seasonId !== season.id) return false;
  const at = Date.parse(star.at);
  return at < season.startsAt || at >= season.endsAt;
}

/** The places of a wallet's stars within its day, from 1 without a gap, in the order of instants. */
export function judgeSlots(
  wallets: ReadonlyMap<string, readonly { readonly at: number; readonly slot: number }[]>,
  day: string,
): readonly Mismatch[] {
  return [...wallets].flatMap(([wallet, stars]) => {
    const slots = [...stars].sort((one, other) => one.slot - other.slot);
    const isRising = slots.every(
      ({ at, slot }, index) =>
        slot === index + 1 && (index === 0 || at > (slots[index - 1]?.at ?? at)),
    );
    if (isRising) return [];
    const found = slots.map(({ slot, at }) => `${slot} at ${at}`).join(", ");
    const expected = `places 1 to ${slots.length} at rising instants`;
    return [elsewhere("allowance", `${wallet} ${day}`, { expected, found })];
  });
}

export interface ReadSoFar {
  readonly accounts: EventAccounts;
  readonly chains: readonly Pick<TopicChain, "topic" | "sequenceNumber">[];
}

/** Counts an exported star in its event. @returns where its weight is not what the machine decides */
export function countExportedStar(
  { accounts, chains }: ReadSoFar,
  star: ExportStar,
  reading: Reading,
): readonly Mismatch[] {
  const { topicId, sequenceNumber } = star.publication;
  const number = sequenceNumber ?? Number.POSITIVE_INFINITY;
  const chain = chains.find(({ topic }) => topic === topicId);
  const settled =
    chain !== undefined && sequenceNumber !== null && isSettled(reading, chain.topic, number);
  const turn = {
    ...turnOf(star),
    // What was there before the rankings will be read, be it after its day is judged.
    isRead: settled || (chain !== undefined && number <= chain.sequenceNumber),
    isSettled: settled,
  };
  const { A, B } = tablesOf(accounts, turn);
  const { collectionA = [], collectionB: bonus = null } = star.counted ?? {};
  const isTwice = collectionA.some((serial) => A.has(serial)) || (bonus !== null && B.has(bonus));
  return judgeDecision(star, countEventStar(accounts, turn, reading), isTwice);
}

/**
 * A star's own account of its weight against what the machine decides from the same facts.
 *
 * @param isTwice whether it says that it counts NFTs which had counted before
 */
export function judgeDecision(
  star: ExportStar,
  decision: EventDecision,
  isTwice = false,
): readonly Mismatch[] {
  const { weight, breakdown, counted } = star;
  const claims = { a: counted?.collectionA ?? [], b: counted?.collectionB ?? null };
  const expected = countedInWords(decision);
  const found = countedInWords({ weight, breakdown, claims });
  if (expected === found) return [];
  return [{ ...placeOf(star), kind: isTwice ? "counted-twice" : "event-weight", expected, found }];
}

/** A star of an export, as it reaches its event. */
export function turnOf(star: ExportStar): EventTurn {
  return {
    event: star.target.id,
    isForeverMint: star.scope === "forever-mint",
    starId: star.id,
    ...holderOf(star),
    recorded: star.counted && {
      weight: star.weight,
      claims: { a: star.counted.collectionA, b: star.counted.collectionB },
    },
  };
}

/** A star of an export, as its serials are judged. */
export function holderOf({ wallet, at, held }: ExportStar): HeldStar {
  return {
    wallet,
    at: Date.parse(at),
    held: { A: held.collectionA, B: held.collectionB },
  };
}

/** A star of an export, as mismatches name it. */
export function placeOf(star: ExportStar): Pick<
  Mismatch,
  "topic" | "sequenceNumber" | "message"
> & {
  readonly starId: string;
} {
  const { topicId, sequenceNumber } = star.publication;
  return { topic: topicId, sequenceNumber, starId: star.id, message: star.message };
}
