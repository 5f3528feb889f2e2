import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newStarId } from "../../src/journal/star-id.ts";
import { silentLogger } from "../../src/log.ts";
import { starMessage } from "../../src/publishing/message.ts";
import { createWakeQueue } from "../../src/publishing/queue.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type Child, launch } from "./children.ts";
import { cpuOfTree } from "./machine.ts";
import { type Bench, emptyRedis } from "./measure.ts";
import type { LedgerOrder, LedgerSettings } from "./publish-ledger.ts";
import {
  growthPerThousand,
  type MemorySample,
  sampleAtRest,
  steadyPart,
} from "./publish-memory.ts";
import { atLeast, atMost, type Figures, type Goal, show, spreadOf, table } from "./report.ts";
import type { Database } from "./world.ts";

/**
 * How fast stars reach the ledger, the worker being the product's own `starboard work`, the ledger
 * the local one in a process of its own, as fast as it can be:
 *
 *   paced    20 stars/s, each woken for: from the star's instant to its confirmation
 *   one      a backlog of 10,000, one worker: how fast
 *   two      the same by two workers
 *   memory   50,000 in portions, one worker that rests after each: what memory does
 */
const STARS_PER_SECOND = 20;
const DRAIN = 10_000;
/** Older than anything that comes while a scene lasts, so the oldest goes first. */
const BOXED_FROM = Date.now() - 3_600_000;
const LOOK_EVERY_MS = 250;
/** Of a scene: at 240 messages/s half of it is needed. */
const SCENE_SECONDS_MAX = 600;

/** Stars that wait from the start, and portions that come one after the other. */
interface Load {
  readonly name: string;
  readonly workers: number;
  readonly backlog: number;
  readonly portions: number;
  readonly portion: number;
}

const sizesOf = (quick: boolean): { paced: number; backlogs: readonly Load[] } => ({
  paced: quick ? 40 : 600,
  backlogs: [
    { name: "one", workers: 1, backlog: quick ? 2_000 : DRAIN, portions: 0, portion: 0 },
    { name: "two", workers: 2, backlog: quick ? 200 : DRAIN, portions: 0, portion: 0 },
    {
      name: "memory",
      workers: 1,
      backlog: quick ? 80 : DRAIN,
      portions: 16,
      portion: quick ? 20 : 2_500,
    },
  ],
});

export async function benchPublish(bench: Bench): Promise<void> {
  const { world, options } = bench;
  const sizes = sizesOf(options.quick);
  const wanted = (name: string): boolean => options.only?.split(",").includes(name) ?? true;
  await world.template("bench_publish", async () => undefined);
  for (let round = 0; round < options.rounds; round += 1) {
    bench.note(`round ${round + 1} of ${options.rounds}`);
    if (wanted("paced")) await onLedger(bench, 1, (scene) => paced(bench, scene, sizes.paced));
    for (const load of sizes.backlogs.filter(({ name }) => wanted(name))) {
      await onLedger(bench, load.workers, (scene) => backlog(bench, scene, load));
    }
  }
}

interface Scene {
  readonly sql: Sql;
  readonly redisUrl: string;
  startWorkers(): Promise<readonly Child[]>;
}

/** A ledger and a service without stars, both new. */
async function onLedger(
  bench: Bench,
  workers: number,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  const { world } = bench;
  await emptyRedis(world);
  const database = await world.clone("bench_publish");
  const folder = mkdtempSync(join(tmpdir(), "starboard-bench-ledger-"));
  const ledger = await launch({
    entry: new URL("./publish-ledger.ts", import.meta.url),
    takesOrders: true,
  });
  const order: LedgerOrder = { folder };
  const settings = await ledger.ask<LedgerSettings>(order);
  const sql = openPostgres(database.url, { connections: 2, statementTimeoutMs: 60_000 });
  const started: Child[] = [];
  try {
    await work({
      sql,
      redisUrl: world.redis.url,
      async startWorkers() {
        for (let n = 0; n < workers; n += 1)
          started.push(await startWorker(bench, database, settings));
        return started;
      },
    });
  } finally {
    await Promise.all(started.map((worker) => worker.stop()));
    await ledger.stop();
    await sql.end({ timeout: 1 });
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  }
}

