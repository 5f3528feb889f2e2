/**
 * How fast the console's pages answer on a full journal, and what it costs voters when it is open:
 *
 *     npm run bench:console -- [--quick]
 *
 * Measures, asserts nothing. Pages are asked of a `serve` process one after another; stars are
 * cast by an engine of this process, in turns with and without a console that asks for a page
 * each second and holds two streams.
 */
import { parseArgs } from "node:util";
import { openPostgres } from "../../src/store/postgres.ts";
import { CONSOLE, signInOperator, type Visitor } from "../http/console/browser-session.ts";
import { readStream } from "../http/console/event-stream.ts";
import { startEngine } from "../support/engine.ts";
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import { seedForConsole } from "./seed-console.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const SIZE = values.quick
  ? { stars: 100_000, hotEvent: 5_000, hotMint: 10_000 }
  : { stars: 1_000_000, hotEvent: 50_000, hotMint: 100_000 };
const ASKED = 40;
const ROUNDS = 9;
const ROUND_MS = 3_000;
const IN_FLIGHT = 64;

const network = await startNetwork();
note(`filling the journal: ${SIZE.stars} stars`);
const filler = openPostgres(network.settings.DATABASE_URL ?? "", {
  connections: 1,
  statementTimeoutMs: 1_200_000,
});
await seedForConsole(filler, SIZE);
const [actors] =
  await filler`select count(*) as days from (select distinct wallet, day from star) as pairs`;
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
await pages(operator);
await voters(operator);
await child.stop();
await network.close();

async function pages(visitor: Visitor): Promise<void> {
  const [star] =
    await network.sql`select id, wallet, day from star where target_id = 'full' limit 1`;
  const [token] =
    await network.sql`select id, wallet, day from star where target_type = 'token' limit 1`;
  const today = new Date().toISOString().slice(0, 10);
  const paths = [
    ["overview", ""],
    ["live", "/feed"],
    ["live of a wallet", `/feed?wallet=0.0.${token?.wallet}`],
    ["live of an event", "/feed?event=hot"],
    ["live of a quiet event", "/feed?event=e11"],
    ["actors", "/actors"],
    ["actors of a wallet", `/actors?q=0.0.${token?.wallet}`],
    ["actors of a day", `/actors?q=${token?.day}`],
    ["actors of an event", "/actors?q=e10"],
    ["event days", "/actors?type=event-day"],
    ["event days of a day", `/actors?type=event-day&q=${token?.day}`],
    ["forever mints", "/actors?type=forever-mint"],
    ["a wallet-day", `/actors/wallet-day/0.0.${token?.wallet}/${token?.day}`],
    ["the busy event's day", `/actors/event-day/hot/${today}`],
    ["the full mint", "/actors/forever-mint/full"],
    ["stars", "/stars"],
    ["stars of an event", "/stars?q=hot"],
    ["stars of a wallet", `/stars?q=0.0.${token?.wallet}`],
    ["a star on the mint", `/stars/${star?.id}`],
    ["the log", "/log"],
  ] as const;
  for (const [name, path] of paths) {
    const times: number[] = [];
    for (let n = 0; n < ASKED; n += 1) {
      const startedAt = performance.now();
      const { status } = await visitor.get(`/ops${path}`);
      times.push(performance.now() - startedAt);
      if (status !== 200) note(`${name}: ${status}`);
    }
    times.sort((one, other) => one - other);
    const at = (share: number): string => (times[Math.ceil(ASKED * share) - 1] ?? 0).toFixed(0);
    print(`${name.padEnd(24)} p50 ${at(0.5).padStart(5)} ms   p95 ${at(0.95).padStart(5)} ms`);
  }
}

async function voters(visitor: Visitor): Promise<void> {
  const engine = await startEngine(network.settings.DATABASE_URL ?? "");
  let wallet = 7_000_000;
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
    // The other one begins each round: whatever drifts, it meets both.
    if (n % 2 === 0) alone.push(await round());
    together.push(await watched());
    if (n % 2 === 1) alone.push(await round());
  }
  const middle = (all: number[]): number =>
    all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
  const [without, with_] = [middle(alone), middle(together)];
  print(
    `stars/s without a console ${without.toFixed(0)}, with one ${with_.toFixed(0)}: ${(with_ / without).toFixed(2)}`,
  );
  await engine.close();
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
