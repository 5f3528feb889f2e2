import { hash } from "node:crypto";
import type { Target } from "../../actors/content.ts";
import { type Day, endOfDay } from "../../actors/day.ts";
import type { Holdings } from "../../actors/holdings.ts";
import { bounds } from "../config.ts";
import { TerminalError } from "../errors.ts";
import { askFirst } from "../hosting/ask.ts";
import { type Refusal, type TurnDeps, takeTurn } from "../hosting/turn.ts";
import type { KeptReply } from "../journal/idempotency.ts";
import type { StarRecord } from "../journal/star-record.ts";
import type { TargetName } from "../reads/targets.ts";
import { inTime } from "../store/postgres.ts";
import { completeReply, starReply } from "./star-reply.ts";

export interface CastStarDeps extends TurnDeps {
  /** All look-ups of a tick share one select. */
  readonly findTarget: (name: TargetName) => Promise<Target | null>;
  /** Asks the mirror node, now. */
  readonly readHoldings: (wallet: string) => Promise<Holdings>;
  /** Hears of each accepted star, after its commit; must not throw or wait. */
  readonly onAccepted: (star: StarRecord, totalVotes: number) => void;
}

/** "Star this", from a signed-in wallet. */
export interface CastStar {
  readonly wallet: string;
  readonly target: TargetName;
  readonly idempotencyKey: string | null;
  /** When the caller gets an answer at the latest, by `performance.now()`; in 3 s when absent. */
  readonly answerBy?: number;
}

export type CastResult =
  /** `body` is the reply's JSON text. */
  | { readonly kind: "accepted"; readonly body: string }
  | { readonly kind: "replayed"; readonly body: string }
  | {
      readonly kind: "refused";
      readonly decision: Refusal;
      /** When the refusal ends, epoch ms: 00:00 UTC. */
      readonly resetsAt: number;
    };

/**
 * Casts a star, in the contract's order: idempotency key → target → repeat → allowance →
 * holdings → turn. The actor is asked twice: once to refuse early, before any network, and
 * once for good with the holdings in hand; nobody is locked in between.
 *
 * @throws TerminalError `NOT_FOUND` (no approved target), `IDEMPOTENCY_KEY_REUSED`
 * @throws RetryableError `HOLDINGS_UNAVAILABLE`, `UNAVAILABLE`; no vote is spent by either,
 *   save where the database confirmed too late, which the same key then tells
 */
export async function castStar(deps: CastStarDeps, cast: CastStar): Promise<CastResult> {
  const { answerBy = performance.now() + bounds.starDeadlineMs } = cast;
  const { wallet, idempotencyKey: key } = cast;
  if (key !== null) {
    const kept = await deps.findKeptReply({ wallet, key });
    if (kept !== null) return replay(kept, cast.target);
  }
  const target = await deps.findTarget(cast.target);
  if (target === null) {
    throw new TerminalError("NOT_FOUND", `there is no ${cast.target.type} with this id`);
  }
  const refusal = await askFirst(deps, wallet, target);
  if (refusal !== null) {
    // A twin of this very request may have been accepted since the first look.
    const kept = key === null ? null : await deps.findKeptReply({ wallet, key });
    return kept === null ? refused(refusal.decision, refusal.day) : replay(kept, cast.target);
  }

  const holdings = await deps.readHoldings(wallet);
  const result = await inTime(
    takeTurn(deps, {
      wallet,
      target,
      holdings,
      answerBy,
      idempotency:
        key === null
          ? null
          : {
              key,
              bind: (star) => ({ key, requestHash: hashOf(cast.target), ...starReply(star) }),
            },
    }),
    answerBy - performance.now(),
  );
  if (result.kind === "replayed") return replay(result.kept, cast.target);
  if (result.kind === "refused") return refused(result.decision, result.day);
  deps.onAccepted(result.star, result.totalVotes);
  const body = result.keptReply ?? completeReply(starReply(result.star), result.totalVotes);
  return { kind: "accepted", body };
}

function replay(kept: KeptReply, target: TargetName): CastResult {
  if (kept.requestHash !== hashOf(target)) {
    throw new TerminalError(
      "IDEMPOTENCY_KEY_REUSED",
      "this Idempotency-Key was used for another request",
    );
  }
  return { kind: "replayed", body: kept.reply };
}

function refused(decision: Refusal, day: Day): CastResult {
  return { kind: "refused", decision, resetsAt: endOfDay(day) };
}

/** What makes two requests the same: the target, however its JSON was laid out. */
function hashOf({ type, id }: TargetName): string {
  return hash("sha256", JSON.stringify([type, id]));
}
