import { type TargetRecord, type TargetType, targetOf } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import type { Holdings } from "../../actors/weight.ts";
import { type FollowedClock, followClock } from "../../src/clock.ts";
import type { Snapshots } from "../../src/hosting/snapshots.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import type { DecidedStar } from "../../src/journal/star-record.ts";
import { openPostgres, readDatabaseClock, type Sql } from "../../src/store/postgres.ts";
import { type CastResult, castStar } from "../../src/voting/cast-star.ts";
import { createEngine } from "../../src/voting/engine.ts";

/** One web process' voting engine, without HTTP and with holdings given. */
export interface Engine {
  readonly sql: Sql;
  readonly clock: FollowedClock;
  /** What wallets hold; nothing unless set. */
  readonly holdings: Map<string, Pick<Holdings, "collectionA" | "collectionB">>;
  /** Called at each reading of holdings, between the early refusal and the turn. */
  beforeTurn: (wallet: string) => Promise<void>;
  cast(wallet: string, target: string, idempotencyKey?: string): Promise<CastResult>;
  readonly parts: ReturnType<typeof createEngine>;
  /** What machine and journal judged otherwise. */
  readonly contradictions: Error[];
  /** Where each wallet's day came from. */
  readonly opened: string[];
  /** How many batches of stars were sent to the journal. */
  batches: number;
  close(): Promise<void>;
}

/** As with Redis away: nothing is restored. */
export const NO_SNAPSHOTS: Snapshots = {
  read: async () => null,
  write: () => undefined,
  settled: async () => undefined,
};

/** A test's own statements may store thousands of rows on a busy machine. */
export const SEEDED_WITHIN_MS = 60_000;

/** A clock that goes on from an instant: by one that stands still, a slow machine's stars are soon too late. */
export function goingFrom(instant: number): () => number {
  const startedAt = performance.now();
  return () => instant + Math.floor(performance.now() - startedAt);
}

/** Starts an engine on a migrated database. */
export async function startEngine(
  url: string,
  snapshots: Snapshots = NO_SNAPSHOTS,
): Promise<Engine> {
  const sql = openPostgres(url, { connections: 4, statementTimeoutMs: SEEDED_WITHIN_MS });
  const writer = openPostgres(url, { connections: 4, writer: true });
  const clock = await followClock(
    () => readDatabaseClock(sql),
    () => undefined,
  );
  const holdings: Engine["holdings"] = new Map();
  const contradictions: Error[] = [];
  const opened: string[] = [];
  const engine: Engine = {
    contradictions,
    opened,
    batches: 0,
    sql,
    clock,
    holdings,
    beforeTurn: () => Promise.resolve(),
    parts: createEngine({
      sql,
      writer,
      clock,
      collectionKeys: { a: "alpha", b: "beta" },
      readHoldings: async (wallet) => {
        await engine.beforeTurn(wallet);
        const held = holdings.get(wallet) ?? { collectionA: [], collectionB: [] };
        return { ...held, readAt: clock.now() };
      },
      hasTaken: async (wallet, { collection, serial }) =>
        holdings.get(wallet)?.[`collection${collection}`].includes(serial) ?? false,
      onAccepted: () => undefined,
      onContradiction: (error) => contradictions.push(error),
      onOpen: (source) => opened.push(source),
      onBatch: () => {
        engine.batches += 1;
      },
      snapshots,
    }),
    cast: (wallet, target, idempotencyKey) => {
      const [type, id] = target.split("/") as [TargetType, string];
      return castStar(engine.parts.casting, {
        voter: { wallet },
        target: { type, id },
        idempotencyKey: idempotencyKey ?? null,
      });
    },
    async close() {
      clock.stop();
      await engine.parts.settled();
      await Promise.all([sql.end({ timeout: 1 }), writer.end({ timeout: 1 })]);
    },
  };
  return engine;
}

/** Approved records: events `meetup`, `hack`, forever mint `mint`, tokens, a collection, a project. */
export async function seedDirectory(sql: Sql): Promise<void> {
  await sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, ends_at, created_at, approved_at)
    values ('meetup', 'Meetup', 'ECOSYSTEM_MEETUP', false, 0, 4102444800000, 0, 0),
      ('hack', 'Hackathon', 'HACKATHON', false, 0, 1, 0, 0),
      ('mint', 'Forever', 'MINT_EVENT', true, 0, null, 0, 0),
      ('hidden', 'Not approved', 'OTHER', false, 0, 1, 0, null)`;
  await sql`
    insert into token (id, symbol, name, created_at, approved_at)
    select '0.0.' || n, 'T' || n, 'Token ' || n, 0, 0 from generate_series(9001, 9040) n`;
  await sql`insert into collection (id, name, created_at, approved_at) values ('0.0.8001', 'Cats', 0, 0)`;
  await sql`
    insert into project (id, slug, name, category, ledger_id, created_at, approved_at)
    values ('dex', 'dex', 'Dex', 'DEFI', '0.0.7001', 0, 0), ('wiki', 'wiki', 'Wiki', 'DATA', null, 0, 0)`;
}

/** The body of an accepted or replayed star. */
export function bodyOf(result: CastResult) {
  if (result.kind === "refused") throw new Error(`refused: ${result.decision.code}`);
  return JSON.parse(result.body) as {
    star: { id: string; weight: number; votingPower: number; day: string; at: string };
    allowance: { limit: number; used: number; remaining: number };
    counter: { totalVotes: number };
  };
}

/** The code of a refusal; "accepted" or "replayed" otherwise. */
export function verdictOf(result: CastResult): string {
  return result.kind === "refused" ? result.decision.code : result.kind;
}

/** The id of a wallet's newest star: what its next one is decided after; null without one. */
export async function lastStarOf(sql: Sql, wallet: number): Promise<string | null> {
  const [last] = await sql<{ id: string }[]>`
    select id from star where wallet = ${wallet} order by day desc, slot desc limit 1`;
  return last?.id ?? null;
}

/** A decided star on a token, as the turn would hand it to the journal. */
export function decidedStar(change: {
  wallet: string;
  now: number;
  slot?: number;
  follows?: string | null;
  target?: TargetRecord;
  claims?: DecidedStar["claims"];
}): DecidedStar {
  const target = targetOf(
    change.target ?? { type: "token", id: "0.0.9001", eventKind: null, ledgerId: null },
  );
  const counted = change.claims?.a.length ?? 0;
  return {
    star: {
      id: newStarId(change.now),
      wallet: change.wallet,
      day: dayOf(change.now),
      slot: change.slot ?? 1,
      at: change.now,
      target,
      holdings: { collectionA: change.claims?.a ?? [], collectionB: [], readAt: change.now },
      votingPower: 1 + counted,
      weight: 1 + counted,
      breakdown: { base: 1, collectionA: counted, collectionB: 0 },
      limit: 5,
      seasonId: null,
      rules: 1,
    },
    follows: change.follows ?? null,
    claims: change.claims ?? null,
    releases: 0,
    ends: [],
    message: `{"wallet":"${change.wallet}"}`,
    idempotency: null,
  };
}
