import type { PremiumPass } from "../../actors/allowance.ts";
import { ruleOf, type Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { Holdings } from "../../actors/holdings.ts";
import { NOTHING_COUNTED } from "../../actors/nft-accounting.ts";
import type { WalletDecision } from "../../actors/star.ts";
import type { FollowedClock } from "../clock.ts";
import { bounds } from "../config.ts";
import { RetryableError } from "../errors.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import type { IdempotencyQuery, KeptReply } from "../journal/idempotency.ts";
import type { Slice, SliceKey } from "../journal/load.ts";
import type { DecidedStar, IdempotencyBinding, StarRecord } from "../journal/star-record.ts";
import type { Host } from "./host.ts";
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
  /** The wallet's passes as they were after the request had arrived. */
  readonly passes: readonly PremiumPass[];
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
  const state = attempt === 1 ? host.recall(key) : undefined;
  const reading = state === undefined ? host.reload(key) : { state, passes: intent.passes };
  const [hosted, slice] = await Promise.all([
    reading,
    readSlice(deps, intent, { day: key.day, attempt }),
  ]);
  const facts = { hosted, slice, day: key.day, now: clock.now() };
  const proposal = propose(intent, facts, deps.messageOf);
  if (proposal.kind === "refused") {
    // Under a pass since taken back this very star may stand: memory cannot say that it does not.
    if (proposal.decision.code === "ALLOWANCE_EXHAUSTED" && state !== undefined) return "again";
    return refuse(deps, intent, proposal.decision, key.day);
  }

  const outcome = await deps.commit(proposal.decided, intent.answerBy).catch((error) => {
    // Whether it stands is not known: this memory can no longer be trusted.
    host.drop(key);
    throw error;
  });
  if (outcome.kind === "stored") {
    host.keep(key, proposal.state);
    const { totalVotes, keptReply: reply = null } = outcome;
    deps.onStored?.(proposal.decided, totalVotes);
    return { kind: "accepted", star: proposal.decided.star, totalVotes, keptReply: reply };
  }
  host.drop(key);
  if (outcome.kind === "changed") {
    throw new RetryableError("UNAVAILABLE", "the event changed while it was starred");
  }
  if (outcome.kind === "wrong-day") await clock.measure().catch(() => undefined);
  return "again";
}

/** A refusal stands, as that of the first question does, unless it is about another day. */
async function refuse(
  deps: TurnDeps,
  intent: TurnIntent,
  decision: Extract<WalletDecision, { type: "refused" }>,
  day: Day,
): Promise<TurnResult | "again"> {
  if (decision.code === "OTHER_DAY") {
    await new Promise((resolve) => setTimeout(resolve, OTHER_DAY_PAUSE_MS));
    return "again";
  }
  const kept = await keptReply(deps, intent);
  return kept === null ? { kind: "refused", decision, day } : { kind: "replayed", kept };
}

async function keptReply(
  deps: TurnDeps,
  { wallet, idempotency }: TurnIntent,
): Promise<KeptReply | null> {
  return idempotency === null ? null : deps.findKeptReply({ wallet, key: idempotency.key });
}

/** What a turn knows of the claims on the NFTs that its wallet brings. */
export type ClaimReading = "none" | "assumed free" | "read";

/**
 * Whether the claims are read before a star is decided. Tokens, collections and projects have
 * none. On an event's day a serial has counted before only if the NFT came from a wallet that
 * starred there today, so the first decision assumes that all are free, and the journal, which
 * looks while it stores, sends it back where they are not. On a forever mint most have.
 */
export function claimReading(target: Target, attempt: number): ClaimReading {
  const { weight } = ruleOf(target);
  if (weight === "full") return "none";
  return weight === "each NFT once per mint" || attempt > 1 ? "read" : "assumed free";
}

/** No claim is known. */
export const ALL_FREE: Slice = { counted: NOTHING_COUNTED, baseCounted: false };

/** The claims on the NFTs this wallet brings, where the target accounts for NFTs at all. */
async function readSlice(
  deps: TurnDeps,
  { target, holdings, wallet }: TurnIntent,
  { day, attempt }: { readonly day: Day; readonly attempt: number },
): Promise<Slice | null> {
  const reading = claimReading(target, attempt);
  if (reading === "none") return null;
  if (reading === "assumed free") return ALL_FREE;
  return deps.loadSlice({
    event: target.id,
    day: ruleOf(target).weight === "each NFT once per mint" ? null : day,
    wallet,
    serialsA: holdings.collectionA,
    serialsB: holdings.collectionB,
  });
}
