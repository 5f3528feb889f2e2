import { createClient } from "redis";
import { openPostgres } from "../../src/store/postgres.ts";
import type { Checkout } from "./checkout.ts";
import { type Child, launch } from "./children.ts";
import type { LoadOrder, LoadReport } from "./load.ts";
import { cpuOfTree } from "./machine.ts";
import type { Usage } from "./observe.ts";
import { Figures } from "./report.ts";
import type { Workload } from "./workloads.ts";
import { type Database, startWorld, type World } from "./world.ts";

/** How long and how often; given on the command line. */
export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  /** Tiny sizes: shows that everything runs, measures nothing. */
  readonly quick: boolean;
  /** Folder for CPU profiles of the servers under test. */
  readonly profileInto: string | undefined;
  /** Only candidates whose name holds this. */
  readonly only: string | undefined;
  /** Measures what a user could take instead as well; its packages are installed for it. */
  readonly peers: boolean;
  /** An older tree, measured alternately with this one. */
  readonly against: Checkout | undefined;
}

/** What every measurement of a benchmark shares. */
export interface Bench {
  readonly options: Options;
  readonly world: World;
  readonly load: Child;
  readonly figures: Figures;
  readonly note: (line: string) => void;
  close(): Promise<void>;
}

export async function startBench(options: Options): Promise<Bench> {
  const world = await startWorld();
  const load = await launch({
    entry: new URL("./load.ts", import.meta.url),
    takesOrders: true,
  });
  return {
    options,
    world,
    load,
    figures: new Figures(),
    note: (line) => process.stderr.write(`${line}\n`),
    close: async () => {
      await load.stop();
      await world.close();
    },
  };
}

/** One or several processes that answer the same requests on one database. */
export interface Candidate {
  readonly urls: readonly string[];
  readonly processes: readonly Pick<Child, "pid" | "usage">[];
  readonly database: Database | undefined;
  /** A mirror node that works for it on the same machine. */
  readonly mirror?: Child;
}

export interface Phase {
  /** Of its figures: `<name> /s`, `<name> p50 ms`, … */
  readonly name: string;
  readonly workload: Workload;
  readonly connections: number;
  /** Status of the replies that count; all others are reported beside them. */
  readonly status: string;
  /** Wallets that are signed in: the workload ends before it runs out of them. */
  readonly wallets: number;
  /** Number of the first request; the answer is where it ended. */
  readonly from: number;
  readonly seconds?: number;
}

const WARM_UP_SHARE = 0.25;
/** A server just started compiles what it runs for some ten seconds: its first phase warms up longer. */
const FIRST_WARM_UP_SHARE = 1;
const measured = new WeakSet<Candidate>();

/** Warms up, measures, and keeps the figures of one phase. */
export async function measure(bench: Bench, candidate: Candidate, phase: Phase): Promise<number> {
  const seconds = phase.seconds ?? bench.options.seconds;
  const order = (from: number, duration: number): LoadOrder => ({
    urls: candidate.urls,
    connections: phase.connections,
    seconds: duration,
    requests: Math.max(0, phase.wallets - from),
    from,
    workload: phase.workload,
  });
  const share = measured.has(candidate) ? WARM_UP_SHARE : FIRST_WARM_UP_SHARE;
  measured.add(candidate);
  const warmUp = await bench.load.ask<LoadReport>(order(phase.from, seconds * share));
  const from = phase.from + warmUp.answered;
  const before = await readMeters(bench, candidate);
  const report = await bench.load.ask<LoadReport>(order(from, seconds));
  const after = await readMeters(bench, candidate);
  keep(bench.figures, phase, { report, before, after });
  const others = Object.entries(report.byStatus).filter(([status]) => status !== phase.status);
  const aside =
    others.length === 0
      ? ""
      : `  other replies ${JSON.stringify(report.byStatus)} ${report.strangest.slice(0, 300)}`;
  const rate = Math.round((report.byStatus[phase.status] ?? 0) / report.seconds);
  bench.note(`  ${phase.name}: ${rate}/s, p50 ${report.p50Ms.toFixed(2)} ms${aside}`);
  return from + report.answered;
}

