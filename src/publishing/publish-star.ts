import { MirrorError } from "../ledger/mirror/error.ts";
import { parseTransactionId } from "../ledger/transaction-id.ts";
import { countRefusal, countSend, giveUp, LeaseLost, reserveId, storeSigned } from "./attempts.ts";
import type { PublishContext, TopicLane } from "./context.ts";
import type { LeasedStar } from "./outbox.ts";
import { ask, awaitReceipt, type Next, releaseFor, untilOver } from "./settle.ts";
import type { Attempt } from "./shared-steps.ts";

/**
 * Takes one star as far as it goes without waiting long. Its states, as in `outbox.state`:
 *
 * *pending*: it has no transaction id. *reserved*: it has one, unique among all, and no bytes.
 * *signed*: it has the only bytes that may be sent under that id, and they have not left this
 * service. *sent*: they may be anywhere. *published*: a mirror node's row with our id and equal
 * bytes was read; that is the reading's work (`topic-follower.ts`), never this file's.
 *
 * Each step is written down before the next one, so a crash anywhere is taken up where it
 * happened. From *sent* there is no way back but proof: the same bytes are sent again while
 * they are valid, DUPLICATE and silence mean "ask", and the star is *pending* again only when
 * its message is proved to be nowhere. An id takes effect at most once, so sending equal
 * bytes twice is harmless, and a second id while the first may land is the one fatal error.
 *
 * @returns when the star is due again, in milliseconds; undefined when it is done, or
 *   somebody else's
 * @throws RetryableError when Postgres is out of reach; the star stays leased
 */
export async function publishStar(
  context: PublishContext,
  star: LeasedStar,
): Promise<number | undefined> {
  try {
    const { delayMs, why } = await pursueIds(context, star);
    await context.outbox.steps.release({ starId: star.starId, delayMs, why });
    return delayMs;
  } catch (error) {
    if (error instanceof LeaseLost) return undefined;
    if (!(error instanceof MirrorError)) throw error;
    const { delayMs, why } = releaseFor(context, star, error.message);
    await context.outbox.steps.release({ starId: star.starId, delayMs, why });
    return delayMs;
  }
}

/** Ids that are refused as misdated cost milliseconds each, and each brings the clock nearer. */
const IDS_PER_TURN_MAX = 8;
/** A node that does not answer is followed by the next one, at once. */
const SENDS_PER_TURN_MAX = 3;
/** Nodes refuse what is valid for less than ten seconds; the rest is for the way there. */
const LAST_SEND_BEFORE_END = 15_000_000_000n;

type Released = Extract<Next, { kind: "release" }>;

async function pursueIds(context: PublishContext, star: LeasedStar): Promise<Released> {
  const { outbox, topic, clock, failpoint } = context;
  const { topicId } = context.lanes[star.topic];
  await failpoint("pub.claimed");
  let { attempt } = star;
  for (let ids = 0; ids < IDS_PER_TURN_MAX; ids++) {
    if (context.closing.aborted) return { kind: "release", delayMs: 0, why: null };
    if (attempt === null) {
      const by = { payer: topic.payer, topicId, notBefore: clock.nextStart() };
      attempt = await reserveId(outbox, star.starId, by);
      await failpoint("pub.id_reserved");
    }
    const next = await pursue(context, star, attempt);
    if (next.kind === "release") return next;
    attempt = null;
  }
  return releaseFor(context, star, "its ids were refused");
}

/** Everything that can be done with one id. */
async function pursue(
  context: PublishContext,
  star: LeasedStar,
  given: Attempt,
): Promise<Exclude<Next, { kind: "send" }>> {
  const lane = context.lanes[star.topic];
  const { payer } = parseTransactionId(given.transactionId);
  const fitsSettings = payer === context.topic.payer && given.topicId === lane.topicId;
  // No node has taken it: under this id no message can come.
  if (!fitsSettings && given.sends === given.refusals) {
    return newId(context, given, "made under other settings");
  }
  let attempt = given.signed === null ? await sign(context, star, given) : given;
  for (let sends = 0; sends < SENDS_PER_TURN_MAX; sends++) {
    if (attempt.sends > attempt.refusals) {
      const next = await ask(context, star, attempt);
      if (next.kind !== "send") return next;
      attempt = next.attempt;
    }
    const next = await send(context, { star, lane }, attempt);
    if (next.kind !== "send") return next;
    attempt = next.attempt;
  }
  return releaseFor(context, star, "no node answered");
}

