/**
 * Goal: a rolling restart under load fails no request beyond a retry, and loses and doubles no star.
 * Method: two `serve` and two `work` processes; voters and readers ask them in turn, leave out
 * one that is not ready, and repeat elsewhere what is not answered or answered 503, a star by its
 * `Idempotency-Key`; meanwhile each process is stopped by SIGTERM and started again, one after the
 * other. Then the journal and the topics are held against what the voters were told.
 * `npm run prove:rolling -- --rounds 2`.
 */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { issueKey } from "../../src/keys/issue-key.ts";
import { messagesOf, startNetwork } from "../support/network.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
import { newWallet, signIn } from "../support/service.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "2" } } });
const ROUNDS = Number(values.rounds);
const VOTERS = 4;
const READERS = 2;
const PAUSE_MS = 40;
/** A client waits twice as long after each attempt that failed, up to this. */
const AGAIN_MS_MAX = 1_500;
const ATTEMPTS_MAX = 40;
const TARGETS = ["token/0.0.9001", "event/meetup", "collection/0.0.8001", "project/dex"];

interface Web {
  readonly url: string;
  child: Child;
  isReady: boolean;
}

const figures = {
  stars: 0,
  reads: 0,
  retries: {} as Record<string, number>,
  failedStarts: 0,
  slowestMs: 0,
};
const network = await startNetwork();
const settings = { ...network.settings, API_RATE_LIMIT: "1000000" };
const { key } = await issueKey(network.sql, "reader");
const starts = new Map<Web, () => Child>();
const webs: Web[] = [];
for (let n = 0; n < 2; n += 1) {
  const own = { ...settings, ...(await network.webSettings()), API_RATE_LIMIT: "1000000" };
  const start = (): Child => startProcess("serve", own);
  const web = { url: `http://127.0.0.1:${own.PORT}`, child: start(), isReady: false };
  starts.set(web, start);
  webs.push(web);
}
const workers = [0, 1].map(() => startProcess("work", settings));
let isOver = false;

/** As a balancer does: a process is asked for its readiness, and left out while it has none. */
const looking = Promise.all(
  webs.map(async (web) => {
    while (!isOver) {
      const { child } = web;
      const reply = await fetch(`${web.url}/readyz`).catch(() => undefined);
      await reply?.arrayBuffer();
      // An answer of the process before says nothing of this one.
      web.isReady = (reply?.ok ?? false) && child === web.child;
      await pause(100);
    }
  }),
);
/** Started again where it ends by itself, as a supervisor does: a busy machine may end a start. */
async function isUp(web: Web): Promise<void> {
  let hasEnded = false;
  void web.child.exited.then(() => {
    hasEnded = true;
  });
  await until("a web process is ready, or ends", () => web.isReady || hasEnded, 120_000);
  if (web.isReady) return;
  figures.failedStarts += 1;
  web.child = starts.get(web)?.() ?? web.child;
  await isUp(web);
}
await Promise.all(webs.map(isUp));

let turn = 0;
/** Asks one process after the other until there is an answer. @throws Error after too many retries */
async function ask(path: string, init: RequestInit): Promise<{ status: number; text: string }> {
  const startedAt = performance.now();
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const ready = webs.filter(({ isReady }) => isReady);
    turn += 1;
    const web = (ready.length > 0 ? ready : webs)[turn % (ready.length || webs.length)] as Web;
    const reply = await fetch(web.url + path, init)
      .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
      .catch((error: Error) => error);
    if (!(reply instanceof Error) && reply.status !== 503) {
      figures.slowestMs = Math.max(figures.slowestMs, performance.now() - startedAt);
      return reply;
    }
    const cause = reply instanceof Error ? (reply.cause as { code?: string } | undefined) : null;
    const why = cause === null ? "503" : (cause?.code ?? String(reply));
    figures.retries[why] = (figures.retries[why] ?? 0) + 1;
    if (reply instanceof Error) web.isReady = false;
    await pause(Math.min(50 * 2 ** attempt, AGAIN_MS_MAX));
  }
  throw new Error(`${path} was not answered in ${ATTEMPTS_MAX} attempts`);
}

const told = new Map<string, number>();
async function vote(): Promise<void> {
  while (!isOver) {
    const wallet = await newWallet(network, { a: turn % 3 });
    const { url } = webs.find(({ isReady }) => isReady) ?? (webs[0] as Web);
    const token = await signIn({ url }, wallet).catch(() => undefined);
    for (const target of token === undefined ? [] : TARGETS) {
      const [type, id] = target.split("/");
      const { status, text } = await ask("/voting/stars", {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "idempotency-key": `${wallet.id} ${target}`,
        },
        body: JSON.stringify({ target: { type, id } }),
      });
      assert.equal(status, 201, text);
      const { star } = JSON.parse(text) as { star: { id: string; weight: number } };
      told.set(star.id, star.weight);
      figures.stars += 1;
      await pause(PAUSE_MS);
    }
  }
}

async function read(): Promise<void> {
  while (!isOver) {
    const { status } = await ask("/v1/tokens/top", { headers: { authorization: `Bearer ${key}` } });
    assert.equal(status, 200);
    figures.reads += 1;
    await pause(PAUSE_MS);
  }
}

const load = Promise.all([
  ...Array.from({ length: VOTERS }, vote),
  ...Array.from({ length: READERS }, read),
]);
// A failure is thrown below; until then nothing is to end this process.
load.catch(() => undefined);
try {
  await pause(2_000);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const web of webs) {
      assert.equal(await web.child.stop(), 0, web.child.log());
      web.child = starts.get(web)?.() ?? web.child;
      web.isReady = false;
      await isUp(web);
    }
    for (const [index, worker] of workers.entries()) {
      assert.equal(await worker.stop(), 0, worker.log());
      workers[index] = startProcess("work", settings);
      await pause(2_000);
    }
    process.stdout.write(`round ${round}: ${JSON.stringify(figures)}\n`);
  }
  isOver = true;
  await load;
  const waiting = async (): Promise<number> => {
    const [row] = await network.sql<{ left: number }[]>`
      select count(*) as left from outbox where state <> 'published'`;
    return row?.left ?? 0;
  };
  await until("every star is published", async () => (await waiting()) === 0, 120_000);
  const stars = await network.sql<{ id: string; weight: number }[]>`select id, weight from star`;
  assert.deepEqual(new Map(stars.map(({ id, weight }) => [id, weight])), told);
  const messages = await Promise.all(
    Object.values(network.topics).map((topic) => messagesOf(network, topic)),
  );
  const texts = messages.flat().map(({ text }) => text);
  assert.deepEqual([texts.length, new Set(texts).size], [told.size, told.size]);
  process.stdout.write(
    `${ROUNDS * 4} restarts: ${figures.stars} stars, ${figures.reads} reads, none failed; ` +
      `${texts.length} messages, each once; retries ${JSON.stringify(figures.retries)}; ${figures.failedStarts} failed starts; ` +
      `slowest answer with its retries ${Math.round(figures.slowestMs)} ms\n`,
  );
} finally {
  isOver = true;
  await looking;
  await Promise.all([...webs.map(({ child }) => child), ...workers].map((child) => child.stop()));
  await network.close();
}
