/**
 * How fast the console's pages answer on a full journal, and what it costs voters when it is open:
 *
 *     npm run bench:console -- [--quick] [--only pages|voters]
 *
 * Asks every page of the table of pages, and every GET of the operators' API, one after another of
 * a `serve` process; a page without a known address ends the run at once. Stars are cast by an
 * engine of this process, alternately with and without a console that asks for a page each second
 * and holds two streams. Ends with 1 when an address is not answered, or a page misses its goal; the
 * times of `--quick` are not judged.
 */
import { parseArgs } from "node:util";
import { opsApi } from "../../src/http/ops/api.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { CONSOLE, signInOperator, TOKEN, type Visitor } from "../http/console/browser-session.ts";
import { readStream } from "../http/console/event-stream.ts";
import { PAGES } from "../http/console/table-of-pages.ts";
import { startEngine } from "../support/engine.ts";
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import {
  type Address,
  apiAddresses,
  consoleAddresses,
  findLandmarks,
  type Landmarks,
  leftOut,
} from "./console-addresses.ts";
import { seedForConsole } from "./seed-console.ts";
import { seedBooks, seedRedis } from "./seed-console-books.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
});
const SIZE = values.quick
  ? { stars: 100_000, hotEvent: 5_000, busyEvent: 800, hotMint: 10_000, waiting: 5_000 }
  : { stars: 1_000_000, hotEvent: 50_000, busyEvent: 4_000, hotMint: 100_000, waiting: 20_000 };
const BOOKS = values.quick
  ? { records: 10_000, lines: 10_000, entries: 1_000, releases: 5_000, jobs: 500 }
  : { records: 10_000, lines: 100_000, entries: 5_000, releases: 50_000, jobs: 10_000 };
const ASKED = 40;
/** Pages whose reading is shared for two seconds are asked for later than that, and less often. */
const SHARED = { pages: ["/ops", "/ops/publishing"], pauseMs: 2_100, asked: 20 };
/** A stream that was left ends within a second, and no more than fifty are held. */
const STREAMS = { asked: 10, pauseMs: 0 };
const GOAL_MS = 300;
/**
 * No pages: they hold every NFT of an actor with very many, or all of the log, or count every star of
 * busy days, so they are as slow as that is large.
 */
const WHOLE = [
  "api: the busy event's day",
  "api: busy events' days",
  "api: the full mint",
  "operator log, whole",
];
/** What the machine itself takes for a reply: what else runs on it slows everything alike. */
const PLAIN: Address = ["a file, for comparison", "/assets/icon.svg"];
/** What is slow is asked for less often: the bench comes to its end. */
const PATIENCE = { ms: 30_000, asked: 5 };
const ROUNDS = values.quick ? 3 : 9;
const ROUND_MS = 3_000;
const IN_FLIGHT = 64;

/** Addresses that were not answered as they should, with what they said instead. */
const failed = new Set<string>();
// When ended early, it ends the processes that it started.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const network = await startNetwork();
note(`filling the journal: ${SIZE.stars} stars`);
const filler = openPostgres(network.settings.DATABASE_URL ?? "", {
  connections: 1,
  statementTimeoutMs: 1_200_000,
});
await seedBooks(filler, BOOKS);
await seedForConsole(filler, SIZE);
await filler`vacuum analyze`;
await seedRedis(network.settings.REDIS_URL ?? "", BOOKS.jobs);
const [actors] =
  await filler`select count(*) as days from (select distinct wallet, day from star) as pairs`;
const landmarks = await findLandmarks(filler);
await filler.end();
note(`${actors?.days} wallet-days`);
const settings = await network.webSettings();
const service = { url: `http://127.0.0.1:${settings.PORT}` };
const child = startProcess("serve", { ...settings, ...CONSOLE });
await until("it answers", () =>
  fetch(`${service.url}/healthz`).then(
    () => true,
    () => false,
  ),
);
const operator = await signInOperator(service);
try {
  if (values.only !== "voters") await pages(operator, landmarks);
  if (values.only !== "pages") await voters(operator);
} finally {
  await child.stop();
  await network.close();
}

