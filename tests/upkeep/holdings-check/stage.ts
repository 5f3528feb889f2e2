import { type Clock, type FollowedClock, followClock } from "../../../src/clock.ts";
import { createHoldingsReader } from "../../../src/holdings/read-holdings.ts";
import { compareMint } from "../../../src/journal/fold-mint.ts";
import { MirrorClient, type MirrorNode } from "../../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../../src/log.ts";
import { openPostgres, readDatabaseClock, type Sql } from "../../../src/store/postgres.ts";
import {
  createHoldingsCheck,
  type HoldingsCheck,
  type HoldingsCheckDeps,
} from "../../../src/upkeep/holdings-check/check.ts";
import {
  type CheckReport,
  type CheckRun,
  reportRun,
} from "../../../src/upkeep/holdings-check/progress.ts";
import { castStar } from "../../../src/voting/cast-star.ts";
import { createEngine } from "../../../src/voting/engine.ts";
import { bodyOf, NO_SNAPSHOTS, seedDirectory } from "../../support/engine.ts";
import { type LocalHedera, startLocalHedera } from "../../support/local-hedera.ts";
import { testDatabase } from "../../support/postgres.ts";

/** A service on real parts: Postgres, a local ledger with its mirror node, stars and checks. */
export interface Stage {
  readonly url: string;
  readonly sql: Sql;
  readonly hedera: LocalHedera;
  mirror: MirrorNode;
  readonly collections: { readonly A: string; readonly B: string };
  readonly treasury: string;
  /** The check's clock, which tests may shift; stars follow the real one. */
  readonly clock: Clock & { shiftMs: number };
  /** Requests that reached the mirror node: paths with queries. */
  readonly asked: string[];
  /** A new account with so many new NFTs of each collection. */
  wallet(a?: number, b?: number): Promise<Voter>;
  /** Called when a star is decided and about to be stored. */
  beforeCommit: () => Promise<void>;
  /** A star of that wallet, with what the mirror node says it holds; answers its weight. */
  star(voter: Voter, mint?: string): Promise<number>;
  check(overrides?: Partial<HoldingsCheckDeps>): HoldingsCheck;
  /** Runs a check by hand to its end, and reads its report. */
  checkNow(overrides?: Partial<HoldingsCheckDeps>): Promise<CheckReport>;
  report(run: CheckRun): Promise<CheckReport>;
  total(mint?: string): Promise<number>;
  /** Forgets, as a restarted process does, that the mirror node failed a moment ago. */
  reconnect(): Promise<void>;
  /** What the journal's fold and the projection disagree on. */
  differences(mint?: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Voter {
  readonly id: string;
  readonly a: readonly number[];
  readonly b: readonly number[];
}

export async function setStage(): Promise<Stage> {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 6, role: "starboard_app" });
  const writer = openPostgres(database.url, {
    connections: 4,
    writer: true,
    role: "starboard_app",
  });
  const owner = openPostgres(database.url, { connections: 1 });
  await seedDirectory(owner);
  await owner.end();
  const real = await followClock(
    () => readDatabaseClock(sql),
    () => undefined,
  );
  const hedera = await startLocalHedera({ now: real.now, consensusDelayMs: 0 });
  const connect = () => new MirrorClient({ urls: [hedera.mirrorUrl], log: silentLogger });
  const treasury = await hedera.ledger.createAccount({ key: null });
  const collection = (name: string) =>
    hedera.ledger.createCollection({ treasury, name, symbol: name });
  const collections = { A: await collection("A"), B: await collection("B") };
  const clock = { shiftMs: 0, now: () => real.now() + clock.shiftMs };
  const beforeCommit = () => stage.beforeCommit();
  const cast = voting({ sql, writer, mirror: connect(), clock: real, collections, beforeCommit });
  const stage: Stage = {
    url: database.url,
    sql,
    hedera,
    mirror: connect(),
    collections,
    treasury,
    clock,
    asked: listen(hedera),
    async wallet(a = 0, b = 0) {
      const id = await hedera.ledger.createAccount({ key: null });
      const mint = (of: "A" | "B", count: number) =>
        count === 0 ? [] : hedera.ledger.mint(collections[of], { count, to: id });
      return { id, a: await mint("A", a), b: await mint("B", b) };
    },
    beforeCommit: () => Promise.resolve(),
    star: (voter, mint = "mint") => cast.star(voter.id, mint),
    check: (overrides) =>
      createHoldingsCheck({
        sql,
        mirror: stage.mirror,
        clock,
        log: silentLogger,
        collections,
        pause: () => Promise.resolve(),
        ...overrides,
      }),
    checkNow: async (overrides) => stage.report(await stage.check(overrides).runNow()),
    report: (run) => reportRun(sql, run),
    async total(mint = "mint") {
      const [row] = await sql<{ weight: number }[]>`
        select weight from event_total where event_id = ${mint}`;
      return row?.weight ?? 0;
    },
    async reconnect() {
      await stage.mirror.close();
      stage.mirror = connect();
    },
    differences: async (mint = "mint") => (await compareMint(sql, mint)).differences,
    async close() {
      real.stop();
      await cast.close();
      await stage.mirror.close();
      await hedera.close();
      await Promise.all([sql, writer].map((pool) => pool.end({ timeout: 1 })));
      await database.close();
    },
  };
  return stage;
}

