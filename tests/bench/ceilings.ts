import { type Running, use } from "./candidates.ts";
import type { BenchMirror } from "./ledger.ts";
import type { LoadReport } from "./load.ts";
import { cpuOfTree } from "./machine.ts";
import { type Bench, measure } from "./measure.ts";
import { findPgbench, pgbench } from "./pgbench.ts";
import { FIRST_WALLET } from "./workloads.ts";

/** What parts of a star can be at most on this machine: HTTP, the app, Postgres, the mirror node. */
interface Sizes {
  readonly wallets: number;
  readonly connections: readonly number[];
}

/** Hono's own, on the product's server. */
export async function ceilingOfHttp(
  bench: Bench,
  starting: Promise<Running>,
  { connections, wallets }: Sizes,
): Promise<void> {
  await use(starting, async (candidate) => {
    // Numbers without a meaning here: the echo knows no wallets.
    for (const each of connections) {
      const workload = { kind: "random", first: FIRST_WALLET, wallets } as const;
      const phase = {
        workload,
        connections: each,
        status: "201",
        wallets: Number.MAX_SAFE_INTEGER,
      };
      await measure(bench, candidate, { ...phase, name: `echo ${each}`, from: 0 });
    }
  });
}

/** The same within the product's app. */
export async function ceilingOfApp(
  bench: Bench,
  starting: Promise<Running>,
  { wallets }: Sizes,
): Promise<void> {
  await use(starting, async (candidate) => {
    const workload = { kind: "random", first: FIRST_WALLET, wallets } as const;
    const phase = { workload, connections: 64, status: "201", wallets: Number.MAX_SAFE_INTEGER };
    await measure(bench, candidate, { ...phase, name: "house 64", from: 0 });
  });
}

/** What Postgres does of a turn without any rule. */
export async function ceilingOfPostgres(
  { world, options, figures, note }: Bench,
  template: string,
): Promise<void> {
  const program = findPgbench();
  if (program === undefined) {
    note("  there is no pgbench on this machine: its rows are left out");
    return;
  }
  const database = await world.clone(template);
  for (const claims of [false, true]) {
    for (const clients of [1, 64]) {
      const given = { program, url: database.url, folder: world.folder, clients, claims };
      const report = await pgbench({ ...given, seconds: options.seconds });
      const name = `pgbench turn${claims ? " with NFTs" : ""} ${clients}`;
      figures.add(`${name} /s`, report.perSecond);
      figures.add(`${name} p50 ms`, report.latencyMs);
      note(`  ${name}: ${Math.round(report.perSecond)}/s`);
    }
  }
  await database.drop();
}

/** What the mirror node itself can answer: two readings are one star's. */
export async function ceilingOfMirror(
  { load, options, figures, note, world }: Bench,
  mirror: BenchMirror,
) {
  const path = `/api/v1/accounts/0.0.${FIRST_WALLET}/nfts?token.id=${mirror.collectionA}&limit=100&order=asc`;
  const meters = async () => ({
    mirror: (await mirror.process.usage()).cpuUs,
    postgres: cpuOfTree(world.postgres.pid()),
  });
  const before = await meters();
  const report = await load.ask<LoadReport>({
    urls: [mirror.url],
    connections: 64,
    seconds: options.seconds,
    from: 0,
    workload: { kind: "get", path, headers: {} },
  });
  const after = await meters();
  const answered = (report.byStatus["200"] ?? 0) / 2;
  const pairs = answered / report.seconds;
  figures.add("mirror pairs 64 /s", pairs);
  figures.add("mirror pairs 64 mirror µs", (after.mirror - before.mirror) / answered);
  figures.add("mirror pairs 64 postgres µs", (after.postgres - before.postgres) / answered);
  note(`  mirror node alone: ${Math.round(pairs)} pairs of readings/s`);
}
