import { bounds } from "../bounds.ts";
import { countOlder, type GivenUp, giveUp, storeReceipt } from "./attempts.ts";
import { confirmMessage } from "./confirm.ts";
import type { PublishContext } from "./context.ts";
import type { LeasedStar } from "./outbox.ts";
import { proveAbsence, QUIET_ROUND_APART_MS, readTransaction } from "./prove-absence.ts";
import type { Attempt } from "./shared-steps.ts";

/** Nodes keep receipts for 180 s after consensus, which came after the start. */
const RECEIPTS_KEPT = 180_000_000_000n;
/** Consensus takes about three seconds; on the local ledger, milliseconds. */
const RECEIPT_WAITS_MS = [100, 200, 400, 800, 1_500, 2_000] as const;
/** The reading of the topic confirms a star long before, or something is wrong. */
const CHECK_UP_MS = 8_000;
/** No receipt after all those waits: the node may have lost it. */
const ASK_AGAIN_MS = 1_000;
const READ = { deadlineMs: 5_000, background: true } as const;

/** After a node took the bytes: waits for the receipt, for some seconds. */
export async function awaitReceipt(
  context: PublishContext,
  star: LeasedStar,
  attempt: Attempt,
): Promise<Next> {
  for (const waitMs of RECEIPT_WAITS_MS) {
    await context.failpoint("pub.receipt_wait");
    await context.wait(waitMs, context.closing);
    if (context.closing.aborted) return { kind: "release", delayMs: 0, why: null };
    const known = await askReceipt(context, star, attempt);
    if (known.receipt === null) continue;
    if (known.receipt.status !== "SUCCESS") return untilOver(context, known, known.receipt.status);
    return { kind: "release", delayMs: CHECK_UP_MS, why: null };
  }
  return { kind: "release", delayMs: ASK_AGAIN_MS, why: "no receipt yet" };
}

/**
 * Asks whether bytes that may have reached a node took effect.
 *
 * @returns `send` when no node knows them and they may be sent again
 */
export async function ask(
  context: PublishContext,
  star: LeasedStar,
  given: Attempt,
): Promise<Next> {
  const { clock } = context;
  context.lanes[star.topic].follower.poke();
  const isAskable = given.receipt === null && clock.now() < given.validStart + RECEIPTS_KEPT;
  const attempt = isAskable ? await askReceipt(context, star, given) : given;
  if (attempt.receipt?.status === "SUCCESS") return readBack(context, star, attempt);
  const isOver = attempt.signed === null || clock.now() > attempt.signed.validUntil;
  if (isOver) return settleOverdue(context, attempt);
  if (attempt.receipt !== null) return untilOver(context, attempt, attempt.receipt.status);
  return { kind: "send", attempt };
}

async function askReceipt(
  context: PublishContext,
  star: LeasedStar,
  attempt: Attempt,
): Promise<Attempt> {
  const { call, topic, outbox, failpoint, alerts, lanes } = context;
  const answer = await call(() => topic.receipt(attempt.transactionId));
  if (answer.kind === "unknown") return attempt;
  await failpoint("pub.receipt_got");
  if (answer.kind === "success") {
    lanes[star.topic].gate.tookEffect();
    return storeReceipt(outbox, attempt, { ...answer, status: "SUCCESS" });
  }
  const { status, refusal } = answer;
  alerts.failed(status);
  const { gate } = lanes[star.topic];
  if (refusal === "configuration") gate.failed(refusal, status, { charged: true });
  else gate.failed("outage", status);
  return storeReceipt(outbox, attempt, { status, sequenceNumber: null, runningHash: null });
}

