import { openLedger } from "../../src/local/hedera/ledger.ts";
import { startMirrorNode } from "../../src/local/hedera/mirror-node.ts";
import { takeOrders } from "./observe.ts";
import { FIRST_WALLET, serialsOf } from "./workloads.ts";

/** How many wallets the ledger has, from `FIRST_WALLET` on. */
export interface MirrorOrder {
  readonly wallets: number;
}

/** Where the mirror node is, and what the wallets' NFTs are of. */
export interface MirrorSettings {
  readonly url: string;
  readonly collectionA: string;
  readonly collectionB: string;
}

const NFTS_MINTED_AT_ONCE = 1_000;

/** The local ledger's mirror node in a process of its own, as a public one would be elsewhere. */
takeOrders(async ({ wallets }: MirrorOrder): Promise<MirrorSettings> => {
  const ledger = await openLedger({ now: Date.now });
  const mirror = await startMirrorNode(ledger);
  process.once("SIGTERM", async () => {
    await mirror.close();
    await ledger.close();
    process.exit(0);
  });
  const treasury = await ledger.createAccount({ key: null });
  const collectionA = await ledger.createCollection({ treasury, name: "A", symbol: "A" });
  const collectionB = await ledger.createCollection({ treasury, name: "B", symbol: "B" });
  for (let minted = 0; minted < 2 * wallets; minted += NFTS_MINTED_AT_ONCE) {
    await ledger.mint(collectionA, { count: NFTS_MINTED_AT_ONCE });
  }
  for (let wallet = FIRST_WALLET; wallet < FIRST_WALLET + wallets; wallet += 1) {
    const id = await ledger.createAccount({ num: wallet, key: null });
    await ledger.transfer(collectionA, serialsOf(wallet), id);
  }
  return { url: mirror.url, collectionA, collectionB };
});
