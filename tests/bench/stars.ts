import type { Sql } from "../../src/store/postgres.ts";
import { startServe, startServer, use } from "./candidates.ts";
import { ceilingOfApp, ceilingOfHttp, ceilingOfMirror, ceilingOfPostgres } from "./ceilings.ts";
import type { Checkout } from "./checkout.ts";
import { type BenchMirror, startMirror } from "./ledger.ts";
import { type Bench, type Candidate, measure, prepareStars } from "./measure.ts";
import { installPeers, underDbos, underRestate } from "./peers.ts";
import { seedForStars } from "./seed.ts";
import { FIRST_WALLET, WARM_ROUNDS } from "./workloads.ts";

/**
 * How fast stars are accepted and refused, and at what cost; every candidate in every round, on
 * a fresh database of its own, one after the other:
 *
 *   echo      Hono, POST + JSON, on the product's server: the ceiling of HTTP
 *   house     the same within the product's app: ids, log, metrics, headers
 *   pgbench   a whole turn as one statement and one commit, without any rule: that of Postgres
 *   engine    the product, holdings given
 *   per star  the product, one commit for each star
 *   plain     the straightforward service with the same rules (`plain.ts`)
 *   dbos      the same, each star a durable workflow (`--peers`)
 *   restate   the wallet's day as Restate's virtual object (`--peers`)
 *   two       two engines, each request to one of them at random
 *   full      `starboard serve`, holdings read from a mirror node over HTTP
 *   older     engine and full of another commit, right after or before this one's (`--against`)
 */
const TEMPLATE = "bench_stars";
const OLDER_TEMPLATE = "bench_stars_older";
export const OLDER = "older ";

/** Sizes that follow from how fast anything here can be. */
interface Sizes {
  readonly wallets: number;
  /** Wallets the mirror node knows. */
  readonly ledgerWallets: number;
  readonly warmWallets: number;
  readonly refusedWallets: number;
  /** The busy ones first: an idle server is one that has been at work, not one just started. */
  readonly connections: readonly number[];
}

export async function benchStars(bench: Bench): Promise<void> {
  const { options, world } = bench;
  const sizes: Sizes = options.quick
    ? {
        wallets: 30_000,
        ledgerWallets: 4_000,
        warmWallets: 500,
        refusedWallets: 200,
        connections: [64, 1],
      }
    : {
        wallets: 400_000,
        ledgerWallets: 140_000,
        warmWallets: 10_000,
        refusedWallets: 1_000,
        connections: [64, 16, 256, 1],
      };
  await world.template(TEMPLATE, (sql) => seedForStars(sql, sizes.wallets));
  const { against } = options;
  if (against !== undefined) {
    const seed = (sql: Sql) => against.seedForStars(sql, sizes.wallets);
    await world.template(OLDER_TEMPLATE, seed, against.migrate);
  }
  const mirror = isWanted(bench, "full")
    ? await startMirror(bench, sizes.ledgerWallets)
    : undefined;
  const candidates: Record<string, () => Promise<void>> = {
    echo: () => ceilingOfHttp(bench, start(bench, "echo"), sizes),
    house: () => ceilingOfApp(bench, start(bench, "house"), sizes),
    pgbench: () => ceilingOfPostgres(bench, TEMPLATE),
    engine: inTurns(against, (checkout) => engine(bench, sizes, checkout)),
    "per star": () => perStar(bench, sizes),
    plain: () => plain(bench, sizes),
    ...peersOf(bench, sizes),
    two: () => twoProcesses(bench, sizes),
    full: fullPath(bench, sizes, mirror),
  };
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      const names = Object.keys(candidates);
      // The order changes each round, so that any drift affects all of them.
      const order = [...names.slice(round % names.length), ...names.slice(0, round % names.length)];
      for (const name of order.filter((each) => isWanted(bench, each))) {
        bench.note(`round ${round + 1} of ${options.rounds}: ${name}`);
        await candidates[name]?.();
      }
    }
  } finally {
    await mirror?.close();
  }
}

function peersOf(bench: Bench, { wallets }: Sizes): Record<string, () => Promise<void>> {
  if (!bench.options.peers || !installPeers(bench.note)) return {};
  return {
    dbos: () => underDbos(bench, TEMPLATE, wallets),
    restate: () => underRestate(bench),
  };
}

function isWanted({ options }: Bench, name: string): boolean {
  return options.only === undefined || options.only.split(",").includes(name);
}

const start = (
  bench: Bench,
  kind: "echo" | "house" | "engine" | "plain",
  { name = kind, checkout }: { name?: string; checkout?: Checkout | undefined } = {},
) => startServer(bench, { kind, ...variantOf(checkout), name, checkout });

/** Of this tree, or of an older one: its database, and what its figures' names begin with. */
const variantOf = (checkout: Checkout | undefined) =>
  checkout === undefined
    ? { template: TEMPLATE, prefix: "" }
    : { template: OLDER_TEMPLATE, prefix: OLDER };

/**
 * This tree, then the older one where there is one, and in the next round the other way round: the first
 * of the two is up to a sixth slower.
 */
function inTurns(
  against: Checkout | undefined,
  work: (checkout: Checkout | undefined) => Promise<void>,
): () => Promise<void> {
  let order = against === undefined ? [undefined] : [undefined, against];
  return async () => {
    for (const checkout of order) await work(checkout);
    order = order.toReversed();
  };
}

