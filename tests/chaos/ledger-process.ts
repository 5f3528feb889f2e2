import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLocalHedera } from "../../src/local/hedera/start.ts";
import { newKey } from "../support/service.ts";
import type { LedgerOrder, LedgerPlace, LedgerWallet } from "./ledger.ts";

/**
 * The ledger, in a process that chaos never touches: it holds what really happened. Its folder
 * keeps it from run to run.
 */
const [folder = "", offset = "0"] = process.argv.slice(2);
let offsetMs = Number(offset);
const { ledger, nodes, mirrorUrl, close } = await startLocalHedera({
  folder,
  now: () => Date.now() + offsetMs,
});
const file = join(folder, "place.json");
if (!existsSync(file)) writeFileSync(file, JSON.stringify(await makePlace()));
const kept = JSON.parse(readFileSync(file, "utf8")) as Omit<LedgerPlace, "mirrorUrl" | "nodes">;
const place: LedgerPlace = {
  ...kept,
  mirrorUrl,
  nodes: nodes.map(({ address, account }) => ({ address, account })),
};

async function makePlace(): Promise<typeof kept> {
  const operator = newKey("ed25519");
  const treasury = await ledger.createAccount({ key: null });
  const submitKey = operator.publicKey;
  return {
    operatorId: await ledger.createAccount({ key: submitKey }),
    operatorKey: operator.key,
    collectionA: await ledger.createCollection({ treasury, name: "A", symbol: "A" }),
    collectionB: await ledger.createCollection({ treasury, name: "B", symbol: "B" }),
    topics: {
      event: await ledger.createTopic({ submitKey }),
      asset: await ledger.createTopic({ submitKey }),
    },
  };
}

async function makeWallet(a: number, b: number): Promise<LedgerWallet> {
  const { publicKey, key } = newKey("ed25519");
  const id = await ledger.createAccount({ key: publicKey });
  const [A, B] = [
    a > 0 ? await ledger.mint(kept.collectionA, { count: a, to: id }) : [],
    b > 0 ? await ledger.mint(kept.collectionB, { count: b, to: id }) : [],
  ];
  return { id, type: "ed25519", key, A, B };
}

async function work(order: LedgerOrder): Promise<unknown> {
  switch (order.do) {
    case "wallets":
      return Promise.all(order.holdings.map(({ a, b }) => makeWallet(a, b)));
    case "time":
      offsetMs = order.offsetMs;
      return ledger.closeBlock();
    case "transfer":
      await ledger.transfer(
        order.collection === "A" ? kept.collectionA : kept.collectionB,
        order.serial,
        order.to,
      );
      return ledger.closeBlock();
  }
}

process.on("message", ({ id, order }: { id: number; order: LedgerOrder }) => {
  void work(order).then(
    (result) => process.send?.({ id, result }),
    (error: Error) => process.send?.({ id, error: error.message }),
  );
});
// A signal to all of a run's processes (Ctrl-C, `timeout`) ends its faults; the ledger stays to the
// end.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
process.on("disconnect", () => void close().finally(() => process.exit()));
process.send?.({ id: 0, result: place });
