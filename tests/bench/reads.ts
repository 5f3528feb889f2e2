import { join } from "node:path";
import { issueKey } from "../../src/keys/api-keys.ts";
import { freePort } from "../../src/local/free-port.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { launch, WEB_FLAGS } from "./children.ts";
import { type Bench, type Candidate, emptyRedis, measure } from "./measure.ts";
import type { ReadsOrder } from "./reads-server.ts";
import { atLeast, type Figures, type Goal, show, spreadOf, table } from "./report.ts";
import { type ReadsSize, seedForReads } from "./seed-reads.ts";

/**
 * How fast the public API reads, key check and rate limit on:
 *
 *   bare    a Hono route on the same server that returns a constant body of the same size
 *   api     the product, nothing else going on
 *   voting  the product while stars keep changing what it shows, and bodies must be read anew
 *
 * each on a small database and a large one.
 */
const PATHS = { tokens: "/tokens/top", events: "/events" } as const;
const CONNECTIONS = 64;
/** The specification's directory on a busy day; what a kept body must be made again for. */
const STARS_PER_SECOND = 20;

const sizesOf = (quick: boolean): Readonly<Record<"small" | "large", ReadsSize>> => ({
  small: { tokens: 1_000, events: 1_000, stars: 1_000 },
  large: quick
    ? { tokens: 10_000, events: 1_000, stars: 20_000 }
    : { tokens: 10_000, events: 1_000, stars: 1_000_000 },
});

/** Every candidate in every round, on a database of its own. */
export async function benchReads(bench: Bench): Promise<void> {
  const sizes = Object.entries(sizesOf(bench.options.quick));
  for (const [size, given] of sizes) {
    bench.note(`filling the ${size} database: ${given.stars} stars, ${given.tokens} tokens`);
    await bench.world.template(`bench_reads_${size}`, (sql) => seedForReads(sql, given));
  }
  for (let round = 0; round < bench.options.rounds; round += 1) {
    // The order changes each round, so that any drift affects both.
    for (const [size] of round % 2 === 0 ? sizes : sizes.toReversed()) {
      bench.note(`round ${round + 1} of ${bench.options.rounds}: ${size}`);
      await measureSize(bench, size);
    }
  }
}

async function measureSize(bench: Bench, size: string): Promise<void> {
  const { world, options } = bench;
  await emptyRedis(world);
  const database = await world.clone(`bench_reads_${size}`);
  const sql = openPostgres(database.url, { connections: 1 });
  const { key } = await issueKey(sql, "bench");
  const order: ReadsOrder = {
    port: await freePort(),
    barePort: await freePort(),
    databaseUrl: database.url,
    redisUrl: world.redis.url,
    key,
    paths: Object.values(PATHS),
  };
  const child = await launch({
    entry: new URL("./reads-server.ts", import.meta.url),
    args: [JSON.stringify(order)],
    nodeFlags: WEB_FLAGS,
    ...(options.profileInto && { profileInto: join(options.profileInto, `reads-${size}`) }),
  });
  const api = `http://127.0.0.1:${order.port}`;
  const bare = `http://127.0.0.1:${order.barePort}`;
  await child.answersAt(api);
  const at = (url: string): Candidate => ({ urls: [url], processes: [child], database });
  const phase = (path: string) => ({
    workload: {
      kind: "get" as const,
      path: `/v1${path}`,
      headers: { Authorization: `Bearer ${key}` },
    },
    connections: CONNECTIONS,
    status: "200",
    wallets: Number.MAX_SAFE_INTEGER,
    from: 0,
  });
  for (const [name, path] of Object.entries(PATHS)) {
    await measure(bench, at(bare), { ...phase(path), name: `${size} ${name} bare` });
    await measure(bench, at(api), { ...phase(path), name: `${size} ${name} api` });
    const stop = keepStarring(sql, name);
    await measure(bench, at(api), { ...phase(path), name: `${size} ${name} voting` });
    await stop();
  }
  await child.stop();
  await sql.end({ timeout: 1 });
  await database.drop();
}

/** Moves counters as accepted stars do, until it is stopped. */
function keepStarring(sql: ReturnType<typeof openPostgres>, name: string): () => Promise<void> {
  let turn = 0;
  let star: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    turn += 1;
    star =
      name === "events"
        ? sql`insert into event_total as total values (${`e${turn % 100}`}, 1, 1)
            on conflict (event_id) do update set weight = total.weight + 1, stars = total.stars + 1`
        : sql`insert into item_day as total
            values ('token', ${`0.0.${10_001 + (turn % 100)}`}, utc_day(now_ms()), 1, 1)
            on conflict (day, target_type, target_id) do update set weight = total.weight + 1`;
    star.catch(() => undefined);
  }, 1_000 / STARS_PER_SECOND);
  return async () => {
    clearInterval(timer);
    await star;
  };
}

/** The figures, and what a request costs whom: that says what dominates. */
export function showReads(figures: Figures): string {
  const names = figures.names("/s").map((name) => name.replace(/ \/s$/, ""));
  const rows = names.map((name) => {
    const of = (what: string) => show(spreadOf(figures.of(`${name} ${what}`)));
    const bare = name.replace(/ \w+$/, " bare");
    const ratio = figures.ratio(`${name} /s`, `${bare} /s`).median.toFixed(2);
    const costs = ["p50 ms", "p99 ms", "server µs", "postgres µs", "client µs", "transactions"];
    return [name, of("/s"), ratio, ...costs.map(of)];
  });
  const head = ["", "per second", "× bare", "p50 ms", "p99 ms"];
  return table(
    [...head, "server CPU µs", "postgres CPU µs", "client CPU µs", "transactions"],
    rows,
  );
}

export function readGoals(figures: Figures): readonly Goal[] {
  return Object.keys(PATHS).flatMap((name) => [
    ...["small", "large"].map((size) =>
      atLeast(
        `${name}, ${size}: api ÷ bare`,
        0.5,
        figures.ratio(`${size} ${name} api /s`, `${size} ${name} bare /s`),
      ),
    ),
    atLeast(
      `${name}: large ÷ small`,
      0.8,
      figures.ratio(`large ${name} api /s`, `small ${name} api /s`),
    ),
  ]);
}
