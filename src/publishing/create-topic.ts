import { setTimeout as pause } from "node:timers/promises";
import type { ReceiptOutcome, Topic } from "../ledger/topic.ts";
import type { LedgerClock } from "./ledger-clock.ts";

/** An operator waits for it; nodes that answer need seconds. */
const PATIENCE_MS = 60_000;
/** Nodes that have answered nothing by now do not take a topic soon: each was asked once. */
const SILENCE_MS = 15_000;
const PAUSE_MS = 500;

/**
 * Makes a topic that only the payer may write to and that cannot be changed, and waits for it. One
 * transaction id, also where answers are lost: at most one topic comes of it. Another id follows
 * only one that no node can have passed on, because each refused it as dated too early or too late.
 *
 * @param clock the ledger's time; it is corrected by such refusals
 * @returns the topic's id
 * @throws Error saying why the ledger refused, or that it did not answer in time
 */
export async function createTopic(
  topic: Topic,
  { memo, clock }: { readonly memo: string; readonly clock: LedgerClock },
): Promise<string> {
  const prepare = async () => {
    const validStart = clock.nextStart();
    return { validStart, ...(await topic.prepareTopic({ memo, validStart })) };
  };
  let next = await prepare();
  let isTaken = false;
  let mayBeTaken = false;
  let why = "no node answered";
  const startedAt = performance.now();
  let patienceMs = SILENCE_MS;
  while (performance.now() - startedAt < patienceMs) {
    if (!isTaken) {
      const sent = await topic.send(next.signedBytes);
      if (sent.kind !== "unknown") patienceMs = PATIENCE_MS;
      isTaken =
        sent.kind === "accepted" || (sent.kind === "refused" && sent.refusal === "duplicate");
      if (sent.kind === "accepted") clock.accepted();
      if (sent.kind === "unknown") [mayBeTaken, why] = [true, sent.why];
      if (sent.kind === "refused" && !isTaken && sent.refusal !== "busy") {
        if (sent.refusal === "early") clock.refusedAsEarly(next.validStart);
        else if (sent.refusal === "expired") clock.refusedAsExpired(next.validUntil);
        // One that may have been taken is not: it is paid for, and what is left may be too little.
        else if (!mayBeTaken)
          throw new Error(`the ledger refused to make the topic: ${sent.status}`);
        why = sent.status;
        if (!mayBeTaken) next = await prepare();
      }
    }
    const made = topicIn(await topic.receipt(next.transactionId));
    if (made !== undefined) return made;
    await pause(PAUSE_MS);
  }
  throw new Error(
    `the ledger did not say in time whether ${next.transactionId} made a topic: ${why}`,
  );
}

function topicIn(receipt: ReceiptOutcome): string | undefined {
  if (receipt.kind === "failed") {
    throw new Error(`the ledger refused to make the topic: ${receipt.status}`);
  }
  return receipt.kind === "success" ? (receipt.topicId ?? undefined) : undefined;
}
