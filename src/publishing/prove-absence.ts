import type { ReadLimits } from "../ledger/mirror/limits.ts";
import { parseTimestamp } from "../ledger/transaction-id.ts";
import { countAbsence, type GivenUp } from "./attempts.ts";
import type { PublishContext } from "./context.ts";
import type { Attempt } from "./shared-steps.ts";

/** What the mirror node showed about an id that may have taken effect. */
export type Finding =
  /** Our message is on the topic: its row only has to be read. */
  | { readonly kind: "landed" }
  /** It is not there and never will be: the star may get another id. */
  | { readonly kind: "absent"; readonly outcome: GivenUp; readonly evidence: string }
  /** Neither is proved yet. */
  | { readonly kind: "open"; readonly why: string };

const SECOND = 1_000_000_000n;
/** How far past the end of an id's time a mirror node must have come on a quiet topic. */
const QUIET_MARGIN = 60n * SECOND;
/** Replicas behind one address may be apart: the same finding so often, so far apart. */
const QUIET_ROUNDS = 3;
export const QUIET_ROUND_APART_MS = 5_000;
/** Beside a row of these the same id may take effect, by way of another node: its receipt is the first other one. */
const NO_PROOF: ReadonlySet<string> = new Set([
  "DUPLICATE_TRANSACTION",
  "INVALID_NODE_ACCOUNT",
  "INVALID_PAYER_SIGNATURE",
]);
const READ = { deadlineMs: 5_000, background: true } as const;

/**
 * Decides about an id whose time is over and whose fate is unknown. That the mirror node
 * does not know it proves nothing: it may be behind.
 *
 * One of these is proof. A message that reached consensus after the id's time, on a topic read
 * without a gap up to there: the reading itself finds that (`read_topic_on`). Or a row of the
 * transaction with another result, save those of `NO_PROOF`, or with SUCCESS but of something that
 * is no message on our topic. Or, on a quiet topic, three rounds: a block past the id's time by a
 * minute, then the topic read to its end, then no SUCCESS row, all by one mirror node: another
 * one may be behind, however far the first has come.
 *
 * @throws MirrorError, or RetryableError when Postgres is away
 */
export async function proveAbsence(context: PublishContext, attempt: Attempt): Promise<Finding> {
  const known = await readTransaction(context, attempt);
  if (known.kind !== "open") return known;
  const { mirror, outbox, failpoint } = context;
  const read = { ...READ, oneNode: {} };
  const block = await mirror.newestBlock(read);
  const validUntil = attempt.signed?.validUntil ?? attempt.validStart;
  const needed = validUntil + QUIET_MARGIN;
  if (block === null || parseTimestamp(block.to) < needed) {
    return { kind: "open", why: "the mirror node has not come far enough past its time" };
  }
  if (!(await context.readToEnd(attempt.topicId, read.oneNode))) {
    return { kind: "open", why: "the mirror node shows the topic with a gap" };
  }
  // Asked again, after the topic: what the topic lacked may have been just behind its end.
  const again = await readTransaction(context, attempt, read);
  if (again.kind !== "open") return again;
  await failpoint("pub.mirror_checked");
  const rounds = await countAbsence(outbox, attempt, QUIET_ROUND_APART_MS);
  if (rounds < QUIET_ROUNDS) return { kind: "open", why: `not found in ${rounds} rounds` };
  const evidence = `block ${block.number} at ${block.to}, not found in ${rounds} rounds`;
  return { kind: "absent", outcome: "absent", evidence };
}

/** What the rows of the transaction itself prove. */
export async function readTransaction(
  { mirror }: Pick<PublishContext, "mirror">,
  { transactionId, topicId }: Attempt,
  limits: ReadLimits = READ,
): Promise<Finding> {
  const rows = (await mirror.transactions(transactionId, limits)).filter(
    // A duplicate is a second row beside the one that counted, which a replica may lack.
    (row) => row.nonce === 0 && !row.scheduled && !NO_PROOF.has(row.result),
  );
  const success = rows.find((row) => row.result === "SUCCESS");
  const at = (row: { consensusTimestamp: string }) => `at ${row.consensusTimestamp}`;
  if (success !== undefined) {
    if (success.name === "CONSENSUSSUBMITMESSAGE" && success.entityId === topicId) {
      return { kind: "landed" };
    }
    const evidence = `${success.name} of ${success.entityId} ${at(success)}`;
    return { kind: "absent", outcome: "foreign", evidence };
  }
  const [failure] = rows;
  if (failure === undefined) return { kind: "open", why: "the mirror node does not know it" };
  return { kind: "absent", outcome: "failed", evidence: `${failure.result} ${at(failure)}` };
}
