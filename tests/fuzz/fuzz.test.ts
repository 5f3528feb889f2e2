// timeout: 600 s
/**
 * Goal: whatever bytes arrive at any surface, and whatever the services behind it answer, the
 * service has no fault of its own: no 5xx, every error in the contract's shape, nothing leaked,
 * memory flat. Method: the 13 classes of odd requests and odd answers, seeded, over raw sockets to
 * a whole web process on real servers; successes are held against the OpenAPI documents.
 *
 *     npm run prove:fuzz -- --requests 40000 --seed 7
 *     npm run prove:fuzz -- --requests 40000 --minutes 5   no longer than that
 *     npm run prove:fuzz -- --seed 7 --only 1234           one request again, with what came of it
 *
 * The suite takes a short sample.
 */
import * as assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pino } from "pino";
import { test } from "uvu";
import type { OpenApi } from "../http/v1/contract.ts";
import { givenNumber } from "../support/given-number.ts";
import { send } from "../support/service.ts";
import { type Judged, judge } from "./judge.ts";
import { CLASSES, diceOf, oddRequest, voterRequest } from "./requests.ts";
import { oddLedgerAnswer, spoilMirror, spoilRedis } from "./troubles.ts";
import { exchange, repliesIn, type WireRequest } from "./wire.ts";
import { openWorld, STRUCK, type Voter, type World } from "./world.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string" },
    seed: { type: "string" },
    only: { type: "string" },
    minutes: { type: "string" },
  },
  strict: false,
});
/** The sample of the suite; `npm run prove:fuzz` asks for more. */
const SAMPLE = 900;
const isProof = values.requests !== undefined;
const requests = givenNumber("requests", String(values.requests ?? SAMPLE));
const seed = Number(values.seed ?? 1);
const minutes =
  values.minutes === undefined ? Infinity : givenNumber("minutes", String(values.minutes));
const only = values.only === undefined ? undefined : givenNumber("only", String(values.only), 0);
/** An answer behind a spoilt mirror node comes at the deadline: many wait side by side. */
const CONNECTIONS = STRUCK;
/** So many say enough of a run. */
const FAILURES_MAX = 10;
const VOTERS = isProof ? 200 : 24;
/** No answer comes later, asked again: a proof counts them, a timing is no matter of the suite. */
const SLOW_MS = 3_000;
/** A star's or a preview's own deadline is that long; then its answer is on its way. */
const SLOW_BEHIND_MIRROR_MS = 3_500;
/** A request that a busy machine was late with is sent so often, after ever longer pauses. */
const TRIES_MAX = 5;
const PAUSE_MS = 500;
/** The part of all requests that a busy machine may refuse with 503, the first time. */
const LATE_MAX = 1 / 100;
/** Heap that caches with a bound may still take after a tenth of the run. */
const HEAP_GROWTH_MAX_MIB = 24;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Log lines as they are written: what matters is kept, the rest is searched and let go. */
const faults: string[] = [];
let lines = 0;
let leaked = 0;
let world: World | undefined;
const log = pino(
  { level: "info" },
  {
    write(line: string) {
      lines += 1;
      if (world?.secrets.some((secret) => line.includes(secret))) leaked += 1;
      if (JSON.parse(line).level >= 50 && faults.length < 20) faults.push(line);
    },
  },
);

const NAMES = [
  ...CLASSES.map(([name]) => name),
  ...["mirror answers", "ledger answers", "Redis contents"],
];
/** What shows that a class reaches its subject; successes where absent. */
const WELL_ANSWERED: Readonly<Record<string, readonly string[]>> = {
  methods: ["405"],
  "mirror answers": ["503"],
  "ledger answers": ["refused"],
};
const seen = new Map<string, Map<string, number>>(NAMES.map((name) => [name, new Map()]));
const failures: string[] = [];
const slowest: { ms: number; at: string }[] = [];
let late = 0;

test(`${requests} odd requests of seed ${seed}: no 5xx, every error in shape, nothing leaked (P15)`, async () => {
  world = await openWorld(log, VOTERS);
  try {
    await run(world);
  } finally {
    await world.close();
  }
});

async function run(here: World): Promise<void> {
  const prototype = Object.getOwnPropertyNames(Object.prototype).join();
  const { body } = await send(here.service, "GET /v1/openapi.json");
  const document: OpenApi = body;
  const heap: number[] = [];
  let next = only ?? 0;
  const end = only === undefined ? requests : next + 1;
  const endBy = performance.now() + minutes * 60_000;
  const work = async (until: number): Promise<void> => {
    while (next < until && performance.now() < endBy) {
      const index = next++;
      await fuzzOne(here, document, index).catch((error: Error) => {
        const again = `npm run prove:fuzz -- --seed ${seed} --only ${index}`;
        failures.push(`${nameOf(index)}: ${error.message}\n${again}`);
      });
      if (failures.length >= FAILURES_MAX) return;
    }
  };
  for (const until of [Math.ceil(end / 10), end]) {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => work(until)));
    collectGarbage();
    heap.push(Math.round(process.memoryUsage().heapUsed / 2 ** 20));
  }
  print(heap, next);
  assert.equal(failures.length, 0, failures.join("\n\n"));
  assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), prototype);
  assert.deepEqual(faults, [], "nothing was logged as a fault");
  assert.equal(leaked, 0, "a secret is in the log");
  assert.ok(late <= 5 + requests * LATE_MAX, `${late} requests were late`);
  if (only !== undefined) return;
  for (const [name, outcomes] of seen) {
    const well = (WELL_ANSWERED[name] ?? ["200", "201"]).map((one) => outcomes.get(one) ?? 0);
    const least = next / NAMES.length / 100;
    assert.ok(Math.max(...well) >= least, `${name}: too few came through`);
  }
  const [early = 0, final = 0] = heap;
  if (!isProof) return;
  assert.ok(final - early <= HEAP_GROWTH_MAX_MIB, `the heap grew from ${early} to ${final} MiB`);
  const slow = slowest.filter(
    ({ ms, at }) => ms > (at.endsWith("mirror answers") ? SLOW_BEHIND_MIRROR_MS : SLOW_MS),
  );
  assert.deepEqual(slow, [], "answers over 3 s");
}