/** Cold at every number of connections, then warm, then one hot mint. */
async function accepting(bench: Bench, candidate: Candidate, name: string, sizes: Sizes) {
  const { wallets, connections, warmWallets } = sizes;
  const common = { status: "201", wallets } as const;
  let from = 0;
  const cold = { kind: "cold", first: FIRST_WALLET } as const;
  for (const each of connections) {
    const phase = { ...common, workload: cold, connections: each, from };
    from = await measure(bench, candidate, { ...phase, name: `${name} cold ${each}` });
  }
  const hot = { kind: "hot", first: FIRST_WALLET, mint: "m1" } as const;
  for (const each of connections.filter((count) => count >= 64)) {
    const phase = { ...common, workload: hot, connections: each, from };
    from = await measure(bench, candidate, { ...phase, name: `${name} hot ${each}` });
  }
  const warm = { kind: "warm", first: FIRST_WALLET + from, wallets: warmWallets } as const;
  await measure(bench, candidate, {
    ...common,
    workload: warm,
    connections: 64,
    from: 0,
    wallets: Math.floor((wallets - from) / warmWallets) * warmWallets * WARM_ROUNDS,
    name: `${name} warm 64`,
  });
}

/** Stars that are refused: of an item starred today, and of a day that is used up. */
async function refusing(bench: Bench, candidate: Candidate, name: string, sizes: Sizes) {
  const { refusedWallets: wallets } = sizes;
  const first = FIRST_WALLET + sizes.wallets - wallets;
  const rounds = { kind: "round", first, wallets } as const;
  const phase = { connections: 64, wallets: Number.MAX_SAFE_INTEGER, from: 0 };
  await prepareStars(bench, candidate, {
    workload: { ...rounds, round: null },
    requests: wallets * WARM_ROUNDS,
  });
  const repeated = { ...phase, workload: { ...rounds, round: 0 }, status: "409" };
  await measure(bench, candidate, { ...repeated, name: `${name} repeated 64` });
  const exhausted = { ...phase, workload: { ...rounds, round: WARM_ROUNDS }, status: "429" };
  await measure(bench, candidate, { ...exhausted, name: `${name} exhausted 64` });
}

async function engine(bench: Bench, sizes: Sizes, checkout?: Checkout): Promise<void> {
  const name = `${variantOf(checkout).prefix}engine`;
  await use(start(bench, "engine", { name, checkout }), async (candidate) => {
    await accepting(bench, candidate, name, sizes);
  });
  const refused = { name: `${name} refusing`, checkout };
  await use(start(bench, "engine", refused), async (candidate) => {
    await refusing(bench, candidate, name, sizes);
  });
}

async function plain(bench: Bench, sizes: Sizes): Promise<void> {
  await use(start(bench, "plain"), async (candidate) => {
    await accepting(bench, candidate, "plain", sizes);
  });
  await use(start(bench, "plain", { name: "plain refusing" }), async (candidate) => {
    await refusing(bench, candidate, "plain", sizes);
  });
}

async function perStar(bench: Bench, sizes: Sizes): Promise<void> {
  const { wallets } = sizes;
  const order = {
    kind: "engine",
    template: TEMPLATE,
    name: "per star",
    commitPerStar: true,
  } as const;
  await use(startServer(bench, order), async (candidate) => {
    const common = { connections: 64, status: "201", wallets } as const;
    const cold = { kind: "cold", first: FIRST_WALLET } as const;
    const from = await measure(bench, candidate, {
      ...common,
      workload: cold,
      from: 0,
      name: "per star cold 64",
    });
    const hot = { kind: "hot", first: FIRST_WALLET, mint: "m1" } as const;
    await measure(bench, candidate, { ...common, workload: hot, from, name: "per star hot 64" });
  });
}

async function twoProcesses(bench: Bench, sizes: Sizes): Promise<void> {
  for (const processes of [1, 2]) {
    const name = processes === 1 ? "one process" : "two processes";
    const order = { kind: "engine", template: TEMPLATE, name, processes } as const;
    await use(startServer(bench, order), async (candidate) => {
      // At least 300,000 of them in a full run, as the goal says.
      const workload = { kind: "random", first: FIRST_WALLET, wallets: sizes.wallets } as const;
      const phase = { workload, connections: 64, status: "201", wallets: Number.MAX_SAFE_INTEGER };
      await measure(bench, candidate, { ...phase, name: `${name} random 64`, from: 0 });
    });
  }
}

function fullPath(
  bench: Bench,
  sizes: Sizes,
  mirror: BenchMirror | undefined,
): () => Promise<void> {
  if (mirror === undefined) return () => Promise.resolve();
  const work = inTurns(bench.options.against, (checkout) =>
    full(bench, sizes, { mirror, checkout }),
  );
  return async () => {
    await ceilingOfMirror(bench, mirror);
    await work();
  };
}

async function full(
  bench: Bench,
  sizes: Sizes,
  { mirror, checkout }: { readonly mirror: BenchMirror; readonly checkout: Checkout | undefined },
): Promise<void> {
  const { template, prefix } = variantOf(checkout);
  const name = `${prefix}full`;
  const settings = {
    MIRROR_NODE_URL: mirror.url,
    COLLECTION_A_ID: mirror.collectionA,
    COLLECTION_B_ID: mirror.collectionB,
  };
  await use(startServe(bench, { name, template, settings, checkout }), async (candidate) => {
    const watched = { ...candidate, mirror: mirror.process };
    await accepting(bench, watched, name, { ...sizes, wallets: sizes.ledgerWallets });
  });
}
