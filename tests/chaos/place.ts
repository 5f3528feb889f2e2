import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DAY_MS } from "../../actors/day.ts";
import { findExport, headerOf } from "../../src/journal/export-days.ts";
import type { ExportSettings } from "../../src/journal/export-settings.ts";
import { writeExport } from "../../src/journal/write-export.ts";
import { type LocalPostgres, startPostgres } from "../../src/local/postgres.ts";
import { type LocalRedis, startRedis } from "../../src/local/redis.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { seedDirectory } from "../support/engine.ts";
import { type Disk, mountDisk } from "./disk.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { type Ledger, type LedgerWallet, startLedger } from "./ledger.ts";
import { openProxy, type TcpProxy } from "./proxy.ts";

/** Everything that chaos runs on: servers of its own in one folder, and the service's processes. */
export interface Place {
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly postgres: LocalPostgres;
  readonly redis: LocalRedis;
  readonly ledger: Ledger;
  readonly disk: Disk | null;
  readonly proxies: {
    readonly postgres: TcpProxy;
    readonly redis: TcpProxy;
    readonly mirror: TcpProxy;
    readonly nodes: readonly TcpProxy[];
  };
  readonly fleet: Fleet;
  /** By no proxy; `server` is beside the service's database. */
  readonly sql: Sql;
  readonly server: Sql;
  readonly clock: WorldClock;
  /** Passes for a season without an end, now and again after each restore. */
  grantPasses(wallets: readonly LedgerWallet[]): Promise<void>;
  grantPassesAgain(): Promise<void>;
  /** The day exports of the journal from a day on, in a folder. */
  keepExports(fromDay: string): Promise<string>;
  close(): Promise<void>;
}

/** The time of ledger and database, apart from this machine's. */
export interface WorldClock {
  now(): number;
  /** Both go ahead. */
  jump(ms: number): Promise<void>;
  /** The database alone is off by so much. */
  skew(ms: number): Promise<void>;
  /** Sets the database's clock as it should be: a restored one has that of its dump. */
  apply(): Promise<void>;
}

const SEASON = "5d2f0f5e-0000-7000-8000-000000000001";
const POSTGRES_BACK_WITHIN_MS = 60_000;

/**
 * Starts everything on a folder; goes on with what earlier runs left there.
 *
 * @param preload a module loaded into each process of the service
 * @param more settings of the service beyond those of the place
 */
export async function openPlace(
  folder: string,
  preload: URL,
  more: Readonly<Record<string, string>> = {},
): Promise<Place> {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
  const closers: (() => Promise<void> | void)[] = [];
  const disk = mountDisk(folder);
  if (disk !== null) closers.unshift(() => disk.close());
  const offsetFile = join(folder, "world-clock");
  const offsetMs = existsSync(offsetFile) ? Number(readFileSync(offsetFile, "utf8")) : 0;
  const [postgres, redis, ledger] = await Promise.all([
    startPostgres({ dataDir: join(disk?.folder ?? folder, "postgres") }),
    startRedis({ dataDir: join(folder, "redis") }),
    startFolderLedger(folder, offsetMs),
  ]);
  for (const each of [postgres, redis, ledger]) closers.unshift(() => each.close());
  const open = (url: string): Sql =>
    openPostgres(url, { connections: 4, statementTimeoutMs: 60_000 });
  const sql = open(postgres.url);
  const server = open(urlOf(postgres.url, { database: "postgres" }));
  closers.unshift(() => Promise.all([sql.end({ timeout: 1 }), server.end({ timeout: 1 })]).then());
  await prepareDatabase(sql, postgres.url);
  const clock = await openClock({ sql, ledger, offsetFile, offsetMs });
  const { place } = ledger;
  const proxies = {
    postgres: await openProxy({ host: "127.0.0.1", port: postgres.port }),
    redis: await openProxy({ host: "127.0.0.1", port: redis.port }),
    mirror: await openProxy(addressOf(new URL(place.mirrorUrl).host)),
    nodes: await Promise.all(
      place.nodes.map(({ address }) => openProxy(addressOf(address), addressOf(address).host)),
    ),
  };
  const all = [proxies.postgres, proxies.redis, proxies.mirror, ...proxies.nodes];
  closers.unshift(() => Promise.all(all.map((proxy) => proxy.close())).then());
  const settings = { ...settingsOf({ postgres, redis, ledger, proxies }), ...more };
  const fleet = await startFleet({ folder, settings, preload });
  closers.unshift(() => fleet.close());
  const granted: number[] = [];
  const grant = async (wallets: readonly number[]): Promise<void> => {
    if (wallets.length === 0) return;
    const rows = wallets.map((wallet) => ({ wallet, season_id: SEASON, granted_at: 0 }));
    await sql`insert into premium_pass ${sql(rows)} on conflict do nothing`;
  };
  return {
    ...{ folder, settings, postgres, redis, ledger, disk, proxies, fleet, sql, server, clock },
    async grantPasses(wallets) {
      const numbers = wallets.map(({ id }) => Number(id.split(".")[2]));
      granted.push(...numbers);
      await patiently(() => grant(numbers));
    },
    grantPassesAgain: () => patiently(() => grant(granted)),
    keepExports: (fromDay) => keepExports(sql, join(folder, "exports"), { fromDay, ledger }),
    async close() {
      for (const closer of closers) await closer();
    },
  };
}

