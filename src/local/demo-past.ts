import { renameSync, rmSync } from "node:fs";
import { entityNumber } from "../ledger/entity-id.ts";
import { type DemoLedger, settleDemoLedger } from "./demo-ledger.ts";
import { type Ledger, openLedger } from "./hedera/ledger.ts";
import type { Step } from "./hedera/state/state.ts";
import { addMessage } from "./hedera/state/topics.ts";
import { addOwnTransaction } from "./hedera/state/transactions.ts";
import { nanosOfMs } from "./hedera/timestamps.ts";

/** A message that a topic got before today. */
export interface PastMessage {
  readonly topic: string;
  /** Epoch milliseconds; messages come in this order. */
  readonly consensusAt: number;
  readonly text: string;
  readonly memo: string;
}

/** Serials that a wallet has of each collection. */
export type SerialsOf = (wallet: string) => {
  readonly a: readonly number[];
  readonly b: readonly number[];
};

const STARTED_BEFORE_MS = 1_500;
const FEE_TINYBARS = 666_667;

/**
 * Makes a demo ledger that has existed for some days: everything in it has the time at which it
 * is said to have happened. What an earlier attempt left in the folder goes.
 *
 * @param given.file where the keys are kept; it comes last, so without it nothing was made
 * @param given.from epoch milliseconds of its first transaction
 * @param given.messages what its topics are to hold
 */
export async function makePastLedger(given: {
  readonly folder: string;
  readonly file: string;
  readonly from: number;
  readonly messages: (demo: DemoLedger, serialsOf: SerialsOf) => readonly PastMessage[];
}): Promise<void> {
  const { folder, file, from } = given;
  rmSync(folder, { recursive: true, force: true });
  let now = from;
  const ledger = await openLedger({ now: () => now, folder, blockEveryMs: 0 });
  const draft = `${file}.draft`;
  try {
    const demo = await settleDemoLedger(ledger, draft);
    for (const message of given.messages(demo, readSerials(ledger, demo))) {
      now = message.consensusAt;
      await ledger.order.take(submitted(message, demo.operator.id));
    }
    await ledger.closeBlock();
  } finally {
    await ledger.close();
  }
  renameSync(draft, file);
}

function readSerials(
  { order }: Ledger,
  { collectionA, collectionB }: Pick<DemoLedger, "collectionA" | "collectionB">,
): SerialsOf {
  return (wallet) => {
    const held = order.state.held.get(entityNumber(wallet));
    const [a = [], b = []] = [collectionA, collectionB].map((id) => held?.get(entityNumber(id)));
    return { a, b };
  };
}

/** A message and its transaction, as a client's own submission leaves them. */
function submitted({ topic, text, memo }: PastMessage, operator: string): Step<void> {
  return (turn) => {
    const payer = entityNumber(operator);
    const validStart = turn.at - nanosOfMs(STARTED_BEFORE_MS);
    const message = Buffer.from(text);
    const chunk = { payer, validStart, number: 1, total: 1 };
    addMessage(turn, entityNumber(topic), { payer, message, chunk });
    addOwnTransaction(turn, "CONSENSUSSUBMITMESSAGE", entityNumber(topic), {
      payer,
      validStart,
      maxFee: 10_000_000n,
      chargedFee: FEE_TINYBARS,
      memo: Buffer.from(memo).toString("base64"),
    });
  };
}
