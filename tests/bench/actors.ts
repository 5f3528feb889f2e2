import type { ActorFigures, FiguresOrder } from "./actor-figures.ts";
import { type Running, startServer } from "./candidates.ts";
import { launch, runCommand } from "./children.ts";
import type { LoadReport } from "./load.ts";
import { type Bench, emptyRedis, measure } from "./measure.ts";
import { atLeast, atMost, type Figures, type Goal, show, spreadOf, table } from "./report.ts";
import { fillMint, MINTS, seedForStars } from "./seed.ts";
import { FIRST_WALLET } from "./workloads.ts";

/**
 * What actors cost as they grow in size and number: a star on a mint with 100,000 wallets
 * against one on an empty mint, that mint's load after a restart, 100,000 wallet-days in one
 * process, and one actor by itself.
 */
const TEMPLATE = "bench_actors";
const FULL_MINT = `m${MINTS}`;
/** Neither the wallets nor the serials of the mint's past are those that star it now. */
const PAST_WALLETS = 500_000_000;
const PAST_SERIALS = 500_000_000;
/** Where in the use of all wallet-days the memory is read. */
const QUARTERS = [0.25, 0.5, 0.75, 1];

export async function benchActors(bench: Bench): Promise<void> {
  const { options, world } = bench;
  const walletDays = options.quick ? 8_000 : 100_000;
  await world.template(TEMPLATE, async (sql) => {
    await seedForStars(sql, options.quick ? 20_000 : 400_000);
    await fillMint(sql, FULL_MINT, {
      wallets: options.quick ? 10_000 : 100_000,
      firstWallet: PAST_WALLETS,
      firstSerial: PAST_SERIALS,
    });
  });
  for (let round = 0; round < options.rounds; round += 1) {
    bench.note(`round ${round + 1} of ${options.rounds}`);
    await mints(bench, options.quick ? 20_000 : 400_000);
    await walletDaysUsed(bench, walletDays);
    await alone(bench, walletDays);
    await showMint(bench);
  }
}

async function withEngine(
  bench: Bench,
  name: string,
  work: (engine: Running) => Promise<void>,
): Promise<void> {
  const nodeFlags = ["--expose-gc"];
  const engine = await startServer(bench, { kind: "engine", template: TEMPLATE, name, nodeFlags });
  try {
    await work(engine);
  } finally {
    await engine.stop();
  }
}

/** Alternately, on an empty mint of its own each time and on the full one. */
async function mints(bench: Bench, wallets: number): Promise<void> {
  await withEngine(bench, "mints", async (engine) => {
    await firstStarAfterRestart(bench, engine, wallets);
    let from = 0;
    let empty = 1;
    // Short, because an empty mint is not empty for long.
    const seconds = Math.min(bench.options.seconds, 3);
    for (let turn = 0; turn < 2; turn += 1) {
      for (const connections of [1, 64]) {
        for (const kind of ["empty", "full"] as const) {
          const mint = kind === "full" ? FULL_MINT : `m${empty++}`;
          const name = `star on ${kind} mint ${connections}`;
          const workload = { kind: "hot", first: FIRST_WALLET, mint } as const;
          const phase = { name, workload, connections, status: "201", wallets, from, seconds };
          from = await measure(bench, engine, phase);
        }
      }
    }
  });
}

async function firstStarAfterRestart(bench: Bench, engine: Running, wallets: number) {
  const { answered, maxMs } = await bench.load.ask<LoadReport>({
    urls: engine.urls,
    connections: 1,
    requests: 1,
    from: wallets - 1,
    workload: { kind: "hot", first: FIRST_WALLET, mint: FULL_MINT },
  });
  if (answered === 1) bench.figures.add("first star on full mint after restart ms", maxMs);
}

