import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { ed25519Key } from "../../../src/local/hedera/keys.ts";
import type { Ledger } from "../../../src/local/hedera/ledger.ts";
import type { LocalHederaOptions } from "../../../src/local/hedera/start.ts";
import { type LocalHedera, startLocalHedera } from "../../support/local-hedera.ts";

/** An account whose key the test holds. */
export interface Holder {
  readonly id: string;
  readonly privateKey: KeyObject;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

/** A local network in memory, with an account that pays. */
export interface TestNetwork {
  readonly hedera: LocalHedera;
  readonly operator: Holder;
  /** Asks the mirror node; the body is parsed. */
  get(path: string): Promise<{ status: number; headers: Headers; body: Body }>;
  close(): Promise<void>;
}

/** Any JSON that the mirror node answers; tests look at the fields they are about. */
// biome-ignore lint/suspicious/noExplicitAny: the shapes are the OpenAPI document's affair
export type Body = any;

export async function testNetwork(options: Partial<LocalHederaOptions> = {}): Promise<TestNetwork> {
  const hedera = await startLocalHedera({ now: Date.now, consensusDelayMs: 0, ...options });
  const operator = await newHolder(hedera);
  return {
    hedera,
    operator,
    async get(path) {
      const answer = await fetch(`${hedera.mirrorUrl}/api/v1${path}`);
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
    close: () => hedera.close(),
  };
}

export async function newHolder({ ledger }: { readonly ledger: Ledger }): Promise<Holder> {
  const { privateKey, publicKey: key } = generateKeyPairSync("ed25519");
  const publicKey = rawPublicKey(key);
  return {
    id: await ledger.createAccount({ key: ed25519Key(publicKey) }),
    privateKey,
    publicKey,
  };
}

/** The last 32 bytes of its DER form. */
export function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: "der", type: "spki" }).subarray(-32);
}