function startWorker(
  { world, options }: Bench,
  database: Database,
  settings: LedgerSettings,
): Promise<Child> {
  return launch({
    entry: new URL("../../src/processes/starboard.ts", import.meta.url),
    args: ["work"],
    nodeFlags: ["--expose-gc"],
    settings: {
      ...settings,
      DATABASE_URL: database.url,
      REDIS_URL: world.redis.url,
      LOG_LEVEL: "error",
    },
    profileInto: options.profileInto && join(options.profileInto, "worker"),
  });
}

/** Stars that come evenly, as on the specification's busy day. */
async function paced({ figures, note }: Bench, scene: Scene, stars: number): Promise<void> {
  const { sql } = scene;
  await scene.startWorkers();
  const queue = createWakeQueue(scene.redisUrl, silentLogger);
  // The first ones wait for the worker to have started.
  await box(sql, [Date.now()]);
  await untilPublished(sql, 1);
  const first = Date.now() + 1;
  for (let n = 0; n < stars; n += 1) {
    const at = first + Math.round((n * 1_000) / STARS_PER_SECOND);
    await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
    await box(sql, [Math.max(at, Date.now())]);
    queue.wake();
  }
  await untilPublished(sql, stars + 1);
  await queue.close();
  const [row] = await sql<{ p50: number; p99: number; most: number }[]>`
    select percentile_cont(0.5) within group (order by lag)::float8 as p50,
      percentile_cont(0.99) within group (order by lag)::float8 as p99, max(lag)::float8 as most
    from (select published_at - (message::json->>'timestamp')::bigint as lag
      from outbox order by star_id offset 1) as lags`;
  figures.add("paced p50 ms", row?.p50 ?? Number.NaN);
  figures.add("paced p99 ms", row?.p99 ?? Number.NaN);
  figures.add("paced max ms", row?.most ?? Number.NaN);
  note(`  paced: p50 ${row?.p50} ms, p99 ${row?.p99} ms, max ${row?.most} ms`);
}

/**
 * Everything waits already, as after an outage. The portions after it find the worker at rest,
 * and leave it so: then only what it keeps is left. A machine that is too slow does some of them.
 */
async function backlog(bench: Bench, scene: Scene, load: Load): Promise<void> {
  const { sql } = scene;
  const { name } = load;
  const { figures, note } = bench;
  await boxMany(sql, 0, load.backlog);
  await sql`analyze outbox`;
  const [first, ...others] = await scene.startWorkers();
  if (first === undefined) throw new RangeError("a backlog needs a worker");
  await untilPublished(sql, 1);
  const workers = [first, ...others];
  const startedAt = performance.now();
  const [before, postgresBefore] = [await cpuUsOf(workers), postgresUs(bench)];
  const seconds = (): number => (performance.now() - startedAt) / 1_000;
  await untilPublished(sql, load.backlog);
  const rate = load.backlog / seconds();
  const cpuMs = ((await cpuUsOf(workers)) - before) / 1_000 / load.backlog;
  const postgresMs = (postgresUs(bench) - postgresBefore) / 1_000 / load.backlog;
  figures.add(`${name} stars`, load.backlog);
  figures.add(`${name} drain s`, seconds());
  figures.add(`${name} /s`, rate);
  figures.add(`${name} CPU ms`, cpuMs);
  figures.add(`${name} Postgres ms`, postgresMs);
  const cpu = `${cpuMs.toFixed(2)} ms of CPU a message, Postgres ${postgresMs.toFixed(2)}`;
  note(`  ${name}: ${Math.round(rate)}/s, ${cpu}`);
  if (load.portions === 0) return;
  const samples: MemorySample[] = [];
  for (let n = 0; n < load.portions && seconds() < SCENE_SECONDS_MAX; n += 1) {
    const from = load.backlog + n * load.portion;
    const busyRss = await portion(scene, { from, stars: load.portion }, first);
    samples.push(await sampleAtRest(first, { messages: from + load.portion, busyRss }));
  }
  keepMemory(bench, name, samples);
}

const postgresUs = ({ world }: Bench): number => cpuOfTree(world.postgres.pid());

async function cpuUsOf(workers: readonly Child[]): Promise<number> {
  const used = await Promise.all(workers.map((worker) => worker.usage()));
  return used.reduce((sum, { cpuUs }) => sum + cpuUs, 0);
}

