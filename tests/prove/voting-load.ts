import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { issueKey } from "../../src/keys/api-keys.ts";
import { messagesOf, type Network } from "../support/network.ts";
import { until } from "../support/processes.ts";
import { newWallet, signIn } from "../support/service.ts";

const VOTERS = 4;
const READERS = 2;
const PAUSE_MS = 40;
/** A client waits twice as long after each attempt that failed, up to this. */
const AGAIN_MS_MAX = 1_500;
const ATTEMPTS_MAX = 40;
const TARGETS = ["token/0.0.9001", "event/meetup", "collection/0.0.8001", "project/dex"];

/** What a load needs of the network that the service under it has. */
export type LoadedNetwork = Pick<
  Network,
  "sql" | "hedera" | "collectionA" | "collectionB" | "topics"
>;

/** Voters and readers behind a balancer. */
export interface VotingLoad {
  readonly figures: {
    stars: number;
    reads: number;
    readonly retries: Record<string, number>;
    slowestMs: number;
  };
  isReady(url: string): boolean;
  /** Says that the process at an address is another one from now on, of which nothing is known yet. */
  replaced(url: string): void;
  /** Begins to vote and to read. */
  begin(): Promise<void>;
  /**
   * Ends the load, waits until every star is published, and compares journal and topics with the
   * acknowledged stars.
   *
   * @throws Error when a request failed beyond its retries, or none was made
   * @returns a line with the figures
   */
  finish(): Promise<string>;
  /** Stops asking, whatever came of it. */
  stop(): Promise<void>;
}

interface Web {
  readonly url: string;
  generation: number;
  isReady: boolean;
}

/**
 * Asks one web process after the other, leaves out those not ready, and repeats elsewhere what is
 * not answered or answered 503, a star by its `Idempotency-Key`.
 */
export function votingLoad(network: LoadedNetwork, urls: readonly string[]): VotingLoad {
  const figures = { stars: 0, reads: 0, retries: {} as Record<string, number>, slowestMs: 0 };
  const webs: Web[] = urls.map((url) => ({ url, generation: 0, isReady: false }));
  const at = (url: string): Web => webs.find((web) => web.url === url) as Web;
  const acknowledged = new Map<string, number>();
  let load: Promise<unknown> = Promise.resolve();
  let isOver = false;

  /** As a balancer does: a process is asked for its readiness, and left out while it has none. */
  const looking = Promise.all(
    webs.map(async (web) => {
      while (!isOver) {
        const { generation } = web;
        const reply = await fetch(`${web.url}/readyz`).catch(() => undefined);
        await reply?.arrayBuffer();
        // An answer of the process before says nothing of this one.
        web.isReady = (reply?.ok ?? false) && generation === web.generation;
        await pause(100);
      }
    }),
  );

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
        acknowledged.set(star.id, star.weight);
        figures.stars += 1;
        await pause(PAUSE_MS);
      }
    }
  }

  async function read(key: string): Promise<void> {
    while (!isOver) {
      const authorization = `Bearer ${key}`;
      const { status } = await ask("/v1/tokens/top", { headers: { authorization } });
      assert.equal(status, 200);
      figures.reads += 1;
      await pause(PAUSE_MS);
    }
  }

  const stop = async (): Promise<void> => {
    isOver = true;
    await Promise.all([looking, load.catch(() => undefined)]);
  };
  return {
    figures,
    isReady: (url) => at(url).isReady,
    replaced(url) {
      Object.assign(at(url), { generation: at(url).generation + 1, isReady: false });
    },
    async begin() {
      const { key } = await issueKey(network.sql, "reader");
      const voters = Array.from({ length: VOTERS }, vote);
      load = Promise.all([...voters, ...Array.from({ length: READERS }, () => read(key))]);
      // A failure is thrown by `finish`; until then nothing is to end this process.
      load.catch(() => undefined);
    },
    async finish() {
      await stop();
      await load;
      assert.ok(figures.stars > 0 && figures.reads > 0, "nobody voted, or nobody read");
      const messages = await untilPublished(network, acknowledged);
      return (
        `${figures.stars} stars, ${figures.reads} reads, none failed; ` +
        `${messages} messages, each once; retries ${JSON.stringify(figures.retries)}; ` +
        `slowest answer with its retries ${Math.round(figures.slowestMs)} ms`
      );
    },
    stop,
  };
}

/** @returns how many messages there are: one of each acknowledged star */
async function untilPublished(
  network: LoadedNetwork,
  acknowledged: ReadonlyMap<string, number>,
): Promise<number> {
  const { sql, topics } = network;
  const isPublished = async (): Promise<boolean> => {
    const [row] = await sql<{ left: number }[]>`
      select count(*) as left from outbox where state <> 'published'`;
    return Number(row?.left) === 0;
  };
  await until("every star is published", isPublished, 120_000);
  const stars = await sql<{ id: string; weight: number }[]>`select id, weight from star`;
  assert.deepEqual(new Map(stars.map(({ id, weight }) => [id, weight])), new Map(acknowledged));
  const messages = await Promise.all(
    Object.values(topics).map((topic) => messagesOf(network, topic)),
  );
  const texts = messages.flat().map(({ text }) => text);
  assert.deepEqual([texts.length, new Set(texts).size], [acknowledged.size, acknowledged.size]);
  return texts.length;
}
