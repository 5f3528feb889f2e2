import { generateKeyPairSync } from "node:crypto";
import { ed25519Key } from "../../src/local/hedera/keys.ts";
import { startLocalHedera } from "../../src/local/hedera/start.ts";
import { takeOrders } from "./observe.ts";

/** Where the ledger keeps its file. */
export interface LedgerOrder {
  readonly folder: string;
}

/** What a worker knows of the ledger. */
export type LedgerSettings = Readonly<Record<string, string>>;

/** A consensus as fast as the emulator can have it: what is measured is the worker. */
const CONSENSUS_DELAY_MS = 0;

takeOrders(async ({ folder }: LedgerOrder): Promise<LedgerSettings> => {
  const hedera = await startLocalHedera({
    folder,
    now: Date.now,
    consensusDelayMs: CONSENSUS_DELAY_MS,
  });
  const { ledger } = hedera;
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const submitKey = ed25519Key(publicKey.export({ format: "der", type: "spki" }).subarray(-32));
  const treasury = await ledger.createAccount({ key: null });
  return {
    MIRROR_NODE_URL: hedera.mirrorUrl,
    HEDERA_NODES: hedera.nodes.map(({ address, account }) => `${address}=${account}`).join(","),
    HEDERA_OPERATOR_ID: await ledger.createAccount({ key: submitKey }),
    HEDERA_OPERATOR_KEY: privateKey.export({ format: "der", type: "pkcs8" }).toString("hex"),
    EVENT_VOTES_TOPIC_ID: await ledger.createTopic({ submitKey }),
    ASSET_VOTES_TOPIC_ID: await ledger.createTopic({ submitKey }),
    COLLECTION_A_ID: await ledger.createCollection({ treasury, name: "A", symbol: "A" }),
    COLLECTION_A_KEY: "alpha",
    COLLECTION_B_ID: await ledger.createCollection({ treasury, name: "B", symbol: "B" }),
    COLLECTION_B_KEY: "beta",
  };
});
