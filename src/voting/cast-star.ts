import { hash } from "node:crypto";
import type { Target } from "../../actors/content.ts";
import { type Day, dayOf, endOfDay } from "../../actors/day.ts";
import type { WalletDayState } from "../../actors/wallet-day.ts";
import { bounds } from "../bounds.ts";
import { TerminalError } from "../errors.ts";
import { failpoint } from "../failpoint.ts";
import {
  askFirst,
  orEvict,
  type Refusal,
  type TurnDeps,
  type TurnIntent,
  type TurnResult,
  takeTurn,
} from "../hosting/turn.ts";
import type { KeptReply } from "../journal/idempotency.ts";
import type { StarRecord } from "../journal/star-record.ts";
import type { TargetName } from "../reads/targets.ts";
import { runStatement } from "../store/postgres.ts";
import { inSpan } from "../tracing.ts";
import type { Admission, AdmissionQuery, Voter } from "./admission.ts";
import { invalidSession } from "./session.ts";
import { completeReply, starReply } from "./star-reply.ts";

export interface CastStarDeps extends TurnDeps {
  /** All admissions of a tick share one select. */
  readonly admit: (query: AdmissionQuery) => Promise<Admission>;
  /** Called with each accepted star, after its commit; must not throw or wait. */
  readonly onAccepted: (star: StarRecord, totalVotes: number) => void;
}

export interface CastStar {
  readonly voter: Voter;
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
      readonly wallet: string;
      readonly decision: Refusal;
      /** When the refusal ends, epoch ms: 00:00 UTC. */
      readonly resetsAt: number;
    };

/**
 * Casts a star, in the contract's order: session → idempotency key → target → repeat →
 * allowance → holdings → turn. All that is known before is read in one statement. The actor is
 * asked twice: once to refuse early, before any network, and once for good with the holdings in
 * hand; nothing is locked in between.
 *
 * @throws TerminalError `INVALID_SESSION`, `NOT_FOUND` (no approved target), `IDEMPOTENCY_KEY_REUSED`
 * @throws RetryableError `HOLDINGS_UNAVAILABLE`, `UNAVAILABLE`, `JOURNAL_BEHIND`; none of them spends a
 *   vote, unless the database confirmed too late: the same request with its key then shows the star
 */
export async function castStar(deps: CastStarDeps, cast: CastStar): Promise<CastResult> {
  const { answerBy = performance.now() + bounds.starDeadlineMs } = cast;
  const { idempotencyKey: key, voter } = cast;
  const day = dayOf(deps.clock.now());
  const admission = await inSpan("admission", () =>
    deps.admit({ voter, target: cast.target, key, day }),
  );
  const { wallet, target, kept: bound, seasonId, readAt } = admission;
  if (wallet === null) throw invalidSession();
  if (bound !== null) return replay(bound, cast.target);
  deps.admitStar?.();
  if (target === null) {
    throw new TerminalError("NOT_FOUND", `there is no ${cast.target.type} with this id`);
  }
  const refusal = await refuseEarly(deps, { wallet, target, admission });
  if (refusal !== null) {
    // A twin of this very request may have been accepted since the first look.
    const kept = key === null ? null : await deps.findKeptReply({ wallet, key });
    return kept === null ? refused(wallet, refusal, day) : replay(kept, cast.target);
  }

  if (failpoint) await failpoint("vote.before_mirror");
  const holdings = await inSpan("holdings", () => deps.readHoldings(wallet));
  if (failpoint) await failpoint("vote.after_mirror");
  const result = await runStatement(
    inSpan("turn", () =>
      takeTurnAndAnnounce(deps, {
        wallet,
        target,
        holdings,
        seasonId,
        readAt,
        answerBy,
        idempotency:
          key === null
            ? null
            : {
                key,
                bind: (star) => ({ key, requestHash: hashOf(cast.target), ...starReply(star) }),
              },
      }),
    ),
    answerBy - performance.now(),
  );
  if (result.kind === "replayed") return replay(result.kept, cast.target);
  if (result.kind === "refused") return refused(wallet, result.decision, result.day);
  if (failpoint) await failpoint("vote.after_cache");
  const body = result.keptReply ?? completeReply(starReply(result.star), result.totalVotes);
  if (failpoint) await failpoint("vote.before_ack");
  return { kind: "accepted", body };
}

/** A stored star is announced, also where its caller has been answered 503 meanwhile. */
async function takeTurnAndAnnounce(deps: CastStarDeps, intent: TurnIntent): Promise<TurnResult> {
  const result = await takeTurn(deps, intent);
  if (result.kind === "accepted") deps.onAccepted(result.star, result.totalVotes);
  return result;
}

/**
 * Whether a star can be refused before anything is read over the network. The journal's version and
 * the pass were read after the request arrived, so a memory at that version refuses rightly. A
 * refusal that rests on a snapshot, or on a memory that has gone further meanwhile, is asked of the
 * journal.
 */
async function refuseEarly(
  deps: CastStarDeps,
  {
    wallet,
    target,
    admission,
  }: { readonly wallet: string; readonly target: Target; readonly admission: Admission },
): Promise<Refusal | null> {
  const { host, clock } = deps;
  const { day, version } = admission;
  const key = { wallet, day };
  const ask = (state: WalletDayState) =>
    orEvict(deps, state, () => askFirst(state, target, clock.now()));
  const { state, isProved } = await host.open(key, admission);
  const refusal = ask(state);
  if (refusal === null) return null;
  if (isProved && state.context.stars.length === version.used) return refusal;
  return ask((await host.reload(key)).state);
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

function refused(wallet: string, decision: Refusal, day: Day): CastResult {
  return { kind: "refused", wallet, decision, resetsAt: endOfDay(day) };
}

/** What makes two requests the same: the target, however its JSON was laid out. */
function hashOf({ type, id }: TargetName): string {
  return hash("sha256", JSON.stringify([type, id]));
}
