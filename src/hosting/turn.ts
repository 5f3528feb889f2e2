import { isDeepStrictEqual } from "node:util";
import { votesMax } from "../../actors/allowance.ts";
import type { Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import {
  underPass,
  type WalletDayState,
  type WalletDecision,
  walletDay,
} from "../../actors/wallet-day.ts";
import type { FollowedClock } from "../clock.ts";
import { RetryableError } from "../errors.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import type { IdempotencyQuery, KeptReply } from "../journal/idempotency.ts";
import { NO_CLAIMS } from "../journal/load.ts";
import type { ReturnReason } from "../journal/send-batch.ts";
import type { DecidedStar, StarRecord } from "../journal/star-record.ts";
import { inSpan, tracing } from "../tracing.ts";
import type { Host, LoadedWalletDay } from "./host.ts";
import { type Facts, propose, type StarIntent } from "./propose.ts";
import { type SliceDeps, sliceFor } from "./sold-before-check.ts";

export interface TurnDeps extends SliceDeps {
  readonly host: Host;
  readonly clock: FollowedClock;
  readonly commit: GroupCommit["commit"];
  readonly findKeptReply: (query: IdempotencyQuery) => Promise<KeptReply | null>;
  readonly messageOf: (star: StarRecord) => string;
  /** @throws RetryableError `JOURNAL_BEHIND`, `UNAVAILABLE` while no new star may be taken */
  readonly admitStar?: () => void;
  /** Called where machine and journal judge a star differently: a defect. Never throws. */
  readonly onContradiction: (error: Error) => void;
}

/** A star that wants its turn, and what the turn must know. */
export interface TurnIntent extends StarIntent {
  /** The season of the wallet's pass in force after the request had arrived; null without one. */
  readonly seasonId: string | null;
  /** When that pass was read, epoch ms by the database's clock. */
  readonly readAt: number;
  /**
   * When the caller has its answer, by `performance.now()`. From then on the turn stores nothing:
   * a refused star spends no vote.
   */
  readonly answerBy: number;
}

export type TurnResult =
  | {
      readonly kind: "accepted";
      readonly star: StarRecord;
      readonly totalVotes: number;
      readonly keptReply: string | null;
    }
  | { readonly kind: "refused"; readonly decision: Refusal; readonly day: Day }
  /** Another request with the same key was stored first: the star is answered as that one was. */
  | { readonly kind: "replayed"; readonly kept: KeptReply };

export type Refusal = Extract<WalletDecision, { code: "ALREADY_STARRED" | "ALLOWANCE_EXHAUSTED" }>;

/** A decision that was not stored, and what it rested on. */
interface Undone {
  /** `unproved`: a refusal that rested on memory or on a snapshot; `midnight`: another day's star. */
  readonly reason: ReturnReason | "unproved" | "midnight";
  readonly facts: Facts;
  /** Why the decision before it was not stored either. */
  readonly before?: Undone["reason"] | undefined;
}

/** Near midnight the clocks of two processes may disagree for some milliseconds. */
const OTHER_DAY_PAUSE_MS = 5;

/**
 * Asks the wallet-day actor, before any network, whether a star could be let through. Nothing
 * is changed or promised: the turn asks again.
 *
 * @param now epoch milliseconds
 * @returns the refusal, or null where the star may go on
 */
export function askFirst(state: WalletDayState, target: Target, now: number): Refusal | null {
  const decision = walletDay.decide(state, { type: "star", target, now });
  // At the edge of the day the turn, not this look ahead, finds the right actor.
  return decision.type !== "refused" || decision.code === "OTHER_DAY" ? null : decision;
}

/**
 * One star's turn: the wallet-day actor decides whether, the event's actor decides how much,
 * both in one synchronous step; then the journal stores the star or hands it back. Only the
 * wallet's mailbox is held meanwhile. A decision that lost a race is made again from the journal.
 * Each lost race proves another accepted star of the wallet, or another of its serials counted,
 * so the attempts are bounded, and contention alone never refuses a star.
 *
 * @throws RetryableError `UNAVAILABLE` when the journal does not confirm; `JOURNAL_BEHIND`
 * @throws Error when machine and journal contradict each other
 */
export function takeTurn(deps: TurnDeps, intent: TurnIntent): Promise<TurnResult> {
  return deps.host.inMailbox(intent.wallet, async () => {
    const { collectionA, collectionB } = intent.holdings;
    const dayMax = votesMax(dayOf(deps.clock.now()));
    const attemptsMax = dayMax + 1 + collectionA.length + collectionB.length;
    let undone: Undone | null = null;
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (performance.now() >= intent.answerBy) {
        throw new RetryableError("UNAVAILABLE", "the star's turn came too late");
      }
      const result: TurnResult | Undone = await attemptTurn(deps, intent, undone);
      if ("kind" in result) return result;
      undone = result;
    }
    throw new RetryableError("UNAVAILABLE", `handed back too often, lastly for: ${undone?.reason}`);
  });
}

