import { ruleOf, type Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { Holdings } from "../../actors/holdings.ts";
import type { WalletDecision } from "../../actors/star.ts";
import type { FollowedClock } from "../clock.ts";
import { bounds } from "../config.ts";
import { RetryableError } from "../errors.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import type { IdempotencyQuery, KeptReply } from "../journal/idempotency.ts";
import type { Slice, SliceKey } from "../journal/load.ts";
import type { DecidedStar, IdempotencyBinding, StarRecord } from "../journal/star-record.ts";
import type { Host, HostedWalletDay } from "./host.ts";
import { propose } from "./propose.ts";

export interface TurnDeps {
  readonly host: Host;
  readonly clock: FollowedClock;
  readonly commit: GroupCommit["commit"];
  readonly loadSlice: (key: SliceKey) => Promise<Slice>;
  readonly findKeptReply: (query: IdempotencyQuery) => Promise<KeptReply | null>;
  readonly messageOf: (star: StarRecord) => string;
  /** Hears of each star that is stored, with what it claimed; must not throw or wait. */
  readonly onStored?: (decided: DecidedStar, totalVotes: number) => void;
}

/** A star that wants to be decided, with the holdings read for it. */
export interface TurnIntent {
  readonly wallet: string;
  readonly target: Target;
  readonly holdings: Holdings;
  /**
   * When whoever cast it has been told that it failed, by `performance.now()`. From then on the
   * turn stores nothing: a refused star spends no vote.
   */
  readonly answerBy: number;
  /** Binds the reply to the client's key once the star is known; null without a key. */
  readonly idempotency: {
    readonly key: string;
    readonly bind: (star: StarRecord) => IdempotencyBinding;
  } | null;
}

export type TurnResult =
  | {
      readonly kind: "accepted";
      readonly star: StarRecord;
      readonly totalVotes: number;
      readonly keptReply: string | null;
    }
  | { readonly kind: "refused"; readonly decision: Refusal; readonly day: Day }
  /** A twin of this request bound the key first: its reply is the reply. */
  | { readonly kind: "replayed"; readonly kept: KeptReply };

export type Refusal = Extract<WalletDecision, { code: "ALREADY_STARRED" | "ALLOWANCE_EXHAUSTED" }>;

/** Near midnight the clocks of two processes may disagree for some milliseconds. */
const OTHER_DAY_PAUSE_MS = 5;

/**
 * One star's turn: the wallet-day actor decides whether, the event's actor decides how much,
 * both in one synchronous step; then the journal disposes. The wallet's mailbox is held
 * meanwhile, nothing else is. A decision that lost a race is made again from the truth. Each
 * lost race proves another accepted star of the wallet, or another of its serials counted, so
 * the attempts are bounded and contention alone never refuses a star.
 *
 * @throws RetryableError `UNAVAILABLE` when the journal does not confirm
 */
export function takeTurn(deps: TurnDeps, intent: TurnIntent): Promise<TurnResult> {
  return deps.host.inMailbox(intent.wallet, async () => {
    const { collectionA, collectionB } = intent.holdings;
    const attemptsMax = bounds.turnAttemptsMax + collectionA.length + collectionB.length;
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (performance.now() >= intent.answerBy) {
        throw new RetryableError("UNAVAILABLE", "the star's turn came too late");
      }
      const result = await attemptTurn(deps, intent, attempt);
      if (result !== "again") return result;
    }
    throw new RetryableError("UNAVAILABLE", "the star lost too many races");
  });
}

async function attemptTurn(
  deps: TurnDeps,
  intent: TurnIntent,
  attempt: number,
): Promise<TurnResult | "again"> {
  const { host, clock } = deps;
  if (attempt > 1) {
    const kept = await keptReply(deps, intent);
    if (kept !== null) return { kind: "replayed", kept };
  }
  const key = { wallet: intent.wallet, day: dayOf(clock.now()) };
  const [hosted, slice] = await Promise.all([
    attempt === 1 ? host.walletDay(key) : host.reload(key),
    loadSlice(deps, intent, key.day),
  ]);
  const facts = { hosted, slice, day: key.day, now: clock.now() };
  const proposal = propose(intent, facts, deps.messageOf);
  if (proposal.kind === "refused") return refuse(deps, intent, hosted, proposal.decision, key.day);

  const outcome = await deps.commit(proposal.decided, intent.answerBy).catch((error) => {
    // Whether it stands is not known: this memory can no longer be trusted.
    host.drop(key);
    throw error;
  });
  if (outcome.kind === "stored") {
    const basis = hosted.basis === "hint" ? "hint" : "memory";
    host.keep(key, { state: proposal.state, passes: hosted.passes, basis });
    const { totalVotes, keptReply: reply = null } = outcome;
    deps.onStored?.(proposal.decided, totalVotes);
    return { kind: "accepted", star: proposal.decided.star, totalVotes, keptReply: reply };
  }
  host.drop(key);
  if (outcome.kind === "wrong-day") await clock.measure().catch(() => undefined);
  return "again";
}

/** Before a refusal leaves, it must rest on the journal where it could be wrong. */
async function refuse(
  deps: TurnDeps,
  intent: TurnIntent,
  hosted: HostedWalletDay,
  decision: Extract<WalletDecision, { type: "refused" }>,
  day: Day,
): Promise<TurnResult | "again"> {
  if (decision.code === "OTHER_DAY") {
    await new Promise((resolve) => setTimeout(resolve, OTHER_DAY_PAUSE_MS));
    return "again";
  }
  if (mayBeWrong(decision, hosted)) return "again";
  const kept = await keptReply(deps, intent);
  return kept === null ? { kind: "refused", decision, day } : { kind: "replayed", kept };
}

/**
 * Stars only grow, so a memory that is behind cannot wrongly say "already starred"; the limit
 * can rise, so an exhausted day is read again; and a hint refuses nothing.
 */
export function mayBeWrong(
  { code }: { readonly code: string },
  { basis }: HostedWalletDay,
): boolean {
  return basis === "hint" || (basis === "memory" && code === "ALLOWANCE_EXHAUSTED");
}

async function keptReply(
  deps: TurnDeps,
  { wallet, idempotency }: TurnIntent,
): Promise<KeptReply | null> {
  return idempotency === null ? null : deps.findKeptReply({ wallet, key: idempotency.key });
}

/** The claims on the NFTs this wallet brings, where the target accounts for NFTs at all. */
async function loadSlice(deps: TurnDeps, intent: TurnIntent, day: Day): Promise<Slice | null> {
  const { target, holdings, wallet } = intent;
  const { weight } = ruleOf(target);
  if (weight === "full") return null;
  return deps.loadSlice({
    event: target.id,
    day: weight === "each NFT once per mint" ? null : day,
    wallet,
    serialsA: holdings.collectionA,
    serialsB: holdings.collectionB,
  });
}
