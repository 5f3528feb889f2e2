import { z } from "zod";
import { explorerUrl, publicMirrorUrl } from "../../addresses.ts";
import type { CollectionSetting, With } from "../../config.ts";
import { exportSettings } from "../../journal/export-settings.ts";
import { record } from "../openapi.ts";

const text = z.string();
const topic = text.nullable();
const collection = z.strictObject({
  id: text.describe("Ledger id, 0.0.n."),
  key: text.describe("Its name in a message's `holdings`."),
});

/** What a voting client needs to know before it asks anything else (contract, section 3). */
export const clientConfig = record("Config", {
  network: z.enum(["local", "testnet", "mainnet", "previewnet"]),
  chainId: text.describe("As the text to sign names it, `hedera:<network>`."),
  publicUrl: text,
  mirrorNodeUrl: text.nullable().describe("Null where its address may hold an access key."),
  explorerUrl: text.nullable().describe("Base of the explorer's pages."),
  topics: z.strictObject({ event: topic, asset: topic }),
  collections: z.strictObject({ a: collection, b: collection }),
  demoWallets: z.boolean().describe("Whether this machine's demo wallets may sign in."),
  walletConnectProjectId: text.nullable(),
});
export type ClientConfig = z.output<typeof clientConfig>;

/** @param given.publicUrl where clients find us */
export function clientConfigOf(given: {
  readonly settings: Readonly<With<CollectionSetting | "MIRROR_NODE_URL">>;
  readonly publicUrl: string;
  readonly demoWallets?: boolean;
}): ClientConfig {
  const { settings, publicUrl, demoWallets = false } = given;
  const { network, topics, collections } = exportSettings(settings);
  return {
    network,
    chainId: `hedera:${network}`,
    publicUrl: publicUrl.replace(/\/+$/, ""),
    mirrorNodeUrl: publicMirrorUrl(settings),
    explorerUrl: explorerUrl(settings),
    topics,
    collections,
    demoWallets,
    walletConnectProjectId: settings.WALLETCONNECT_PROJECT_ID ?? null,
  };
}