async function attemptTurn(
  deps: TurnDeps,
  intent: TurnIntent,
  undone: Undone | null,
): Promise<TurnResult | Undone> {
  const { host, clock } = deps;
  const kept = undone === null ? null : await keptReply(deps, intent);
  if (kept !== null) return { kind: "replayed", kept };
  const key = { wallet: intent.wallet, day: dayOf(clock.now()) };
  const [hosted, slice] = await Promise.all([
    undone === null ? recall(host, key, intent) : host.reload(key, undone.facts.now),
    // On an event's day a serial has counted before only if the NFT came from a wallet that starred
    // there today, so the first decision assumes that all are free, and the journal, which looks
    // while it stores, hands it back where they are not. On a forever mint most have counted.
    undone === null && intent.target.rule.scope === "event-day"
      ? NO_CLAIMS
      : sliceFor(deps, intent, key.day),
  ]);
  // This clock may be some milliseconds behind the one by which the pass was in force.
  const now = Math.max(clock.now(), hosted.readAt);
  const facts: Facts = { state: hosted.state, slice, now };
  if (undone !== null) refuseContradiction(deps, undone, facts, hosted.seasonThen);

  const proposal = orEvict(deps, facts.state, () => propose(intent, facts, deps.messageOf));
  if ("type" in proposal) {
    if (proposal.code === "OTHER_DAY") {
      await passMidnight(clock);
      return { reason: "midnight", facts };
    }
    if (undone === null) return { reason: "unproved", facts };
    // A twin of this very request may have been accepted since the key was looked up.
    const twin = await keptReply(deps, intent);
    return twin === null
      ? { kind: "refused", decision: proposal, day: key.day }
      : { kind: "replayed", kept: twin };
  }

  // What was read since the star was let in may have come from an older copy of the journal.
  deps.admitStar?.();
  const outcome = await inSpan("commit", () => deps.commit(withTrace(proposal), intent.answerBy));
  if (outcome.kind === "stored") {
    const { star } = proposal;
    const { id, at, target } = star;
    const fact = { type: "starred", id, at, target: target.key } as const;
    const state = walletDay.evolve(hosted.state, fact);
    host.keep(key, { state, isProved: hosted.isProved });
    const { totalVotes, keptReply: reply = null } = outcome;
    return { kind: "accepted", star, totalVotes, keptReply: reply };
  }
  if (outcome.reason === "kind") {
    throw new RetryableError("UNAVAILABLE", "the item changed while it was starred");
  }
  if (outcome.reason === "held") {
    throw new RetryableError("HOLDINGS_UNAVAILABLE", "another wallet has held its NFT since");
  }
  if (outcome.reason === "day") await passMidnight(clock);
  // The pass that the journal looked for is that of the star's own instant.
  const then: Facts = { ...facts, now: proposal.star.at };
  return { reason: outcome.reason, facts: then, before: undone?.reason };
}

/** Looks at the clock again, and lets the moment pass in which another clock says another day. */
async function passMidnight(clock: FollowedClock): Promise<void> {
  await clock.measure().catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, OTHER_DAY_PAUSE_MS));
}

/** A worker goes on with the trace of the request, so its context is written with the star. */
function withTrace(decided: DecidedStar): DecidedStar {
  return tracing === undefined ? decided : { ...decided, traceparent: tracing.traceparent() };
}

/** The wallet's day as it is in memory under the pass this request has read, else the journal's. */
async function recall(
  host: Host,
  key: { readonly wallet: string; readonly day: Day },
  { seasonId, readAt }: TurnIntent,
): Promise<LoadedWalletDay> {
  const known = host.recall(key);
  if (known === undefined) return host.reload(key);
  return { state: underPass(known.state, seasonId), isProved: known.isProved, readAt };
}

/**
 * Asks a machine. One that fails on an actor says nothing of the star: the actor is evicted, an alarm
 * is raised, and the error goes on.
 */
export function orEvict<Decision>(
  { host, onContradiction }: Pick<TurnDeps, "host" | "onContradiction">,
  { context }: WalletDayState,
  decide: () => Decision,
): Decision {
  try {
    return decide();
  } catch (error) {
    host.drop(context);
    if (error instanceof Error) onContradiction(error);
    throw error;
  }
}

/** Why the journal hands a star back although its machine accepted it: each names what it compared. */
const COMPARED: ReadonlySet<Undone["reason"]> = new Set(["slot", "pass", "release", "claim"]);

/**
 * A star that the journal handed back rests on something that has changed since. Where a reading
 * made after that answer differs in nothing, machine and journal disagree on a rule.
 *
 * @param seasonThen the season of the wallet's pass at the star's own instant, for which the journal
 *   looked: a season may have ended between the two readings
 */
function refuseContradiction(
  deps: TurnDeps,
  { reason, facts: then, before }: Undone,
  now: Facts,
  seasonThen: string | null | undefined,
): void {
  if (!COMPARED.has(reason)) return;
  // A pass that came into force with its season, and was taken back since, leaves nothing to read.
  if (reason === "pass" && before !== "pass") return;
  if (!isDeepStrictEqual(restedOn(then), { ...restedOn(now), seasonId: seasonThen })) return;
  const { wallet, day } = now.state.context;
  const error = new Error(
    `wallet-day/${wallet}/${day}: the journal refuses (${reason}) what the machines accept`,
  );
  deps.onContradiction(error);
  throw error;
}

function restedOn({ state: { context }, slice }: Facts) {
  const { day, stars, seasonId } = context;
  return { day, stars, seasonId, slice };
}

async function keptReply(
  deps: TurnDeps,
  { wallet, idempotency }: TurnIntent,
): Promise<KeptReply | null> {
  return idempotency === null ? null : deps.findKeptReply({ wallet, key: idempotency.key });
}
