import { DAY_MS, dayOf } from "../../actors/day.ts";
import { recordTypes } from "../../src/catalogue/record-type.ts";
import type { SigningWallet } from "../../src/cli/demo-wallet.ts";
import { formToken } from "../../src/http/console/forms.ts";
import { issueKey, revokeKey } from "../../src/keys/api-keys.ts";
import { addOperator, ROLES } from "../../src/keys/operators.ts";
import { createHederaTopic } from "../../src/ledger/hedera-topic.ts";
import type { Topic } from "../../src/ledger/topic.ts";
import { ed25519Key } from "../../src/local/hedera/keys.ts";
import type { Logger } from "../../src/log.ts";
import { closeRedis, connectRedis, type Redis } from "../../src/store/redis.ts";
import { startExportsUpkeep } from "../../src/upkeep/finalize-exports.ts";
import { signInOperator } from "../http/console/browser-session.ts";
import { newHolder } from "../local/hedera/network.ts";
import { SETTINGS } from "../support/export-rig.ts";
import { seedDay } from "../support/export-seed.ts";
import { cast, newWallet, type Service, signIn, startService } from "../support/service.ts";

/** A wallet that is signed in. */
export interface Voter extends SigningWallet {
  readonly token: string;
}

/** What requests may use: real keys, sessions and tokens beside those that were revoked. */
export interface World {
  readonly service: Service;
  readonly key: string;
  readonly revokedKey: string;
  readonly voters: readonly Voter[];
  /** Voters whose mirror answers are spoilt, each used by one request at a time. */
  readonly struck: Voter[];
  /** Wallets that sign in again and again. */
  readonly signers: readonly SigningWallet[];
  /** One per role, and the one of the environment. */
  readonly operatorTokens: readonly string[];
  readonly metricsToken: string;
  /** Signed in to the console, one per role. */
  readonly consoles: readonly { readonly cookie: string; readonly formToken: string }[];
  readonly starIds: readonly string[];
  readonly today: string;
  /** A day whose export is final. */
  readonly finalDay: string;
  readonly redis: Redis;
  readonly topic: Topic;
  readonly topicId: string;
  /** What must stand in no log, and in no reply to others. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

const OPERATOR_TOKEN = "operator-token-canary-of-the-fuzz";
const METRICS_TOKEN = "metrics-token-canary-of-the-fuzz";
const LIMIT = "1000000";
const STARS_OF_FINAL_DAY = 200;
/** As many requests are under way at once. */
export const STRUCK = 64;
/** Nodes of this machine answer in milliseconds; a call that is dropped costs as much. */
const CALL_DEADLINE_MS = 300;

export async function openWorld(log: Logger, voterCount: number): Promise<World> {
  const service = await startService(
    {
      OPERATOR_TOKEN,
      METRICS_TOKEN,
      TRUSTED_PROXIES: "127.0.0.0/8,::1",
      API_RATE_LIMIT: LIMIT,
      VOTING_RATE_LIMIT: LIMIT,
      EVENT_SOURCES: "SOURCE_A,SOURCE_B",
    },
    { log },
  );
  const { sql, hedera } = service;
  const { key } = await issueKey(sql, "fuzz");
  const revoked = await issueKey(sql, "revoked");
  await revokeKey(sql, revoked.id);
  const voters = await signInVoters(service, voterCount);
  const struck = await signInVoters(service, STRUCK);
  const signers = await Promise.all(
    (["ed25519", "ecdsa", "ed25519", "ecdsa"] as const).map((type) => newWallet(service, { type })),
  );
  const operators = await Promise.all(
    ROLES.map((role) => addOperator(sql, { name: `fuzz ${role}`, role })),
  );
  const operatorTokens = [...operators.map(({ token }) => token), OPERATOR_TOKEN];
  const consoles = await Promise.all(
    operatorTokens.map(async (token) => {
      const { cookie } = await signInOperator(service, "Ada", token);
      return { cookie, formToken: formToken(cookie.slice(cookie.indexOf("=") + 1)) };
    }),
  );
  const starIds = await Promise.all(
    ["event/mint", "event/meetup", "token/0.0.9001", "project/dex"].map(async (target, index) => {
      const { body } = await cast(service, voters[index]?.token ?? "", target);
      return String(body.star.id);
    }),
  );
  const payer = await newHolder(hedera);
  const topicId = await hedera.ledger.createTopic({ submitKey: ed25519Key(payer.publicKey) });
  const topic = await createHederaTopic({
    network: "local",
    nodes: hedera.nodes,
    operatorId: payer.id,
    operatorKey: payer.privateKey.export({ format: "der", type: "pkcs8" }).toString("hex"),
    callDeadlineMs: CALL_DEADLINE_MS,
  });
  const redis = await connectRedis(service.redisUrl);
  const finalDay = await makeFinalDay(service, log);
  return {
    service,
    key,
    revokedKey: revoked.key,
    voters,
    struck,
    signers,
    operatorTokens,
    metricsToken: METRICS_TOKEN,
    consoles,
    starIds,
    today: dayOf(Date.now()),
    finalDay,
    redis,
    topic,
    topicId,
    secrets: [
      ...[key, revoked.key, METRICS_TOKEN, ...operatorTokens],
      ...[...voters, ...struck].map(({ token }) => token),
      ...[...voters, ...struck, ...signers].map((wallet) => wallet.key),
      ...consoles.map(({ cookie }) => cookie.slice(cookie.indexOf("=") + 1)),
    ],
    async close() {
      topic.close();
      await closeRedis(redis);
      await service.close();
    },
  };
}

async function signInVoters(service: Service, count: number): Promise<Voter[]> {
  const voters: Voter[] = [];
  for (let n = 0; n < count; n += 1) {
    const type = n % 2 === 0 ? "ed25519" : "ecdsa";
    const wallet = await newWallet(service, { type, a: n % 3, b: n % 2 });
    voters.push({ ...wallet, token: await signIn(service, wallet) });
  }
  return voters;
}

/** Yesterday, with stars, as a worker makes it final. */
async function makeFinalDay({ sql }: Service, log: Logger): Promise<string> {
  const day = dayOf(Date.now() - DAY_MS);
  await seedDay(sql, day, STARS_OF_FINAL_DAY);
  const upkeep = startExportsUpkeep({ sql, log, settings: SETTINGS, everyMs: 50 });
  for (;;) {
    const [final] = await sql`select from export_day where day = ${day}`;
    if (final !== undefined) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await upkeep.close();
  return day;
}

/** Types of records, as paths and queries name them. */
export const TYPES: readonly string[] = recordTypes;
