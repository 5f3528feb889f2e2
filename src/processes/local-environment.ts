import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ownUrl } from "../addresses.ts";
import { act } from "../cli/database.ts";
import {
  ConfigurationError,
  environment,
  LEDGER_SETTINGS,
  readSettings,
  settings as settingsSchema,
} from "../config.ts";
import { fillDemo } from "../demo/first-start.ts";
import { demoTargets } from "../demo/past-stars.ts";
import { issueKey, listKeys, revokeKey } from "../keys/api-keys.ts";
import { readOperatorKey } from "../ledger/operator-key.ts";
import { demoDirectory } from "../local/demo-directory.ts";
import { FolderInUseError, lockFolder } from "../local/folder-lock.ts";
import { freePort, isFree } from "../local/free-port.ts";
import { startPostgres } from "../local/postgres.ts";
import { startRedis } from "../local/redis.ts";
import { keepSecret } from "../local/secret-file.ts";
import { silentLogger } from "../log.ts";
import { followDatabaseClock } from "../store/database-clock.ts";
import { migrate } from "../store/migrate.ts";
import { openPostgres, type Sql } from "../store/postgres.ts";
import { type CloseAtStop, ownLedger, type Variables } from "./own-ledger.ts";
import { checkAddresses, WEB_SETTINGS } from "./web-connections.ts";
import { WORKER_SETTINGS } from "./worker.ts";

/** The servers of `npm start`, and the settings that name them. */
export type LocalEnvironment = Awaited<ReturnType<typeof openLocalEnvironment>>;

const DEMO_KEY_NAME = "npm start";
/** Kept between starts, so that a signed-in operator stays so. */
const TOKEN_FILE = "operator-token";
const ENVIRONMENT_FILE = "environment.json";
/** Where a first start's Postgres listens, if no other process does. */
const POSTGRES_PORT = 5433;

/**
 * Starts what is not given: Postgres without `DATABASE_URL`, Redis without `REDIS_URL`, and
 * on the network `local` a ledger without `MIRROR_NODE_URL`; brings the schema up to date and
 * fills an empty directory with a demo.
 *
 * @param closeAtStop called with each thing that runs, in the order of their starts
 */
