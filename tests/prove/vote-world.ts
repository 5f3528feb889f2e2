import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { SigningWallet } from "../../src/cli/demo-wallet.ts";
import { readSettings } from "../../src/config.ts";
import { armFailpoint } from "../../src/failpoint.ts";
import { issueKey } from "../../src/keys/api-keys.ts";
import { silentLogger } from "../../src/log.ts";
import { startWeb } from "../../src/processes/web.ts";
import { WEB_SETTINGS } from "../../src/processes/web-connections.ts";
import { openPublisher, pause } from "../publishing/live.ts";
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import { newWallet, send, signIn } from "../support/service.ts";
import { openAuditor } from "./auditor.ts";
import type { Case } from "./cases.ts";
import { createChecker } from "./check.ts";

/** Two stars of one wallet per case: one is weighed by NFTs, one is not. */
const TARGETS = [
  { type: "event", id: "meetup" },
  { type: "token", id: "0.0.9001" },
] as const;
const SETTLED_WITHIN_MS = 40_000;
const UP_WITHIN_MS = 120_000;
/**
 * Wallets that got their NFTs so long ago that no reading can have met the transfer: else no
 * audit could prove an event's total. Wallets after them hold nothing.
 */
const HOLDERS = 24;
const HELD_SINCE_MS = 600_000;

/** A whole service whose web process has the failpoints; a publisher puts its stars out. */
export async function openVoteWorld() {
  const time = { offset: -HELD_SINCE_MS };
  const network = await startNetwork({ now: () => Date.now() + time.offset });
  const { settings, sql, topics, hedera } = network;
  const holders: SigningWallet[] = [];
  while (holders.length < HOLDERS) holders.push(await newWallet(network, { a: 2, b: 1 }));
  time.offset = 0;
  await hedera.ledger.closeBlock();
  const { mirrorUrl } = hedera;
  const checker = createChecker({ sql, mirrorUrl, topics });
  const auditor = openAuditor({
    mirrorUrl,
    topics,
    collections: { a: network.collectionA, b: network.collectionB },
    keys: { a: settings.COLLECTION_A_KEY ?? "", b: settings.COLLECTION_B_KEY ?? "" },
  });
  const { key } = await issueKey(sql, "audit");
  const publisher = await openPublisher(
    {
      databaseUrl: settings.DATABASE_URL ?? "",
      mirrorUrl,
      nodes: hedera.nodes.map(({ address, account }) => ({ address, account })),
      operatorId: settings.HEDERA_OPERATOR_ID ?? "",
      operatorKey: settings.HEDERA_OPERATOR_KEY ?? "",
      topics,
      leaseMs: 2_000,
    },
    { sweepEveryMs: 300 },
  );
  return {
    async run(given: Case): Promise<boolean> {
      // An audit per case asks more often than a client may.
      const variables = { ...(await network.webSettings()), API_RATE_LIMIT: "1000000" };
      const web = await startVictim(variables, given);
      try {
        const wallet = holders.shift() ?? (await newWallet(network));
        const token = await signIn(web, wallet);
        const acknowledged = await Promise.all(
          TARGETS.map((target) => castUntilAcknowledged(web, token, target)),
        );
        const rows = await sql<{ id: string }[]>`
          select id from star where wallet = ${Number(wallet.id.split(".")[2])}`;
        assert.deepEqual(
          rows.map(({ id }) => id).sort(),
          [...acknowledged].sort(),
          "journal and replies",
        );
        await untilPublished();
        const { messages } = await checker.check();
        await auditor.audit({ messages, api: { url: web.url, key } });
        return web.wasHit();
      } finally {
        await web.close();
      }
    },
    async close() {
      await auditor.close();
      await publisher.close();
      await network.close();
    },
  };

  async function untilPublished(): Promise<void> {
    await until(
      "all stars are published",
      async () => {
        const [row] = await sql`select count(*) as left from outbox where state <> 'published'`;
        return row?.left === 0;
      },
      SETTLED_WITHIN_MS,
    );
  }
}

interface Web {
  readonly url: string;
  wasHit(): boolean;
  close(): Promise<void>;
}

/** A web process to be killed is a real one, and another one takes its port; any other lives here. */
async function startVictim(
  variables: Readonly<Record<string, string>> & { readonly PORT: string },
  { at, mode, hit }: Case,
): Promise<Web> {
  const url = `http://127.0.0.1:${variables.PORT}`;
  const startHere = () =>
    startWeb(readSettings(variables, WEB_SETTINGS), {
      log: silentLogger,
      wake: () => undefined,
      queueUrl: undefined,
    });
  if (mode !== "kill") {
    let wasHit = false;
    const web = await startHere();
    armFailpoint({ at, mode, hit }, () => {
      wasHit = true;
    });
    return {
      url,
      wasHit: () => wasHit,
      async close() {
        armFailpoint(undefined);
        await web.close();
      },
    };
  }
  const child = startProcess("serve", { ...variables, FAILPOINT: `${at}:${mode}:${hit}` });
  await until("the web process is up", () => isUp(url), UP_WITHIN_MS).catch((late: Error) => {
    throw new Error(`${late.message}; it said: ${child.log()}`);
  });
  let next: ReturnType<typeof startHere> | undefined;
  const gone = child.exited.then(() => {
    next = startHere();
  });
  return {
    url,
    wasHit: () => next !== undefined,
    async close() {
      await child.kill();
      await gone;
      await (await next)?.close();
    },
  };
}

function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Repeats one star under its key until it is acknowledged, as a client does. @returns the star's id
 */
async function castUntilAcknowledged(
  service: { readonly url: string },
  token: string,
  target: (typeof TARGETS)[number],
): Promise<string> {
  const headers = { "idempotency-key": randomUUID() };
  const until = performance.now() + SETTLED_WITHIN_MS;
  let last = "no reply";
  while (performance.now() < until) {
    const reply = await send(service, "POST /voting/stars", {
      token,
      json: { target },
      headers,
    }).catch(() => undefined);
    if (reply?.status === 201) return reply.body.star.id;
    if (reply !== undefined && reply.status < 500) throw new Error(`${reply.status} ${reply.text}`);
    last = reply?.text ?? last;
    await pause(100);
  }
  throw new Error(`a star was never acknowledged: ${last}`);
}
