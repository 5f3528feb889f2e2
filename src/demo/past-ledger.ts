import { renameSync, rmSync } from "node:fs";
import { DAY_MS } from "../../actors/day.ts";
import { newStarId } from "../journal/star-id.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import { demoDirectory } from "../local/demo-directory.ts";
import { type DemoLedger, settleDemoLedger } from "../local/demo-ledger.ts";
import { openLedger } from "../local/hedera/ledger.ts";
import type { State, Step } from "../local/hedera/state/state.ts";
import { addMessage } from "../local/hedera/state/topics.ts";
import { addOwnTransaction } from "../local/hedera/state/transactions.ts";
import { nanosOfMs } from "../local/hedera/timestamps.ts";
import { type CollectionKeys, type MessageStar, starMessage } from "../publishing/message.ts";
import { demoTargets, PAST_DAYS, pastStars } from "./past-stars.ts";

const CONSENSUS_AFTER_MS = 2_200;
const STARTED_BEFORE_MS = 1_500;
const FEE_TINYBARS = 666_667;

/**
 * Makes the ledger of a demo that starts for the first time, with the stars of some days on its
 * topics: everything in it has the time at which it is said to have happened. What an earlier attempt
 * left in the folder goes.
 *
 * @param given.file where the keys are kept; it comes last, so without it nothing was made
 * @param given.now epoch milliseconds
 */
export async function makePastLedger(given: {
  readonly folder: string;
  readonly file: string;
  readonly keys: CollectionKeys;
  readonly now: number;
}): Promise<void> {
  const { folder, file, keys, now } = given;
  rmSync(folder, { recursive: true, force: true });
  let time = now - (PAST_DAYS + 2) * DAY_MS;
  const ledger = await openLedger({ now: () => time, folder, blockEveryMs: 0 });
  const draft = `${file}.draft`;
  try {
    const demo = await settleDemoLedger(ledger, draft);
    const targets = demoTargets(demoDirectory(now, [demo.collectionA, demo.collectionB]));
    const holdingsOf = (wallet: string) => readHoldings(ledger.order.state, demo, wallet);
    for (const star of pastStars({ voters: demo.voters, holdingsOf, targets, now })) {
      time = star.at + CONSENSUS_AFTER_MS;
      await ledger.order.take(published(star, demo, keys));
    }
    await ledger.closeBlock();
  } finally {
    await ledger.close();
  }
  renameSync(draft, file);
}

function readHoldings({ held }: State, demo: DemoLedger, wallet: string) {
  const serials = (collection: string) =>
    held.get(entityNumber(wallet))?.get(entityNumber(collection)) ?? [];
  return { collectionA: serials(demo.collectionA), collectionB: serials(demo.collectionB) };
}

/** A star's message and its transaction, as a worker leaves them. */
function published(star: MessageStar, demo: DemoLedger, keys: CollectionKeys): Step<void> {
  const topic = entityNumber(star.target.type === "event" ? demo.eventTopic : demo.assetTopic);
  const payer = entityNumber(demo.operator.id);
  return (turn) => {
    const validStart = turn.at - nanosOfMs(STARTED_BEFORE_MS);
    const message = Buffer.from(starMessage(star, keys));
    const chunk = { payer, validStart, number: 1, total: 1 };
    addMessage(turn, topic, { payer, message, chunk });
    addOwnTransaction(turn, "CONSENSUSSUBMITMESSAGE", topic, {
      payer,
      validStart,
      maxFee: 10_000_000n,
      chargedFee: FEE_TINYBARS,
      memo: Buffer.from(newStarId(star.at)).toString("base64"),
    });
  };
}