interface Meters {
  readonly usage: Usage;
  readonly postgresUs: number;
  readonly mirrorUs: number | undefined;
  readonly commits: number;
  readonly walSyncs: number;
}

async function readMeters(
  { world }: Bench,
  { processes, database, mirror }: Candidate,
): Promise<Meters> {
  const usages = await Promise.all(processes.map((child) => child.usage()));
  const [row] =
    database === undefined
      ? []
      : await world.admin<{ commits: number; syncs: number }[]>`
          select (select xact_commit from pg_stat_database where datname = ${database.name}) as commits,
            (select sum(fsyncs)::bigint from pg_stat_io where object = 'wal') as syncs`;
  return {
    usage: usages.reduce(together),
    postgresUs: cpuOfTree(world.postgres.pid()),
    mirrorUs: (await mirror?.usage())?.cpuUs,
    commits: row?.commits ?? 0,
    walSyncs: row?.syncs ?? 0,
  };
}

function together(one: Usage, other: Usage): Usage {
  const counts: Record<string, number> = { ...one.counts };
  for (const [name, value] of Object.entries(other.counts)) {
    counts[name] = (counts[name] ?? 0) + value;
  }
  return {
    cpuUs: one.cpuUs + other.cpuUs,
    rssBytes: one.rssBytes + other.rssBytes,
    heapBytes: one.heapBytes + other.heapBytes,
    counts,
  };
}

function keep(
  figures: Figures,
  { name, status }: Phase,
  { report, before, after }: { report: LoadReport; before: Meters; after: Meters },
): void {
  const done = report.byStatus[status] ?? 0;
  const counted = (what: string) =>
    ((after.usage.counts[what] ?? 0) - (before.usage.counts[what] ?? 0)) / done;
  figures.add(`${name} /s`, done / report.seconds);
  figures.add(`${name} p50 ms`, report.p50Ms);
  figures.add(`${name} p99 ms`, report.p99Ms);
  figures.add(`${name} server µs`, (after.usage.cpuUs - before.usage.cpuUs) / done);
  figures.add(`${name} postgres µs`, (after.postgresUs - before.postgresUs) / done);
  figures.add(`${name} client µs`, report.cpuUs / done);
  if (after.mirrorUs !== undefined && before.mirrorUs !== undefined) {
    figures.add(`${name} mirror µs`, (after.mirrorUs - before.mirrorUs) / done);
  }
  figures.add(`${name} transactions`, (after.commits - before.commits) / done);
  figures.add(`${name} wal syncs`, (after.walSyncs - before.walSyncs) / done);
  for (const what of ["batches", "slot", "claim"]) {
    if (after.usage.counts[what] !== undefined) figures.add(`${name} ${what}`, counted(what));
  }
}

/** Casts stars that are not measured: as many as given, as fast as they go. */
export async function prepareStars(
  bench: Bench,
  { urls }: Candidate,
  { workload, requests }: { readonly workload: Workload; readonly requests: number },
): Promise<void> {
  const report = await bench.load.ask<LoadReport>({
    urls,
    connections: 32,
    requests,
    from: 0,
    workload,
  });
  const stored = report.byStatus["201"] ?? 0;
  if (stored < requests) {
    bench.note(`  only ${stored} of ${requests} prepared: ${report.strangest.slice(0, 300)}`);
  }
}

/** Snapshots of one candidate are not hints for another, whose journal is a different one. */
export async function emptyRedis(world: World): Promise<void> {
  const client = await createClient({ url: world.redis.url }).connect();
  await client.flushAll();
  await client.close();
}

/** Runs statements on a database, as its owner. */
export async function onDatabase(
  { url }: Database,
  work: (sql: ReturnType<typeof openPostgres>) => Promise<unknown>,
): Promise<void> {
  const sql = openPostgres(url, { connections: 1, statementTimeoutMs: 600_000 });
  await work(sql);
  await sql.end({ timeout: 5 });
}
