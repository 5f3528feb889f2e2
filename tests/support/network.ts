import { freePort } from "../../src/local/free-port.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { seedDirectory } from "./engine.ts";
import { type LocalHedera, startLocalHedera } from "./local-hedera.ts";
import { testDatabase } from "./postgres.ts";
import { testRedis } from "./redis.ts";
import { newKey } from "./service.ts";

/** Everything `serve` and `work` processes need, inside the test's own process. */
export interface Network {
  /** Settings of a web process on a port of its own, and of a worker. */
  readonly settings: Readonly<Record<string, string>>;
  webSettings(): Promise<Readonly<Record<string, string>> & { readonly PORT: string }>;
  readonly sql: Sql;
  readonly hedera: LocalHedera;
  readonly collectionA: string;
  readonly collectionB: string;
  readonly topics: { readonly event: string; readonly asset: string };
  /** Stops Redis, which does not come back. */
  cutRedis(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts Postgres, Redis and a ledger with an operator, two collections and two topics.
 *
 * @param options.now the ledger's clock, epoch ms; this machine's when absent
 */
export async function startNetwork(
  options: { readonly now?: () => number } = {},
): Promise<Network> {
  const [database, redis] = await Promise.all([
    testDatabase({ migrated: true }),
    testRedis({ own: true }),
  ]);
  const sql = openPostgres(database.url, { connections: 4 });
  await seedDirectory(sql);
  const {
    hedera,
    collectionA,
    collectionB,
    topics,
    settings: onLedger,
  } = await startLedger(options);
  const settings = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    ...onLedger,
    VOTING_RATE_LIMIT: "1000000",
    LOG_LEVEL: "warn",
  };
  return {
    settings,
    webSettings: async () => ({ ...settings, PORT: String(await freePort()) }),
    sql,
    hedera,
    collectionA,
    collectionB,
    topics,
    cutRedis: () => redis.close(),
    async close() {
      await hedera.close();
      await sql.end({ timeout: 1 });
      await Promise.all([redis.close(), database.close()]);
    },
  };
}

/** The ledger of a network, and what processes need to know of it. */
export type NetworkLedger = Pick<Network, "hedera" | "collectionA" | "collectionB" | "topics"> & {
  readonly settings: Readonly<Record<string, string>>;
};

/** Starts a ledger with an operator, two collections and two topics. */
export async function startLedger(
  options: { readonly now?: () => number } = {},
): Promise<NetworkLedger> {
  const hedera = await startLocalHedera({ now: () => Date.now(), ...options });
  const { ledger } = hedera;
  const operator = newKey("ed25519");
  const operatorId = await ledger.createAccount({ key: operator.publicKey });
  const treasury = await ledger.createAccount({ key: null });
  const collectionA = await ledger.createCollection({ treasury, name: "A", symbol: "A" });
  const collectionB = await ledger.createCollection({ treasury, name: "B", symbol: "B" });
  const topics = {
    event: await ledger.createTopic({ submitKey: operator.publicKey }),
    asset: await ledger.createTopic({ submitKey: operator.publicKey }),
  };
  const settings = {
    MIRROR_NODE_URL: hedera.mirrorUrl,
    HEDERA_NODES: hedera.nodes.map(({ address, account }) => `${address}=${account}`).join(","),
    HEDERA_OPERATOR_ID: operatorId,
    HEDERA_OPERATOR_KEY: operator.key,
    EVENT_VOTES_TOPIC_ID: topics.event,
    ASSET_VOTES_TOPIC_ID: topics.asset,
    COLLECTION_A_ID: collectionA,
    COLLECTION_A_KEY: "alpha",
    COLLECTION_B_ID: collectionB,
    COLLECTION_B_KEY: "beta",
  };
  return { hedera, collectionA, collectionB, topics, settings };
}

/** A message as the ledger's mirror node shows it. */
export interface TopicMessage {
  readonly sequence: number;
  readonly text: string;
}

/** All messages of a topic, read from the mirror node alone. */
export async function messagesOf(
  { hedera }: Pick<Network, "hedera">,
  topic: string,
): Promise<TopicMessage[]> {
  const messages: TopicMessage[] = [];
  let next: string | null = `/api/v1/topics/${topic}/messages?limit=100`;
  while (next !== null) {
    const page = (await (await fetch(hedera.mirrorUrl + next)).json()) as {
      messages: { sequence_number: number; message: string }[];
      links: { next: string | null };
    };
    for (const { sequence_number: sequence, message } of page.messages) {
      messages.push({ sequence, text: Buffer.from(message, "base64").toString() });
    }
    next = page.links.next;
  }
  return messages;
}
