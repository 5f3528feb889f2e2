/**
 * Goal: nothing grows under a mixed load. Method: two `serve` and two `work` as `npm start` builds
 * them, on servers of their own; about 200 reads and 20 stars a second, listeners to live counters,
 * exports; every ten seconds each process says what it holds (`memory-probe.mjs`), and Postgres and
 * Redis what they hold. The first fifth of the time is left out. Of the rest, the least of each minute
 * is what is held while nothing is under way: today's export grows with the stars, and so does what
 * its readers have on their way. Its slope is the median of the slopes between all pairs (Theil and
 * Sen). In less than half an hour a single export under way at the wrong moment moves it by more than
 * its bound: such a run shows the slopes and judges none.
 *
 *     npm run prove:soak -- --minutes N
 *
 * Exit status 1 where a slope is over its bound or a process ended by itself, 2 where the run shows
 * nothing: it was too short, or the machine too busy for the load.
 */
import { readFileSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "redis";
import { voting } from "../../packages/client/src/index.ts";
import { issueKey } from "../../src/keys/api-keys.ts";
import { slopeOf } from "../bench/slope.ts";
import type { Member } from "../chaos/fleet.ts";
import { openPlace, type Place } from "../chaos/place.ts";
import { startVoters } from "../chaos/voters.ts";
import { drawing, targetsOf, walletsOf } from "../chaos/wallets.ts";
import { temporaryFolder } from "../support/folder.ts";
import { givenNumber } from "../support/given-number.ts";
import { until } from "../support/processes.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = givenNumber("minutes", values.minutes);

const READS_PER_SECOND = 200;
const READERS = 20;
/** With the voters' pause, about 20 stars a second. */
const PAUSE_MS = 350;
const SAMPLE_EVERY_MS = 10_000;
const LEFT_OUT = 0.2;
const JUDGED_FROM_MINUTES = 30;
/** One in so many reads may fail before a run shows nothing. */
const FAILED_SHARE = 100;
const MIB = 1024 * 1024;

/** A quantity over time. */
interface Series {
  readonly name: string;
  readonly unit: string;
  /** What it may grow by within an hour; undefined: shown alone. */
  readonly bound?: number;
  /** Seconds since the start, and the value. */
  readonly points: [seconds: number, value: number][];
}

interface Probe {
  readonly at: number;
  readonly before: NodeJS.MemoryUsage;
  readonly after: NodeJS.MemoryUsage;
  readonly fds: number;
  readonly delayP99Ms: number;
}

/** What one process' lines are judged by. The load makes 800,000 requests an hour. */
const OF_PROCESS: readonly (readonly [
  string,
  string,
  number | undefined,
  (probe: Probe) => number,
])[] = [
  ["heap after a collection", "MiB", 8, ({ after }) => after.heapUsed / MIB],
  ["external after a collection", "MiB", 8, ({ after }) => after.external / MIB],
  ["external before it", "MiB", undefined, ({ before }) => before.external / MIB],
  ["resident", "MiB", undefined, ({ before }) => before.rss / MIB],
  ["file descriptors", "", 20, ({ fds }) => fds],
  ["event-loop delay p99", "ms", undefined, ({ delayP99Ms }) => delayP99Ms],
];

const READS = [
  "/v1/events?status=all",
  "/v1/events?limit=5",
  "/v1/events/meetup",
  "/v1/tokens/top",
  "/v1/tokens/top?limit=100",
  "/v1/collections/top",
  "/v1/leaderboard",
  "/v1/ecosystem",
  "/v1/openapi.json",
  "/v1",
  "/voting/items?type=token",
  "/voting/items?type=event",
  "/voting/openapi.json",
  "/voting/config",
  "/tokens",
  "/events/meetup",
  "/projects",
  "/leaderboard",
  "/",
  "/docs",
  "/readyz",
];

const folder = temporaryFolder("soak");
const place = await openPlace(folder, new URL("./memory-probe.mjs", import.meta.url), {
  API_RATE_LIMIT: "1000000",
});
let startedAt = Date.now();
const work = { isOver: false, reads: 0, failed: 0, heard: 0, exports: 0, looks: 0 };
try {
  const draw = drawing(1);
  const webs = place.fleet.members.filter(({ role }) => role === "serve");
  const { key } = await issueKey(place.sql, "soak");
  const nothing = { add: async () => undefined, close: async () => undefined };
  const voters = startVoters({
    webs,
    history: nothing,
    draw,
    pauseMs: PAUSE_MS,
    targets: await targetsOf(place),
    takeWallet: walletsOf(place, []),
  });
  await until("the first star is accepted", () => voters.figures.accepted > 0, 180_000);
  startedAt = Date.now();
  const endsAtStart = place.fleet.ownEnds.length;
  const series = new Map<string, Series>();
  const load = [
    ...Array.from({ length: READERS }, () => read(webs, key, draw)),
    ...webs.flatMap((web) => Array.from({ length: 5 }, () => listen(web))),
    sample(place, series),
  ];
  await pause(minutes * 60_000);
  work.isOver = true;
  await voters.stop();
  await Promise.all(load);
  const ends = place.fleet.ownEnds.slice(endsAtStart);
  const ofProcesses = place.fleet.members.map(seriesOf);
  const { accepted, calls } = voters.figures;
  console.log(
    `${minutes} minutes: ${work.reads} reads (${work.failed} failed), ${accepted} stars of ${calls} calls, slowest ${Math.round(voters.figures.slowestMs)} ms; ${work.heard} events heard, ${work.exports} exports; processes that ended by themselves: ${ends.length}`,
  );
  for (const each of [...ofProcesses.flat(), ...series.values()]) report(each);
  // One that begins anew has forgotten what it held.
  for (const words of ends) console.log(`ENDED ${words}`);
  const samples = Math.min(work.looks, ...ofProcesses.map(([each]) => each?.points.length ?? 0));
  const seconds = minutes * 60;
  const isTooLittle =
    work.reads < (seconds * READS_PER_SECOND) / 2 ||
    accepted < calls / 2 ||
    work.failed > work.reads / FAILED_SHARE ||
    samples < (seconds * 1_000) / SAMPLE_EVERY_MS / 2 ||
    Math.min(work.heard, work.exports) === 0;
  if (isTooLittle) {
    const refused = JSON.stringify(voters.figures.refused);
    console.log(`INVALID: the machine is too busy for the load: ${samples} samples, ${refused}`);
    process.exitCode = 2;
  } else if (minutes < JUDGED_FROM_MINUTES) {
    console.log(`not judged: shorter than ${JUDGED_FROM_MINUTES} minutes`);
    process.exitCode = 2;
  }
  if (ends.length > 0) process.exitCode = 1;
} finally {
  work.isOver = true;
  await place.close();
  rmSync(folder, { recursive: true, force: true });
}

/** One reader: its share of the reads, alternately of pages and data. */
async function read(
  webs: readonly Member[],
  key: string,
  draw: (below: number) => number,
): Promise<void> {
  const everyMs = (1_000 * READERS) / READS_PER_SECOND;
  let next = performance.now();
  while (!work.isOver) {
    next += everyMs;
    const path = READS[draw(READS.length)] ?? "/";
    const url = (webs[draw(webs.length)]?.url ?? "") + path;
    try {
      const reply = await fetch(url, {
        headers: {
          authorization: `Bearer ${key}`,
          "accept-encoding": ["gzip", "br", "identity"][draw(3)] ?? "",
        },
      });
      await reply.arrayBuffer();
      if (!reply.ok) work.failed += 1;
    } catch {
      work.failed += 1;
    }
    work.reads += 1;
    await pause(Math.max(0, next - performance.now()));
  }
}

/** Listens to live counters for half a minute at a time, and fetches today's export in between. */
async function listen({ url }: Member): Promise<void> {
  while (!work.isOver) {
    const ends = AbortSignal.timeout(30_000);
    try {
      for await (const _ of voting({ baseUrl: url }).live({ signal: ends })) {
        work.heard += 1;
        if (work.isOver) break;
      }
    } catch {
      // Ended by its time, as it was meant to.
    }
    const today = new Date().toISOString().slice(0, 10);
    await fetch(`${url}/exports/${today}`)
      .then(async (reply) => {
        await reply.arrayBuffer();
        if (reply.ok) work.exports += 1;
      })
      .catch(() => undefined);
  }
}

async function sample({ sql, redis }: Place, series: Map<string, Series>): Promise<void> {
  const client = createClient({ url: redis.url });
  client.on("error", () => undefined);
  await client.connect();
  const add = (name: string, value: number, bound?: number): void => {
    const each = series.get(name) ?? { name, unit: "", points: [], ...(bound && { bound }) };
    each.points.push([(Date.now() - startedAt) / 1_000, value]);
    series.set(name, each);
  };
  const look = async (): Promise<void> => {
    const [row] = await sql<{ connections: number }[]>`
      select count(*) as connections from pg_stat_activity where datname = current_database()`;
    add("Postgres: connections", row?.connections ?? 0, 20);
    const info = await client.info("clients");
    add("Redis: connections", Number(/connected_clients:(\d+)/.exec(info)?.[1]), 20);
    const tables = await sql<{ name: string; dead: number; live: number }[]>`
      select relname as name, n_dead_tup as dead, n_live_tup as live from pg_stat_user_tables
      where n_dead_tup > 0`;
    for (const { name, dead, live } of tables) {
      if (live + dead > 1_000) add(`${name}: dead rows for a hundred live`, (100 * dead) / live);
    }
    add(
      "Postgres: dead rows",
      tables.reduce((sum, { dead }) => sum + dead, 0),
    );
    work.looks += 1;
  };
  while (!work.isOver) {
    // A busy machine's Postgres may not answer in time: that sample is left out.
    await look().catch(() => undefined);
    await pause(SAMPLE_EVERY_MS);
  }
  client.destroy();
}

/** What a process wrote of itself. */
function seriesOf({ name, preloadFile }: Member): readonly Series[] {
  const probes = readFileSync(preloadFile, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Probe);
  return OF_PROCESS.map(([what, unit, bound, amountOf]) => ({
    name: `${name}: ${what}`,
    unit,
    ...(bound !== undefined && { bound }),
    points: probes.map((probe) => [(probe.at - startedAt) / 1_000, amountOf(probe)]),
  }));
}

function report({ name, unit, bound, points }: Series): void {
  const from = minutes * 60 * LEFT_OUT;
  const kept = points.filter(([seconds]) => seconds >= from);
  const ordered = kept.map(([, value]) => value).sort((a, b) => a - b);
  const at = (share: number): string =>
    (ordered[Math.floor((ordered.length - 1) * share)] ?? Number.NaN).toFixed(1);
  const perHour = slopeOf(leastOfEachMinute(kept)) * 3_600;
  const isOver = bound !== undefined && perHour > bound && minutes >= JUDGED_FROM_MINUTES;
  if (isOver) process.exitCode = 1;
  const judged = bound === undefined ? "" : ` (at most ${bound})${isOver ? " GROWS" : ""}`;
  console.log(
    `${name}: median ${at(0.5)} ${unit}, highest ${at(1)}, slope ${perHour.toFixed(1)} ${unit} an hour${judged}`,
  );
}

function leastOfEachMinute(points: Series["points"]): Series["points"] {
  const least = new Map<number, Series["points"][number]>();
  for (const point of points) {
    const minute = Math.floor(point[0] / 60);
    const known = least.get(minute);
    if (known === undefined || point[1] < known[1]) least.set(minute, point);
  }
  return [...least.values()];
}