export async function openLocalEnvironment(closeAtStop: CloseAtStop) {
  const given = givenSettings(environment());
  const asked = readSettings(given);
  checkAddresses(asked);
  if (asked.HEDERA_OPERATOR_KEY !== undefined) readOperatorKey(asked.HEDERA_OPERATOR_KEY);
  const isLocal = asked.HEDERA_NETWORK === "local";
  const ownsLedger = isLocal && asked.MIRROR_NODE_URL === undefined;
  // Nothing here stands in for these: they are missed before a server starts or a schema changes.
  if (!ownsLedger) readSettings(given, ["MIRROR_NODE_URL", ...LEDGER_SETTINGS]);
  const folder = resolve(".starboard");
  mkdirSync(folder, { recursive: true });
  takeFolder(folder, closeAtStop);
  // Before anything names it: a URL with port 0 leads nowhere.
  if (given.PORT === undefined || asked.PORT === 0)
    given.PORT = String(await freePort(asked.PORT, asked.HOST));
  else if (!(await isFree(asked.PORT, asked.HOST))) {
    throw new ConfigurationError(
      `PORT ${asked.PORT} of ${asked.HOST} is in use; nothing is started`,
    );
  }

  const isOwn = asked.DATABASE_URL === undefined;
  const databaseUrl = asked.DATABASE_URL ?? closeAtStop(await ownPostgres(folder)).url;
  const ownRedis = async () => closeAtStop(await startRedis({ dataDir: join(folder, "redis") }));
  const redis = asked.REDIS_URL === undefined ? await ownRedis() : undefined;
  await migrate(
    databaseUrl,
    isOwn ? `remove it with \`rm -r "${folder}"\` and start again` : undefined,
  );

  const sql = openPostgres(databaseUrl, { connections: 4 });
  closeAtStop({ close: () => sql.end({ timeout: 1 }) });
  const clock = await followDatabaseClock(sql, silentLogger);
  closeAtStop({ close: async () => clock.stop() });
  const own = ownsLedger ? await ownLedger({ sql, clock, folder, given, closeAtStop }) : undefined;
  const found: Variables = {
    LOG_LEVEL: "warn",
    OPERATOR_TOKEN: keepSecret(join(folder, TOKEN_FILE)),
    DATABASE_URL: databaseUrl,
    ...(redis && { REDIS_URL: redis.url }),
    ...own?.variables,
  };
  const settings = readSettings({ ...found, ...given }, [...WEB_SETTINGS, ...WORKER_SETTINGS]);
  if (isLocal) await fillDemo({ sql, settings, clock }, own);
  return {
    folder,
    settings,
    /** The Redis of BullMQ; absent where it is the one from npm, which is not fit for it. */
    queueUrl: redis?.kind === "js-redis-server" ? undefined : settings.REDIS_URL,
    /** Who votes by themselves; none where the ledger is not our own, or they are off. */
    voters: settings.DEMO_VOTERS === "on" ? (own?.demo.voters ?? []) : [],
    targets: demoTargets(
      demoDirectory(0, [settings.COLLECTION_A_ID, settings.COLLECTION_B_ID]),
    ).map(({ type, id }) => `${type}/${id}`),
    /** With their keys, for people to vote with; absent where the ledger is not this machine's own. */
    demoWallets: own?.demo.wallets,
    /** Newly issued; the one of the last start is revoked. */
    demoKey: await issueDemoKey(sql),
    /** Where the operator's token is, in words: the token itself is never printed. */
    operatorToken: given.OPERATOR_TOKEN
      ? "OPERATOR_TOKEN of this environment"
      : `the text in ${join(folder, TOKEN_FILE)}`,
    /** Lets commands in other terminals find these servers (`.starboard/environment.json`). */
    announce(): void {
      const file = join(folder, ENVIRONMENT_FILE);
      writeFileSync(file, JSON.stringify({ ...found, ...given }, null, 2), { mode: 0o600 });
      closeAtStop({ close: async () => rmSync(file, { force: true }) });
    },
  };
}

/** Holds the folder until the stop. @throws Error saying where the other start answers */
function takeFolder(folder: string, closeAtStop: CloseAtStop): void {
  try {
    const lock = lockFolder(folder);
    closeAtStop({ close: async () => lock.release() });
    // What a killed start left says where nothing answers.
    rmSync(join(folder, ENVIRONMENT_FILE), { force: true });
  } catch (error) {
    // Where the folder only takes no lock, what is announced may be of a killed start.
    if (!(error instanceof FolderInUseError)) throw error;
    const url = announcedUrl(folder);
    throw url === undefined
      ? error
      : new Error(`${error.message}: Starboard runs there, at ${url}`);
  }
}

function announcedUrl(folder: string): string | undefined {
  try {
    return ownUrl(readSettings(JSON.parse(readFileSync(join(folder, ENVIRONMENT_FILE), "utf8"))));
  } catch {
    return undefined; // Still starting.
  }
}

/** What this environment sets of our settings; everything else of it is not ours to write down. */
function givenSettings(given: Readonly<Record<string, string | undefined>>): Variables {
  return Object.fromEntries(
    Object.entries(given).filter(
      (entry): entry is [string, string] =>
        entry[0] in settingsSchema.shape && Boolean(entry[1]?.trim()),
    ),
  );
}

function ownPostgres(folder: string) {
  return startPostgres({ dataDir: join(folder, "postgres"), port: POSTGRES_PORT });
}

async function issueDemoKey(sql: Sql): Promise<string> {
  for (const { id, name, revokedAt } of await listKeys(sql)) {
    if (name !== DEMO_KEY_NAME || revokedAt !== null) continue;
    await act({ name: "keys.revoke", subject: id, on: sql }, () => revokeKey(sql, id));
  }
  const how = { name: "keys.issue", subject: DEMO_KEY_NAME, on: sql };
  return (await act(how, () => issueKey(sql, DEMO_KEY_NAME))).key;
}