async function sign(
  { outbox, topic, failpoint }: PublishContext,
  { starId, message }: LeasedStar,
  attempt: Attempt,
): Promise<Attempt> {
  const { topicId, validStart } = attempt;
  // The memo lets anyone find the message of a star by its id.
  const prepared = await topic.prepareMessage({ topicId, message, memo: starId, validStart });
  if (prepared.transactionId !== attempt.transactionId) {
    throw new Error(`signed ${prepared.transactionId} where ${attempt.transactionId} was reserved`);
  }
  await failpoint("pub.signed");
  const signed = { bytes: prepared.signedBytes, validUntil: prepared.validUntil };
  const stored = await storeSigned(outbox, attempt, signed);
  await failpoint("pub.bytes_stored");
  return stored;
}

interface Post {
  readonly star: LeasedStar;
  readonly lane: TopicLane;
}

async function send(
  context: PublishContext,
  { star, lane }: Post,
  attempt: Attempt,
): Promise<Next> {
  const { outbox, topic, clock, closing, failpoint, alerts } = context;
  const { signed } = attempt;
  if (signed === null) throw new Error(`star ${star.starId} is not signed`);
  if (clock.now() > signed.validUntil - LAST_SEND_BEFORE_END) {
    return unlessSent(context, attempt, "too late to send it");
  }
  if (closing.aborted) return { kind: "release", delayMs: 0, why: null };
  if (!lane.gate.enter()) {
    return { kind: "release", delayMs: lane.gate.retryInMs(), why: null };
  }
  let counted = attempt;
  const outcome = await context.call(async () => {
    counted = await countSend(outbox, attempt);
    await failpoint("pub.before_submit");
    return topic.send(signed.bytes);
  });
  await failpoint("pub.after_submit");
  if (outcome.kind === "refused" && outcome.refusal !== "duplicate") {
    return refused(context, { star, lane }, await countRefusal(outbox, counted), outcome);
  }
  if (outcome.kind === "unsendable") {
    return unlessSent(context, await countRefusal(outbox, counted), outcome.why);
  }
  lane.follower.poke();
  if (outcome.kind === "unknown") {
    alerts.failed("no answer");
    lane.gate.failed("outage", outcome.why);
    return { kind: "send", attempt: counted };
  }
  lane.gate.passed();
  if (outcome.kind === "accepted") clock.accepted();
  return awaitReceipt(context, star, counted);
}

/** A node did not take it: it says so for itself and for this one time. */
async function refused(
  context: PublishContext,
  { star, lane }: Post,
  attempt: Attempt,
  { status, refusal }: { readonly status: string; readonly refusal: string },
): Promise<Next> {
  const { clock, alerts } = context;
  alerts.failed(status);
  if (refusal === "early") clock.refusedAsEarly(attempt.validStart);
  if (refusal === "expired" && attempt.signed !== null)
    clock.refusedAsExpired(attempt.signed.validUntil);
  if (refusal === "busy") lane.gate.failed("outage", status);
  if (refusal === "configuration") lane.gate.failed("configuration", status);
  // Another sending of it may be on its way, so it stays the star's only id.
  if (attempt.sends > attempt.refusals || refusal === "busy") {
    return releaseFor(context, star, status);
  }
  const next = await newId(context, attempt, status);
  // A new id does not cure the settings, but the cured settings will need one.
  return refusal === "configuration" ? releaseFor(context, star, status) : next;
}

/** Its bytes cannot be sent: another id at once, or where they were sent before only by proof. */
async function unlessSent(context: PublishContext, attempt: Attempt, why: string): Promise<Next> {
  if (attempt.sends > attempt.refusals) return untilOver(context, attempt, why);
  return newId(context, attempt, why);
}

/** The bytes never left this service. */
async function newId(
  context: PublishContext,
  attempt: Attempt,
  evidence: string,
): Promise<Exclude<Next, { kind: "send" }>> {
  const outcome = attempt.sends === 0 ? "never sent" : "refused";
  await giveUp(context.outbox, attempt, { outcome, evidence });
  context.alerts.ended(outcome);
  await context.failpoint("pub.reissued");
  return { kind: "new id" };
}
