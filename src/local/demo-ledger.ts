import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { z } from "zod";
import { readOperatorKey } from "../ledger/operator-key.ts";
import { ecdsaKey, ed25519Key } from "./hedera/keys.ts";
import type { Ledger } from "./hedera/ledger.ts";

const walletSchema = z.object({
  id: z.string(),
  type: z.enum(["ed25519", "ecdsa"]),
  key: z.string(),
});

/** What the demo has on the local ledger: an operator, two collections, two topics, wallets, voters. */
const demoLedgerSchema = z.object({
  operator: z.object({ id: z.string(), key: z.string() }),
  collectionA: z.string(),
  collectionB: z.string(),
  eventTopic: z.string(),
  assetTopic: z.string(),
  /** For people to vote with. */
  wallets: z.array(walletSchema),
  /** They vote by themselves. A ledger of an earlier version has none. */
  voters: z.array(walletSchema).default([]),
});

export type DemoLedger = z.output<typeof demoLedgerSchema>;
export type DemoWallet = DemoLedger["wallets"][number];

interface HeldNfts {
  readonly a: number;
  readonly b: number;
}

/** NFTs each demo wallet holds: none, some of one, both, many. */
const HOLDINGS: readonly HeldNfts[] = [
  { a: 3, b: 1 },
  { a: 0, b: 0 },
  { a: 1, b: 0 },
  { a: 0, b: 2 },
  { a: 12, b: 1 },
  { a: 2, b: 0 },
  { a: 0, b: 1 },
  { a: 5, b: 0 },
];
const VOTERS: readonly HeldNfts[] = Array.from({ length: 16 }, (_, index) => ({
  a: (index * 5) % 9,
  b: index % 4 === 1 ? 1 : 0,
}));

/**
 * Creates the demo's accounts, collections and topics on the local ledger, unless they exist. The
 * private keys are kept in `file` (mode 0600), because the demo signs with them.
 */
export async function settleDemoLedger(ledger: Ledger, file: string): Promise<DemoLedger> {
  const kept = readKept(file);
  if (kept !== undefined && [kept.operator.id, kept.assetTopic].every(ledger.exists)) return kept;
  const operatorKey = newEd25519Key();
  const operator = await ledger.createAccount({ key: operatorKey.publicKey, memo: "operator" });
  const treasury = await ledger.createAccount({ key: newEd25519Key().publicKey, memo: "treasury" });
  const collectionA = await ledger.createCollection({ treasury, name: "Demo A", symbol: "DEMOA" });
  const collectionB = await ledger.createCollection({ treasury, name: "Demo B", symbol: "DEMOB" });
  const settle = async (memo: string, holdings: readonly HeldNfts[]): Promise<DemoWallet[]> => {
    const settled: DemoWallet[] = [];
    for (const [index, { a, b }] of holdings.entries()) {
      const type = index % 2 === 0 ? "ed25519" : "ecdsa";
      const { publicKey, privateKey } = type === "ed25519" ? newEd25519Key() : newEcdsaKey();
      const id = await ledger.createAccount({ key: publicKey, memo });
      if (a > 0) await ledger.mint(collectionA, { count: a, to: id });
      if (b > 0) await ledger.mint(collectionB, { count: b, to: id });
      settled.push({ id, type, key: privateKey });
    }
    return settled;
  };
  const wallets = await settle("demo wallet", HOLDINGS);
  const topic = (memo: string) => ledger.createTopic({ submitKey: operatorKey.publicKey, memo });
  const settled: DemoLedger = {
    operator: { id: operator, key: operatorKey.privateKey },
    collectionA,
    collectionB,
    eventTopic: await topic("Starboard event stars"),
    assetTopic: await topic("Starboard asset stars"),
    wallets,
    voters: await settle("demo voter", VOTERS),
  };
  writeFileSync(file, JSON.stringify(settled, null, 2), { mode: 0o600 });
  return settled;
}

/** The demo's ledger of an earlier start; undefined when there is none. */
export function readKept(file: string): DemoLedger | undefined {
  try {
    return demoLedgerSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

interface NewKey {
  /** Protobuf `Key`. */
  readonly publicKey: Uint8Array;
  /** Hex: PKCS #8 DER for ED25519, the raw scalar for ECDSA. */
  readonly privateKey: string;
}

function newEd25519Key(): NewKey {
  const der = generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" });
  const privateKey = der.toString("hex");
  return { publicKey: ed25519Key(readOperatorKey(privateKey).publicKey), privateKey };
}

function newEcdsaKey(): NewKey {
  const privateKey = Buffer.from(secp256k1.utils.randomSecretKey()).toString("hex");
  return { publicKey: ecdsaKey(readOperatorKey(`0x${privateKey}`).publicKey), privateKey };
}