/** Every page, and what follows it; an address that answers anything but 200 misses the goal. */
async function pages(visitor: Visitor, at: Landmarks): Promise<void> {
  // Registering the routes asks for their guards; no request comes.
  const noDoor = { access: { guard: () => () => undefined } };
  const api = opsApi(noDoor as unknown as Parameters<typeof opsApi>[0]);
  const forgotten = leftOut(PAGES, api, at);
  if (forgotten.length > 0) throw new Error(`no address is known of ${forgotten.join(", ")}`);
  const [ofPages, ofApi] = [consoleAddresses(at), apiAddresses(at)].map((known) =>
    Object.values(known).flat(),
  );
  const measured: (readonly [string, number])[] = [];
  await measure(visitor, PLAIN);
  for (const address of [...(ofPages ?? []), ...(ofApi ?? [])]) {
    const { p95, following } = await measure(visitor, address);
    const further = following.map((path, n): Address => [`${address[0]}, next ${n + 1}`, path]);
    measured.push([address[0], p95]);
    for (const next of further) measured.push([next[0], (await measure(visitor, next)).p95]);
  }
  await measure(visitor, PLAIN);
  const slow = measured
    .filter(([name, p95]) => p95 > GOAL_MS && !WHOLE.includes(name))
    .map(([name]) => name);
  print(
    `${measured.length} places of ${PAGES.length} pages; p95 above ${GOAL_MS} ms: ${slow.join(", ") || "none"}${values.quick ? ", not judged" : ""}`,
  );
  if (failed.size > 0) print(`not answered: ${[...failed].join(", ")}`);
  if ((slow.length > 0 && !values.quick) || failed.size > 0) process.exitCode = 1;
}

async function measure(
  visitor: Visitor,
  [name, below]: Address,
): Promise<{ readonly p95: number; readonly following: readonly string[] }> {
  const path = `/ops${below}`;
  const { asked, pauseMs } = SHARED.pages.includes(path)
    ? SHARED
    : path.startsWith("/ops/live/")
      ? STREAMS
      : { asked: ASKED, pauseMs: 0 };
  const times: number[] = [];
  let text = "";
  const begunAt = performance.now();
  while (times.length < asked) {
    if (
      times.length >= PATIENCE.asked &&
      performance.now() - begunAt > PATIENCE.ms + asked * pauseMs
    )
      break;
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const startedAt = performance.now();
    text = await ask(visitor, path);
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.ceil(times.length * share) - 1] ?? 0;
  const [p50, p95] = [at(0.5), at(0.95)];
  print(
    `${name.padEnd(34)} p50 ${p50.toFixed(0).padStart(5)} ms   p95 ${p95.toFixed(0).padStart(5)} ms   ${(text.length / 1024).toFixed(0).padStart(5)} KB${p95 > GOAL_MS ? "   above the goal" : ""}`,
  );
  const following = [...text.matchAll(/href="\/ops([^"]*)" rel="next"/g)].map(([, href = ""]) =>
    href.replaceAll("&amp;", "&"),
  );
  return { p95, following };
}

/** A page or a reply whole; of a stream its first two events: the greeting, and what is there. */
async function ask(visitor: Visitor, path: string): Promise<string> {
  if (path.startsWith("/ops/live/")) {
    const enough = path.includes("numbers") || path.includes("since") ? 2 : 1;
    const events = await readStream(service.url + path, visitor, ({ length }) => length >= enough);
    return events.map(({ data }) => data).join("");
  }
  const reply = path.startsWith("/ops/api/")
    ? await fetch(service.url + path, { headers: { authorization: `Bearer ${TOKEN}` } })
    : null;
  const { status, text } =
    reply === null ? await visitor.get(path) : { status: reply.status, text: await reply.text() };
  // What is searched for by its id is gone to.
  if (status !== 200 && !(status === 303 && path.startsWith("/ops/search?")))
    failed.add(`${status} ${path}`);
  return text;
}

async function voters(visitor: Visitor): Promise<void> {
  const engine = await startEngine(network.settings.DATABASE_URL ?? "");
  let wallet = 17_000_000;
  const round = async (): Promise<number> => {
    const endsAt = performance.now() + ROUND_MS;
    let stars = 0;
    const vote = async (): Promise<void> => {
      while (performance.now() < endsAt) {
        wallet += 1;
        await engine.cast(`0.0.${wallet}`, "token/0.0.9001");
        stars += 1;
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, vote));
    return stars / (ROUND_MS / 1_000);
  };
  const watched = async (): Promise<number> => {
    let isOpen = true;
    const streams = ["numbers", "decisions"].map((name) =>
      readStream(`${service.url}/ops/live/${name}`, visitor, () => !isOpen).catch(() => []),
    );
    const polling = (async () => {
      while (isOpen) {
        await visitor.get("/ops");
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    })();
    const speed = await round();
    isOpen = false;
    await Promise.all([polling, ...streams]);
    return speed;
  };
  await round();
  const alone: number[] = [];
  const together: number[] = [];
  for (let n = 0; n < ROUNDS; n += 1) {
    // The order changes each round, so that any drift affects both.
    if (n % 2 === 0) alone.push(await round());
    together.push(await watched());
    if (n % 2 === 1) alone.push(await round());
  }
  const middle = (all: readonly number[]): number =>
    [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
  const [without, with_] = [middle(alone), middle(together)];
  const ratios = together.map((speed, n) => speed / (alone[n] ?? speed));
  print(
    `stars/s without a console ${without.toFixed(0)}, with one ${with_.toFixed(0)}: ${(with_ / without).toFixed(2)}; ` +
      `middle of ${ROUNDS} rounds' own ratios ${middle(ratios).toFixed(2)}`,
  );
  await engine.close();
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