/** Stars as a web process casts them. */
function voting(given: {
  readonly sql: Sql;
  readonly writer: Sql;
  readonly mirror: MirrorNode;
  readonly clock: FollowedClock;
  readonly collections: Stage["collections"];
  readonly beforeCommit: () => Promise<void>;
}) {
  const holdings = createHoldingsReader({
    mirror: given.mirror,
    collectionA: given.collections.A,
    collectionB: given.collections.B,
    excludedWallets: [],
    clock: given.clock,
    deadlineMs: 2_500,
  });
  const parts = createEngine({
    ...given,
    snapshots: NO_SNAPSHOTS,
    onContradiction: (error) => {
      throw error;
    },
    collectionKeys: { a: "alpha", b: "beta" },
    readHoldings: holdings.read,
    hasTaken: holdings.hasTaken,
    onAccepted: () => undefined,
  });
  return {
    async close() {
      await parts.settled();
      await given.mirror.close();
    },
    star: async (wallet: string, mint: string): Promise<number> => {
      const target = { type: "event", id: mint } as const;
      const commit: typeof parts.casting.commit = async (decided) => {
        await given.beforeCommit();
        return parts.casting.commit(decided);
      };
      const deps = { ...parts.casting, commit };
      const result = await castStar(deps, { voter: { wallet }, target, idempotencyKey: null });
      return bodyOf(result).star.weight;
    },
  };
}

function listen({ mirror: { faults } }: LocalHedera): string[] {
  const asked: string[] = [];
  const strike = faults.strike;
  faults.strike = (path) => {
    asked.push(path);
    return strike(path);
  };
  return asked;
}

/** A gate that a step of the check, or of a star, waits at. */
export function gate() {
  let open = (): void => undefined;
  let reached = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  /** Resolves when the work stands at the gate. */
  const arrival = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const pass = (): Promise<void> => {
    reached();
    return opened;
  };
  return { pass, arrival, open };
}

/** What a report says of a mint, in short: removed as `A/1-1` (serial and weight). */
export function brief(report: CheckReport, mint = "mint") {
  const found = report.mints.find(({ id }) => id === mint);
  if (found === undefined) throw new Error(`${mint} is not in the report`);
  return {
    removed: found.removed.map(
      ({ collection, serial, weight }) => `${collection}/${serial}-${weight}`,
    ),
    kept: found.kept,
    deferred: found.deferred.map(({ collection, serial }) => `${collection}/${serial ?? "all"}`),
  };
}