/** @returns the most memory that the worker was seen with on the way, bytes */
async function portion(
  { sql, redisUrl }: Scene,
  { from, stars }: { readonly from: number; readonly stars: number },
  worker: Child,
): Promise<number> {
  await boxMany(sql, from, stars);
  const queue = createWakeQueue(redisUrl, silentLogger);
  queue.wake();
  let most = 0;
  for (let published = from; published < from + stars; ) {
    most = Math.max(most, (await worker.usage()).rssBytes);
    published = await untilPublished(sql, Math.min(published + 1, from + stars));
  }
  await queue.close();
  return most;
}

function keepMemory({ figures, note }: Bench, name: string, all: readonly MemorySample[]): void {
  const samples = steadyPart(all);
  figures.add(`${name} messages`, samples.at(-1)?.messages ?? Number.NaN);
  for (const of of ["heap", "rss", "busyRss"] as const) {
    figures.add(`${name} ${of} KiB per 1,000`, growthPerThousand(samples, of));
    for (const sample of samples) figures.add(`${name} ${of} MiB`, sample[of] / 2 ** 20);
    note(`  ${of} MiB: ${samples.map((sample) => (sample[of] / 2 ** 20).toFixed(1)).join(" ")}`);
  }
}

/** Of a day long past, a millisecond apart: `from` counts those inserted before. */
function boxMany(sql: Sql, from: number, stars: number): Promise<void> {
  return box(
    sql,
    Array.from({ length: stars }, (_, n) => BOXED_FROM + from + n),
  );
}

/** Inserts stars into the outbox as accepting them does, the two kinds alternating. */
async function box(sql: Sql, instants: readonly number[]): Promise<void> {
  const keys = { a: "alpha", b: "beta" };
  const holdings = { collectionA: [1, 2], collectionB: [] };
  const rows = instants.map((at, index) => {
    const isEvent = index % 2 === 0;
    const target = isEvent
      ? ({ type: "event", id: "drop", eventKind: "MINT_EVENT", ledgerId: null } as const)
      : ({ type: "token", id: "0.0.500", eventKind: null, ledgerId: null } as const);
    const message = starMessage({ wallet: "0.0.1001", at, target, votingPower: 3, holdings }, keys);
    return { star_id: newStarId(at), topic: isEvent ? "event" : "asset", message };
  });
  await sql`
    insert into outbox (star_id, topic, message)
    select star_id, topic, message from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as star (star_id uuid, topic text, message text)`;
}

/** @returns how many are */
async function untilPublished(sql: Sql, least: number): Promise<number> {
  for (;;) {
    const [row] = await sql<{ published: number }[]>`
      select count(*) as published from outbox where state = 'published'`;
    if ((row?.published ?? 0) >= least) return row?.published ?? 0;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

export function showPublish(figures: Figures): string {
  const lag = ["p50 ms", "p99 ms", "max ms"];
  const speed = ["stars", "/s", "drain s", "CPU ms", "Postgres ms"];
  const memory = ["MiB", "KiB per 1,000"];
  const cell = (name: string): string => show(spreadOf(figures.of(name)));
  return [
    table(
      [`${STARS_PER_SECOND} stars/s, star to confirmation`, ...lag],
      [["one worker", ...lag.map((each) => cell(`paced ${each}`))]],
    ),
    table(
      ["backlog by workers", ...speed],
      ["one", "two"].map((who) => [who, ...speed.map((each) => cell(`${who} ${each}`))]),
    ),
    table(
      [`one worker, to message ${cell("memory messages")}`, ...memory],
      [
        ["heap at rest", ...memory.map((each) => cell(`memory heap ${each}`))],
        ["RSS at rest", ...memory.map((each) => cell(`memory rss ${each}`))],
        ["RSS at work, most", ...memory.map((each) => cell(`memory busyRss ${each}`))],
      ],
    ),
  ].join("\n\n");
}

export function publishGoals(figures: Figures): readonly Goal[] {
  const of = (name: string) => spreadOf(figures.of(name));
  return [
    atMost("p99 from star to ledger at 20/s, ms", 10_000, of("paced p99 ms")),
    atLeast("backlog, one worker, messages/s", 400, of("one /s")),
    atMost("10,000 waiting stars are out within, s", 600, of("one drain s")),
    atMost("memory that 1,000 messages leave behind, KiB RSS", 100, of("memory rss KiB per 1,000")),
    atMost("the same of the heap, KiB", 20, of("memory heap KiB per 1,000")),
  ];
}
