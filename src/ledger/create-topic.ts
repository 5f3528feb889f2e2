import { setTimeout as pause } from "node:timers/promises";
import type { ReceiptOutcome, Topic } from "./topic.ts";

/** Somebody waits for it; nodes that answer need seconds. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 500;
/** The ledger takes an id from the past alone; this much covers a clock that runs ahead. */
const BACKDATED_NS = 10_000_000_000n;
const NS_PER_MS = 1_000_000n;

/**
 * Makes a topic that only the payer may write to and that cannot be changed, and waits for it. One
 * transaction id, also where answers are lost: at most one topic comes of it.
 *
 * @param nowMs the machine's clock, epoch milliseconds: transaction ids go by the ledger's time
 * @returns the topic's id
 * @throws Error saying why the ledger refused, or that it did not answer in time
 */
export async function createTopic(
  topic: Topic,
  { memo, nowMs }: { readonly memo: string; readonly nowMs: number },
): Promise<string> {
  const validStart = BigInt(nowMs) * NS_PER_MS - BACKDATED_NS;
  const { transactionId, signedBytes } = await topic.prepareTopic({ memo, validStart });
  let isTaken = false;
  let why = "no node answered";
  const endsAt = performance.now() + PATIENCE_MS;
  while (performance.now() < endsAt) {
    if (!isTaken) {
      const sent = await topic.send(signedBytes);
      isTaken =
        sent.kind === "accepted" || (sent.kind === "refused" && sent.refusal === "duplicate");
      if (sent.kind === "refused" && !isTaken && sent.refusal !== "busy") {
        throw new Error(`the ledger refused to make the topic: ${sent.status}`);
      }
      if (sent.kind === "unknown") why = sent.why;
    }
    const made = topicIn(await topic.receipt(transactionId));
    if (made !== undefined) return made;
    await pause(PAUSE_MS);
  }
  throw new Error(`the ledger did not say in time whether ${transactionId} made a topic: ${why}`);
}

function topicIn(receipt: ReceiptOutcome): string | undefined {
  if (receipt.kind === "failed") {
    throw new Error(`the ledger refused to make the topic: ${receipt.status}`);
  }
  return receipt.kind === "success" ? (receipt.topicId ?? undefined) : undefined;
}
