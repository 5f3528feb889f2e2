import type { Hono } from "hono";
import { dayOf } from "../../../actors/day.ts";
import { createApp } from "../../../src/http/app.ts";
import { type FastPath, fastPath } from "../../../src/http/fast-path/fast-path.ts";
import { clientAddress } from "../../../src/http/middleware/client-address.ts";
import { publicApi } from "../../../src/http/v1/api.ts";
import { issueKey } from "../../../src/keys/api-keys.ts";
import { keyVerifier } from "../../../src/keys/verify-key.ts";
import { type Logger, silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import type { Redis } from "../../../src/store/redis.ts";
import { testDatabase } from "../../support/postgres.ts";

/** The instant at which the tests' clock stands until it is set. */
export const NOW = Date.UTC(2026, 10, 20, 8, 30);
export const EVENT_SOURCES = ["SOURCE_A", "SOURCE_B"];

/** Tests fill the database by the API's own pool; large imports take a busy machine seconds. */
const FILL_WITHIN_MS = 60_000;

export interface FakeClock {
  now(): number;
  set(at: number): void;
}

export function fakeClock(at = NOW): FakeClock {
  let current = at;
  return {
    now: () => current,
    set(next) {
      current = next;
    },
  };
}

/** The public API over a database of its own, with one key issued. */
export interface House {
  readonly app: Hono;
  readonly sql: Sql;
  readonly clock: FakeClock;
  readonly key: string;
  /** Ids of keys, as often as each was used. */
  readonly used: string[];
  /** GETs a path below `/v1` with the key. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** The same, as JSON; fails unless the status is 200. */
  json(path: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface HouseOptions {
  readonly redis?: Redis | undefined;
  readonly rateLimit?: number;
  readonly log?: Logger;
  readonly trustedProxies?: readonly string[];
  readonly eventSources?: readonly string[];
}

export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 4, statementTimeoutMs: FILL_WITHIN_MS });
  const clock = fakeClock();
  const used: string[] = [];
  const app = createHouse({ sql, clock, used, ...options });
  const { key } = await issueKey(sql, "tests");
  const get: House["get"] = async (path, headers = {}) =>
    app.request(
      `/v1${path}`,
      { headers: { Authorization: `Bearer ${key}`, ...headers } },
      from("192.0.2.1"),
    );
  return {
    app,
    sql,
    clock,
    key,
    used,
    get,
    async json(path) {
      const response = await get(path);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
    async close() {
      await sql.end();
      await database.close();
    },
  };
}

type Given = { sql: Sql; clock: FakeClock; used?: string[] } & HouseOptions;

/** The house over given parts, for tests that need several of one database. */
export function createHouse(given: Given): Hono {
  return createServed(given).app;
}

/** The same with its fast path, for a server. */
export function createServed(given: Given): { app: Hono; fastPath: FastPath } {
  const { sql, clock, redis, used = [] } = given;
  const metrics = createMetrics();
  const api = publicApi({
    sql,
    clock,
    redis,
    metrics,
    eventSources: given.eventSources ?? EVENT_SOURCES,
    verifyKey: keyVerifier(sql, (id) => used.push(id)),
    client: clientAddress(given.trustedProxies ?? []),
    rateLimit: given.rateLimit ?? 1_000_000,
    publicUrl: "https://api.example.org/",
  });
  const common = { log: given.log ?? silentLogger, metrics, now: Date.now };
  const app = createApp({ ...common, mounts: [{ path: "/", app: api.app }] });
  return { app, fastPath: fastPath(api.find, common) };
}

/** What the server passes along for a request that came from an address. */
export function from(remoteAddress: string): object {
  return { incoming: { socket: { remoteAddress } } };
}

/** The JSON object that a reply holds. */
export async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  return JSON.parse(await response.text());
}

/** Adds stars to the counters as the journal does, without the journal. */
export async function giveStars(
  sql: Sql,
  star: {
    type: "event" | "token" | "collection" | "project";
    id: string;
    at: number;
    weight: number;
  },
): Promise<void> {
  const { type, id, at, weight } = star;
  if (type === "event") {
    await sql`insert into event_total as total values (${id}, ${weight}, 1)
      on conflict (event_id) do update set weight = total.weight + excluded.weight, stars = total.stars + 1`;
    return;
  }
  await sql`insert into item_day as total values (${type}, ${id}, ${dayOf(at)}, ${weight}, 1)
    on conflict (day, target_type, target_id)
    do update set weight = total.weight + excluded.weight, stars = total.stars + 1`;
  await sql`insert into item_hour as total values (${type}, ${id}, ${Math.floor(at / 3_600_000)}, ${weight}, 1)
    on conflict (target_type, target_id, hour)
    do update set weight = total.weight + excluded.weight, stars = total.stars + 1`;
}