/** Every one is used once; the process keeps as many as its bound allows. */
async function walletDaysUsed(bench: Bench, count: number): Promise<void> {
  await withEngine(bench, "wallet-days", async (engine) => {
    const [child] = engine.processes;
    if (child === undefined) return;
    const megabytes = (bytes: number) => bytes / 1e6;
    let peak = 0;
    let from = 0;
    for (const share of QUARTERS) {
      const requests = Math.floor(count * share) - from;
      const workload = { kind: "cold", first: FIRST_WALLET } as const;
      const order = { urls: engine.urls, connections: 64, requests, from, workload };
      from += (await bench.load.ask<LoadReport>(order)).answered;
      const { rssBytes } = await child.usage();
      peak = Math.max(peak, rssBytes);
      bench.figures.add(`RSS after ${share * 100} % MB`, megabytes(rssBytes));
    }
    const { heapBytes, rssBytes } = await child.collected();
    bench.figures.add("RSS at most MB", megabytes(peak));
    bench.figures.add("RSS after collection MB", megabytes(rssBytes));
    bench.figures.add("heap after collection MB", megabytes(heapBytes));
    bench.note(`  ${from} wallet-days used: RSS at most ${megabytes(peak).toFixed(0)} MB`);
  });
}

async function alone({ world, options, figures }: Bench, actors: number): Promise<void> {
  const child = await launch({
    entry: new URL("./actor-figures.ts", import.meta.url),
    takesOrders: true,
    nodeFlags: ["--expose-gc", "--max-old-space-size=4096"],
  });
  const steps = options.quick ? 5_000 : 100_000;
  const order: FiguresOrder = { actors, steps, redisUrl: world.redis.url };
  const found = await child.ask<ActorFigures>(order);
  await child.stop();
  figures.add("wallet-day at rest, 5 stars, heap bytes", found.heapBytesAtRest);
  figures.add("the same as a live XState actor, heap bytes", found.heapBytesLive);
  figures.add("decision, shared scope µs", found.sharedScopeUs);
  figures.add("decision, transition() µs", found.transitionUs);
  figures.add("snapshot of 5 stars bytes", found.snapshotBytes);
}

/** The whole command in a process of its own: nothing is warm, and its start is in the time. */
async function showMint({ world, figures, note }: Bench): Promise<void> {
  const database = await world.clone(TEMPLATE);
  await emptyRedis(world);
  const settings = { DATABASE_URL: database.url, REDIS_URL: world.redis.url };
  const boot = await runCommand(["actors", "show", "--help"], settings);
  figures.add("start of a command ms", boot.ms);
  for (const turn of ["first time", "again"]) {
    const shown = await runCommand(
      ["actors", "show", `forever-mint/${FULL_MINT}`, "--json"],
      settings,
    );
    if (shown.status === 0) figures.add(`full mint shown, ${turn} ms`, shown.ms);
    const summary = shown.status === 0 ? `${shown.stdoutBytes} bytes` : shown.complaint;
    note(`  actors show, ${turn}: ${shown.ms.toFixed(0)} ms, ${summary}`);
  }
  await database.drop();
}

export function showActors(figures: Figures): string {
  return table(
    ["", "measured"],
    Object.keys(figures.asJson()).map((name) => [name, show(spreadOf(figures.of(name)))]),
  );
}

export function actorGoals(figures: Figures): readonly Goal[] {
  const value = (name: string) => spreadOf(figures.of(name));
  const cost = (connections: number) =>
    figures.ratio(`star on empty mint ${connections} /s`, `star on full mint ${connections} /s`);
  const atRest = "wallet-day at rest, 5 stars, heap bytes";
  return [
    atMost("star on a full mint ÷ on an empty one, 1 connection", 1.5, cost(1)),
    atMost("star on a full mint ÷ on an empty one, 64 connections", 1.5, cost(64)),
    atMost(
      "first star on it after a restart, ms",
      2_000,
      value("first star on full mint after restart ms"),
    ),
    atMost("that mint shown after a restart, ms", 2_000, value("full mint shown, first time ms")),
    atMost("100,000 wallet-days used, RSS in MB", 300, value("RSS at most MB")),
    atMost("G8 wallet-day at rest, bytes", 1_200, value(atRest)),
    atMost(
      "G8 at rest ÷ live actor",
      0.25,
      figures.ratio(atRest, "the same as a live XState actor, heap bytes"),
    ),
    atMost("G10 decision, µs", 15, value("decision, shared scope µs")),
    atLeast(
      "G10 shared scope, times faster than transition()",
      1,
      figures.ratio("decision, transition() µs", "decision, shared scope µs"),
    ),
    atMost("G10 snapshot, bytes", 420, value("snapshot of 5 stars bytes")),
  ];
}
