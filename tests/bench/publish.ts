import { newStarId } from "../../src/journal/star-id.ts";
import { silentLogger } from "../../src/log.ts";
import { starMessage } from "../../src/publishing/message.ts";
import { createWakeQueue } from "../../src/publishing/queue.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type Child, launch } from "./children.ts";
import { type Bench, emptyRedis } from "./measure.ts";
import type { LedgerOrder, LedgerSettings } from "./publish-ledger.ts";
import { atLeast, atMost, type Figures, type Goal, show, spreadOf, table } from "./report.ts";
import { slopeOf } from "./slope.ts";
import type { Database } from "./world.ts";

/**
 * How fast stars reach the ledger, the worker being the product's own `starboard work`, the ledger
 * the local one in a process of its own, as fast as it can be:
 *
 *   paced    20 stars/s, each woken for: from the star's instant to its confirmation
 *   one      a backlog, one worker: the first 10,000, the rate, and what memory does
 *   two      a backlog, two workers
 */
const STARS_PER_SECOND = 20;
/** One drain of ten thousand is a goal by itself; memory needs more. */
const DRAIN = 10_000;
const SAMPLES = 40;
/**
 * What happens while everything is new is no slope. It takes long: some 20,000 messages on, V8
 * doubles its young generation once, a step of 70 MB that never comes again.
 */
const WARM_UP_SHARE = 0.55;
const LOOK_EVERY_MS = 250;
/** Of each backlog: with everything else a round takes less than eight minutes. */
const BACKLOG_SECONDS_MAX = 240;

const sizesOf = (quick: boolean) =>
  quick ? { paced: 40, one: 400, two: 200 } : { paced: 600, one: 50_000, two: DRAIN };

export async function benchPublish(bench: Bench): Promise<void> {
  const { world, options } = bench;
  const sizes = sizesOf(options.quick);
  const wanted = (name: string): boolean => options.only?.includes(name) ?? true;
  await world.template("bench_publish", async () => undefined);
  for (let round = 0; round < options.rounds; round += 1) {
    bench.note(`round ${round + 1} of ${options.rounds}`);
    if (wanted("paced")) await onLedger(bench, 1, (scene) => paced(bench, scene, sizes.paced));
    if (wanted("one"))
      await onLedger(bench, 1, (scene) => backlog(bench, scene, ["one", sizes.one]));
    if (wanted("two"))
      await onLedger(bench, 2, (scene) => backlog(bench, scene, ["two", sizes.two]));
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
  const [database, ledgerDatabase] = [
    await world.clone("bench_publish"),
    await world.clone("template0"),
  ];
  const ledger = await launch({
    entry: new URL("./publish-ledger.ts", import.meta.url),
    takesOrders: true,
  });
  const order: LedgerOrder = { databaseUrl: ledgerDatabase.url };
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
    await Promise.all([database.drop(), ledgerDatabase.drop()]);
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
    profileInto: options.profileInto,
  });
}

/** Stars that come evenly, as on the specification's busy day. */
async function paced({ figures, note }: Bench, scene: Scene, stars: number): Promise<void> {
  const { sql } = scene;
  await scene.startWorkers();
  const queue = createWakeQueue({ redisUrl: scene.redisUrl }, silentLogger);
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

/** Everything waits already, as after an outage; a machine that is too slow for all does a part. */
async function backlog(
  { figures, note }: Bench,
  { sql, startWorkers }: Scene,
  [name, stars]: readonly [string, number],
): Promise<void> {
  const from = Date.now() - stars - 1;
  for (let done = 0; done < stars; done += DRAIN) {
    const some = Math.min(DRAIN, stars - done);
    await box(
      sql,
      Array.from({ length: some }, (_, n) => from + done + n),
    );
  }
  await sql`analyze outbox`;
  const workers = await startWorkers();
  await untilPublished(sql, 1);
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1_000;
  const memory: { messages: number; rss: number; heap: number }[] = [];
  const every = Math.ceil(stars / SAMPLES);
  let published = 0;
  while (published < stars && seconds() < BACKLOG_SECONDS_MAX) {
    published = await untilPublished(sql, Math.min(published + every, stars));
    if (published >= DRAIN && !figures.has(`${name} drain s`))
      figures.add(`${name} drain s`, seconds());
    const [used] = await Promise.all(workers.map((worker) => worker.collected()));
    if (used !== undefined) {
      memory.push({ messages: published, rss: used.rssBytes, heap: used.heapBytes });
    }
  }
  const rate = published / seconds();
  figures.add(`${name} /s`, rate);
  figures.add(`${name} messages`, published);
  const settled = memory.filter(({ messages }) => messages >= WARM_UP_SHARE * published);
  const perThousand = (of: "rss" | "heap"): number =>
    (slopeOf(settled.map((each) => [each.messages, each[of]])) * 1_000) / 1_024;
  figures.add(`${name} rss KiB per 1,000`, perThousand("rss"));
  figures.add(`${name} heap KiB per 1,000`, perThousand("heap"));
  figures.add(`${name} rss MiB`, (memory.at(-1)?.rss ?? Number.NaN) / 2 ** 20);
  note(`  ${name}: ${Math.round(rate)}/s over ${published}, ${seconds().toFixed(1)} s`);
}

/** Lays stars into the outbox, as accepting them does, of both kinds in turn. */
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
  const names = ["messages", "/s", "drain s", "rss KiB per 1,000", "heap KiB per 1,000", "rss MiB"];
  const lag = ["p50 ms", "p99 ms", "max ms"];
  const cell = (name: string): string => show(spreadOf(figures.of(name)));
  return [
    table(
      [`${STARS_PER_SECOND} stars/s, star to confirmation`, ...lag],
      [["one worker", ...lag.map((each) => cell(`paced ${each}`))]],
    ),
    table(
      ["backlog", ...names],
      ["one", "two"].map((who) => [who, ...names.map((each) => cell(`${who} ${each}`))]),
    ),
  ].join("\n\n");
}

export function publishGoals(figures: Figures): readonly Goal[] {
  const of = (name: string) => spreadOf(figures.of(name));
  return [
    atMost("p99 from star to ledger at 20/s, ms", 10_000, of("paced p99 ms")),
    atLeast("backlog, one worker, messages/s", 20, of("one /s")),
    atMost("10,000 waiting stars are out within, s", 600, of("one drain s")),
    atMost("memory that 1,000 messages leave behind, KiB RSS", 100, of("one rss KiB per 1,000")),
  ];
}