function nameOf(index: number): string {
  return NAMES[index % NAMES.length] ?? "";
}

async function fuzzOne(here: World, document: OpenApi, index: number): Promise<void> {
  const random = diceOf(seed, index);
  const name = nameOf(index);
  const given = { document, secrets: here.secrets, outages: [] as readonly string[] };
  const [, make] = CLASSES[index % NAMES.length] ?? [];
  if (make !== undefined) {
    return ask(here, name, { request: await oddRequest(make, random, here), given, index });
  }
  if (name === "ledger answers") {
    ledger = ledger.then(() => oddLedgerAnswer(random, here)).then((kind) => note(name, kind));
    return ledger;
  }
  const voter = here.struck.pop();
  assert.ok(voter);
  try {
    const request = voterRequest(random, voter);
    if (name === "Redis contents") {
      await spoilRedis(random, here, voter, request);
      return await ask(here, name, { request, given, index });
    }
    await askBehindMirror(here, { voter, request, given, index, random });
  } finally {
    here.struck.unshift(voter);
  }
}

/** The nodes' faults strike every call, so one message is sent at a time. */
let ledger: Promise<void> = Promise.resolve();

async function askBehindMirror(
  here: World,
  asked: {
    voter: Voter;
    request: WireRequest;
    given: Judged;
    index: number;
    random: ReturnType<typeof diceOf>;
  },
): Promise<void> {
  const heal = spoilMirror(asked.random, here, asked.voter);
  try {
    const given = { ...asked.given, outages: ["HOLDINGS_UNAVAILABLE", "UNAVAILABLE"] };
    await ask(here, "mirror answers", { ...asked, given });
  } finally {
    heal();
  }
}

async function ask(
  { service }: World,
  name: string,
  asked: { readonly request: WireRequest; readonly given: Judged; readonly index: number },
): Promise<void> {
  const { request, given, index } = asked;
  try {
    let { wire, ms } = await timed(service.url, request);
    // A busy machine may be late; for what was said it is not, as another try shows.
    for (let tries = 1; tries < TRIES_MAX; tries += 1) {
      const isDown = wire.startsWith("HTTP/1.1 503 ") && given.outages.length === 0;
      if (isDown) late += 1;
      if (!isDown && !(isProof && ms > SLOW_MS)) break;
      await delay(tries * PAUSE_MS);
      ({ wire, ms } = await timed(service.url, request));
    }
    noteTime(ms, `${index} ${name}`);
    const replies = repliesIn(wire, request);
    const { least, most } = request.replies;
    assert.ok(replies.length >= least && replies.length <= most, `${replies.length} replies`);
    for (const reply of replies) {
      judge(reply, request, given);
      note(name, String(reply.status));
      if (only !== undefined) {
        process.stdout.write(`${request.bytes}\n\n${reply.status} ${reply.text}\n`);
      }
    }
  } catch (error) {
    const sent = JSON.stringify(request.bytes.slice(0, 600));
    throw new Error(`${(error as Error).message}\n${sent}`, { cause: error });
  }
}

async function timed(url: string, request: WireRequest): Promise<{ wire: string; ms: number }> {
  const startedAt = performance.now();
  const wire = await exchange(url, request);
  return { wire, ms: performance.now() - startedAt };
}

function note(name: string, outcome: string): void {
  const outcomes = seen.get(name);
  outcomes?.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

function noteTime(ms: number, at: string): void {
  if (slowest.length === 5 && ms <= (slowest[4]?.ms ?? 0)) return;
  slowest.push({ ms: Math.round(ms), at });
  slowest.sort((one, other) => other.ms - one.ms).splice(5);
}

function print([early = 0, final = 0]: readonly number[], asked: number): void {
  const write = (line: string): boolean => process.stdout.write(`${line}\n`);
  write(`${asked} requests, seed ${seed}`);
  for (const [name, outcomes] of seen) {
    const shown = [...outcomes].sort().map(([outcome, times]) => `${times} × ${outcome}`);
    write(`${name}: ${shown.join(", ")}`);
  }
  write(`slowest: ${slowest.map(({ ms, at }) => `${ms} ms (${at})`).join(", ")}`);
  write(`heap after collection: ${early} MiB at 10 %, ${final} MiB at the end; ${lines} log lines`);
  if (late > 0) write(`${late} were late on this machine, and answered when repeated`);
}

test.run();