async function startFolderLedger(folder: string, offsetMs: number): Promise<Ledger> {
  const place = join(folder, "ledger");
  mkdirSync(place, { recursive: true });
  return startLedger(place, offsetMs);
}

async function prepareDatabase(sql: Sql, url: string): Promise<void> {
  await migrate(url);
  const [found] = await sql`select from event limit 1`;
  if (found !== undefined) return;
  await seedDirectory(sql);
  await sql`insert into season (id, name, starts_at, ends_at)
    values (${SEASON}, 'One', ${Date.now() - DAY_MS}, ${Date.now() + 3_000 * DAY_MS})`;
}

function settingsOf({
  postgres,
  redis,
  ledger: { place },
  proxies,
}: Pick<Place, "postgres" | "redis" | "ledger" | "proxies">): Readonly<Record<string, string>> {
  const nodes = place.nodes.map(({ address, account }, index) => {
    const { host } = addressOf(address);
    return `${host}:${proxies.nodes[index]?.port}=${account}`;
  });
  return {
    DATABASE_URL: urlOf(postgres.url, { port: proxies.postgres.port }),
    REDIS_URL: urlOf(redis.url, { port: proxies.redis.port }),
    MIRROR_NODE_URL: `http://127.0.0.1:${proxies.mirror.port}`,
    HEDERA_NODES: nodes.join(","),
    HEDERA_OPERATOR_ID: place.operatorId,
    HEDERA_OPERATOR_KEY: place.operatorKey,
    EVENT_VOTES_TOPIC_ID: place.topics.event,
    ASSET_VOTES_TOPIC_ID: place.topics.asset,
    COLLECTION_A_ID: place.collectionA,
    COLLECTION_A_KEY: "alpha",
    COLLECTION_B_ID: place.collectionB,
    COLLECTION_B_KEY: "beta",
    VOTING_RATE_LIMIT: "1000000",
    LOG_LEVEL: "warn",
  };
}

async function openClock(given: {
  readonly sql: Sql;
  readonly ledger: Ledger;
  readonly offsetFile: string;
  readonly offsetMs: number;
}): Promise<WorldClock> {
  const { sql, ledger, offsetFile } = given;
  let { offsetMs } = given;
  let skewMs = 0;
  const apply = (): Promise<void> =>
    patiently(async () => {
      await sql.unsafe(`
        create or replace function now_ms() returns bigint language sql volatile as $$
          select ${offsetMs + skewMs} + floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$`);
    });
  await apply();
  return {
    now: () => Date.now() + offsetMs,
    async jump(ms) {
      offsetMs += ms;
      writeFileSync(offsetFile, String(offsetMs));
      await ledger.order({ do: "time", offsetMs });
      await apply();
    },
    async skew(ms) {
      skewMs = ms;
      await apply();
    },
    apply,
  };
}

/** Repeats until Postgres takes it: it may be on its way back. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + POSTGRES_BACK_WITHIN_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await pause(50);
    }
  }
}

async function keepExports(
  sql: Sql,
  folder: string,
  { fromDay, ledger: { place } }: { readonly fromDay: string; readonly ledger: Ledger },
): Promise<string> {
  const settings: ExportSettings = {
    network: "local",
    topics: place.topics,
    collections: {
      a: { id: place.collectionA, key: "alpha" },
      b: { id: place.collectionB, key: "beta" },
    },
    excludedWallets: [],
    xpPerStar: 1,
  };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const days = await sql<{ day: string }[]>`
    select distinct day from star where day >= ${fromDay} order by day`;
  for (const { day } of days) {
    const { final } = await findExport(sql, day);
    let text = "";
    const header = final?.header ?? headerOf(day, settings, null);
    for await (const part of writeExport(sql, header, final?.sha256)) text += part;
    writeFileSync(join(folder, `${day}.ndjson`), text);
  }
  return folder;
}

function urlOf(url: string, { port, database }: { port?: number; database?: string }): string {
  const other = new URL(url);
  if (port !== undefined) other.port = String(port);
  if (database !== undefined) other.pathname = `/${database}`;
  return other.href;
}

function addressOf(address: string): { host: string; port: number } {
  const [host = "", port = ""] = address.split(":");
  return { host, port: Number(port) };
}

/** Takes a folder's disk away where a run that was killed left it mounted. */
export function forgetPlace(folder: string): void {
  const disk = resolve(folder, "disk");
  try {
    execFileSync("umount", [disk], { stdio: "ignore" });
  } catch {
    // It is not mounted, as after a run that came to its end.
  }
}