/** The nodes say it took effect: its row at the mirror node must be ours. */
async function readBack(
  context: PublishContext,
  star: LeasedStar,
  attempt: Attempt,
): Promise<Next> {
  const { mirror, outbox, alerts, failpoint } = context;
  const { topicId, receipt } = attempt;
  const sequence = receipt?.sequenceNumber ?? null;
  const row = sequence === null ? null : await mirror.topicMessage(topicId, sequence, READ);
  if (row === null && sequence !== null) {
    return releaseFor(context, star, "the mirror node lacks it yet");
  }
  await failpoint("pub.before_confirm");
  const verdicts = row === null ? [] : await confirmMessage(outbox.sql, row);
  for (const verdict of verdicts) alerts.announce(star.topic, verdict);
  await failpoint("pub.confirmed");
  // No verdict on our own message: another process was faster.
  if (verdicts.length > 0 || row?.chunk?.transactionId === attempt.transactionId) {
    return releaseFor(context, star, "read back");
  }
  // The receipt was for somebody else's message, or for no message.
  const finding = await readTransaction(context, attempt);
  if (finding.kind === "absent") return reissue(context, attempt, finding);
  alerts.raise(
    "contradiction",
    `the receipt of ${attempt.transactionId} is contradicted by the mirror node`,
  );
  return releaseFor(context, star, "receipt and mirror node contradict each other");
}

/** Its time is over and no receipt came: only proof helps. */
async function settleOverdue(context: PublishContext, attempt: Attempt): Promise<Next> {
  await context.failpoint("pub.expired");
  const finding = await proveAbsence(context, attempt);
  if (finding.kind === "absent") return reissue(context, attempt, finding);
  // A topic of earlier settings is not followed.
  if (finding.kind === "landed") await context.readToEnd(attempt.topicId);
  const why = finding.kind === "open" ? finding.why : "on the topic, not read back yet";
  // One star that gets through settles all that stand behind it: they need not ask as often.
  const older = await countOlder(context.outbox, attempt);
  const delayMs = QUIET_ROUND_APART_MS * (1 + older) + 500 * context.random();
  return { kind: "release", delayMs: Math.min(delayMs, bounds.publishDelayMsMax), why };
}

async function reissue(
  { outbox, alerts, failpoint }: PublishContext,
  attempt: Attempt,
  proof: { readonly outcome: GivenUp; readonly evidence: string },
): Promise<Next> {
  await giveUp(outbox, attempt, proof);
  alerts.ended(proof.outcome);
  await failpoint("pub.reissued");
  if (proof.outcome === "foreign") {
    alerts.raise("foreign", `${attempt.transactionId}: ${proof.evidence}`);
  }
  return { kind: "new id" };
}

export type Next =
  /** The same bytes again. */
  | { readonly kind: "send"; readonly attempt: Attempt }
  /** Its id was given up, by proof. */
  | { readonly kind: "new id" }
  /** Nothing, for a while. */
  | { readonly kind: "release"; readonly delayMs: number; readonly why: string | null };

const FIRST_DELAY_MS = 500;
/** A star that keeps failing is still looked at every minute. */
const DELAY_MS_MAX = 60_000;

/**
 * Releases a star, for longer each time, with jitter, so that stars do not come back together.
 * While the gate is shut, the gate sets the delay: a star that has probed for hours must be due when
 * the trouble ends.
 */
export function releaseFor(
  { random, lanes }: Pick<PublishContext, "random" | "lanes">,
  { tries, topic }: LeasedStar,
  why: string,
): Extract<Next, { kind: "release" }> {
  const { gate } = lanes[topic];
  const longest = gate.isShut ? Math.max(gate.retryInMs(), FIRST_DELAY_MS) : DELAY_MS_MAX;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(tries, 16), longest);
  return { kind: "release", delayMs: delayMs * (0.75 + random() / 2), why };
}

/** Releases a star until its id can no longer take effect. */
export function untilOver(
  { clock }: Pick<PublishContext, "clock">,
  attempt: Attempt,
  why: string,
): Extract<Next, { kind: "release" }> {
  const end = attempt.signed?.validUntil ?? attempt.validStart;
  const leftMs = Number((end - clock.now()) / 1_000_000n);
  // Asked before its end nothing can be proved; later than a minute after it is too late to help.
  return {
    kind: "release",
    delayMs: Math.min(Math.max(leftMs + 1_000, 1_000), DELAY_MS_MAX),
    why,
  };
}
