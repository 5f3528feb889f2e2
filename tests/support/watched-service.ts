import * as assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { readSettings } from "../../src/config.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { startWeb } from "../../src/processes/web.ts";
import { WEB_SETTINGS } from "../../src/processes/web-connections.ts";
import { startWorker, WORKER_SETTINGS } from "../../src/processes/worker.ts";
import { createDirectWakeQueue } from "../../src/publishing/queue.ts";
import type { VerdictCheck } from "../../src/upkeep/runbook.ts";
import type { Verdict } from "../../src/upkeep/service-verdict.ts";
import { CONSOLE, TOKEN } from "../http/console/browser-session.ts";
import { type Network, startNetwork } from "./network.ts";
import { patiently } from "./patiently.ts";
import { send } from "./service.ts";

/** A web process and a worker in the test's process, on real parts, as operators see them. */
export interface WatchedService {
  readonly network: Network;
  readonly url: string;
  verdict(): Promise<Verdict>;
  /** Waits until each of these checks fails and says this, whatever else does. */
  untilFailing(lines: readonly FailingLine[]): Promise<Verdict>;
  /** Waits until every check is well. */
  untilWell(): Promise<void>;
  /** What `/metrics` says. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

export interface FailingLine {
  readonly check: string;
  readonly says: RegExp;
}

/** Reports and rounds come every ten seconds, sweeps every five; the rest is for a slow machine. */
const PATIENCE_MS = 90_000;

export async function startWatchedService(): Promise<WatchedService> {
  const network = await startNetwork();
  const given = { ...(await network.webSettings()), ...CONSOLE };
  const settings = readSettings(given, [...WEB_SETTINGS, ...WORKER_SETTINGS]);
  const queue = createDirectWakeQueue();
  const parts = {
    log: silentLogger,
    queueUrl: settings.REDIS_URL,
    metrics: createMetrics({ process: true }),
  };
  // A process that Postgres did not answer in time is started again.
  const worker = await patiently(() => startWorker(settings, { ...parts, queue }));
  const web = await patiently(() => startWeb(settings, { ...parts, wake: queue.wake }));
  const verdict = async (): Promise<Verdict> =>
    (await send(web, "GET /ops/api/health", { token: TOKEN })).body as Verdict;
  const until = async (what: string, isSo: (failing: readonly VerdictCheck[]) => boolean) => {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const seen = await verdict();
      if (isSo(seen.checks.filter(({ ok }) => !ok))) return seen;
      if (performance.now() > endsAt) assert.fail(`${what}: ${JSON.stringify(seen, null, 1)}`);
      await delay(250);
    }
  };
  return {
    network,
    url: web.url,
    verdict,
    untilFailing: (lines) =>
      until(lines.map(({ check, says }) => `${check}: ${says}`).join(), (failing) =>
        lines.every(({ check, says }) =>
          failing.some(({ name, message }) => name === check && says.test(message)),
        ),
      ),
    untilWell: () => until("all is well", (failing) => failing.length === 0).then(() => undefined),
    async metrics() {
      const { status, text } = await send(web, "GET /metrics", { token: TOKEN });
      assert.equal(status, 200);
      return text;
    },
    async close() {
      await Promise.all([web.close(), worker.close()]);
      await queue.close();
      await network.close();
    },
  };
}
