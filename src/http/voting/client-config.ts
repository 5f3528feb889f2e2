import { z } from "zod";
import { explorerUrl, publicMirrorUrl } from "../../addresses.ts";
import type { With } from "../../config.ts";

const text = z.string();
const topic = text.nullable();
const collection = z.strictObject({
  id: text.describe("Ledger id, 0.0.n."),
  key: text.describe("Its name in a message's `holdings`."),
});

/** What a voting client needs to know before it asks anything else (contract, section 3). */
export const clientConfig = z
  .strictObject({
    network: z.enum(["local", "testnet", "mainnet", "previewnet"]),
    chainId: text.describe("As the text to sign names it, `hedera:<network>`."),
    publicUrl: text,
    mirrorNodeUrl: text.nullable().describe("Null where its address may hold an access key."),
    explorerUrl: text.nullable().describe("Base of the explorer's pages."),
    topics: z.strictObject({ event: topic, asset: topic }),
    collections: z.strictObject({ a: collection, b: collection }),
    demoWallets: z.boolean().describe("Whether this machine's demo wallets may sign in."),
    walletConnectProjectId: text.nullable(),
  })
  .meta({ id: "Config" });
export type ClientConfig = z.output<typeof clientConfig>;

type Needed =
  | "MIRROR_NODE_URL"
  | "COLLECTION_A_ID"
  | "COLLECTION_A_KEY"
  | "COLLECTION_B_ID"
  | "COLLECTION_B_KEY";

/** @param given.publicUrl where clients find us */
export function clientConfigOf(given: {
  readonly settings: Readonly<With<Needed>>;
  readonly publicUrl: string;
  readonly demoWallets?: boolean;
}): ClientConfig {
  const { settings, publicUrl, demoWallets = false } = given;
  const network = settings.HEDERA_NETWORK;
  return {
    network,
    chainId: `hedera:${network}`,
    publicUrl: withoutSlash(publicUrl),
    mirrorNodeUrl: publicMirrorUrl(settings),
    explorerUrl: explorerUrl(settings),
    topics: {
      event: settings.EVENT_VOTES_TOPIC_ID ?? null,
      asset: settings.ASSET_VOTES_TOPIC_ID ?? null,
    },
    collections: {
      a: { id: settings.COLLECTION_A_ID, key: settings.COLLECTION_A_KEY },
      b: { id: settings.COLLECTION_B_ID, key: settings.COLLECTION_B_KEY },
    },
    demoWallets,
    walletConnectProjectId: settings.WALLETCONNECT_PROJECT_ID ?? null,
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
