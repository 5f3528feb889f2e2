import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { voting } from "../../packages/client/src/index.ts";
import { type SigningWallet, signerOf } from "../../src/cli/demo-wallet.ts";
import { environment, readSettings } from "../../src/config.ts";
import { freePort } from "../../src/local/free-port.ts";
import { ecdsaKey, ed25519Key } from "../../src/local/hedera/keys.ts";
import { createLogger, silentLogger } from "../../src/log.ts";
import { startWeb, type WebParts } from "../../src/processes/web.ts";
import { WEB_SETTINGS } from "../../src/processes/web-connections.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { SEEDED_WITHIN_MS, seedDirectory } from "./engine.ts";
import { type LocalHedera, startLocalHedera } from "./local-hedera.ts";
import { testDatabase } from "./postgres.ts";
import { testRedis } from "./redis.ts";

/** A whole web process on real parts: Postgres, Redis, a ledger with its mirror node. */
export interface Service {
  readonly url: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly sql: Sql;
  readonly hedera: LocalHedera;
  readonly collectionA: string;
  readonly collectionB: string;
  /** How often a publisher was woken. */
  readonly wakes: () => number;
  /** Starts another web process on the same parts, which has seen nothing yet; it ends with this one. */
  another(): Promise<{ readonly url: string }>;
  close(): Promise<void>;
}

/** Starts one; `settings` stand above those of the test. */
export async function startService(
  settings: Record<string, string> = {},
  { demoWallets, log }: Partial<Pick<WebParts, "demoWallets" | "log">> = {},
): Promise<Service> {
  const [database, redis] = await Promise.all([
    testDatabase({ migrated: true }),
    testRedis({ own: true }),
  ]);
  const sql = openPostgres(database.url, { connections: 4, statementTimeoutMs: SEEDED_WITHIN_MS });
  await seedDirectory(sql);
  const hedera = await startLocalHedera({ now: () => Date.now() });
  const treasury = await hedera.ledger.createAccount({ key: null });
  const collectionA = await hedera.ledger.createCollection({ treasury, name: "A", symbol: "A" });
  const collectionB = await hedera.ledger.createCollection({ treasury, name: "B", symbol: "B" });
  let wakes = 0;
  const start = async () =>
    startWeb(
      readSettings(
        {
          PORT: String(await freePort()),
          DATABASE_URL: database.url,
          REDIS_URL: redis.url,
          MIRROR_NODE_URL: hedera.mirrorUrl,
          COLLECTION_A_ID: collectionA,
          COLLECTION_A_KEY: "alpha",
          COLLECTION_B_ID: collectionB,
          COLLECTION_B_KEY: "beta",
          VOTING_RATE_LIMIT: "100000",
          ...settings,
        },
        WEB_SETTINGS,
      ),
      {
        log: log ?? (environment().TEST_LOG ? createLogger("warn", "test") : silentLogger),
        wake: () => {
          wakes += 1;
        },
        queueUrl: redis.url,
        demoWallets,
      },
    );
  const web = await start();
  const others: Awaited<ReturnType<typeof startWeb>>[] = [];
  return {
    url: web.url,
    databaseUrl: database.url,
    redisUrl: redis.url,
    sql,
    hedera,
    collectionA,
    collectionB,
    wakes: () => wakes,
    async another() {
      const other = await start();
      others.push(other);
      return { url: other.url };
    },
    async close() {
      await Promise.all([web, ...others].map((each) => each.close()));
      await hedera.close();
      await sql.end({ timeout: 1 });
      await Promise.all([redis.close(), database.close()]);
    },
  };
}

/** A key pair of a wallet to be. */
export function newKey(type: SigningWallet["type"]): { publicKey: Uint8Array; key: string } {
  if (type === "ecdsa") {
    const secret = secp256k1.utils.randomSecretKey();
    return {
      publicKey: ecdsaKey(secp256k1.getPublicKey(secret, true)),
      key: Buffer.from(secret).toString("hex"),
    };
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return {
    publicKey: ed25519Key(Buffer.from(x, "base64url")),
    key: privateKey.export({ format: "der", type: "pkcs8" }).toString("hex"),
  };
}

/** A wallet on the ledger that holds so many NFTs of each collection. */
export async function newWallet(
  { hedera, collectionA, collectionB }: Pick<Service, "hedera" | "collectionA" | "collectionB">,
  { type = "ed25519", a = 0, b = 0 }: { type?: SigningWallet["type"]; a?: number; b?: number } = {},
): Promise<SigningWallet> {
  const { publicKey, key } = newKey(type);
  const id = await hedera.ledger.createAccount({ key: publicKey });
  if (a > 0) await hedera.ledger.mint(collectionA, { count: a, to: id });
  if (b > 0) await hedera.ledger.mint(collectionB, { count: b, to: id });
  return { id, type, key };
}

/** A reply with its JSON body read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** Sends a request as it is; JSON where an object is given. */
export async function send(
  service: Pick<Service, "url">,
  line: string,
  {
    token,
    json,
    headers = {},
    body,
  }: {
    token?: string;
    json?: unknown;
    headers?: Record<string, string>;
    body?: NonNullable<RequestInit["body"]>;
  } = {},
): Promise<Reply> {
  const [method = "GET", path = "/"] = line.split(" ");
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(body === undefined ? {} : { body, duplex: "half" }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : undefined,
  };
}

/** Signs a wallet in over HTTP and gives its session token. @throws StarboardError for a refusal */
export async function signIn(
  service: Pick<Service, "url">,
  wallet: SigningWallet,
): Promise<string> {
  const { token = "" } = await voting({ baseUrl: service.url }).signIn(signerOf(wallet));
  return token;
}

/** A wallet that is signed in. */
export interface Voter {
  readonly id: string;
  readonly token: string;
}

/** Makes a wallet that holds so many NFTs of each collection, and signs it in. */
export async function newVoter(
  service: Service,
  nfts: { a?: number; b?: number } = {},
): Promise<Voter> {
  const wallet = await newWallet(service, nfts);
  return { id: wallet.id, token: await signIn(service, wallet) };
}

/** Casts a star over HTTP; the target as `type/id`. */
export function cast(
  service: Pick<Service, "url">,
  token: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const [type, id] = target.split("/");
  return send(service, "POST /voting/stars", { token, json: { target: { type, id } }, headers });
}
