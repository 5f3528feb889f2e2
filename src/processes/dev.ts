import { defineCommand } from "citty";
import { createLogger } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { createWakeQueue } from "../publishing/queue.ts";
import { type Home, openHome } from "./home.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { growHeapSlowly } from "./slow-heap-growth.ts";
import { startWeb } from "./web.ts";
import { startWorker } from "./worker.ts";

/** `starboard dev` (`npm start`): everything in one process tree, with nothing set. */
export const devCommand = defineCommand({
  meta: { name: "dev", description: "Run everything on this machine, with embedded defaults." },
  run: () => runUntilStopped(() => startAll()),
});

async function startAll() {
  growHeapSlowly();
  const startedAt = performance.now();
  const stops: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    // Last started, first stopped: nobody loses what it stands on.
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const home = await openHome((stop) => stops.push(stop));
    const log = createLogger(home.settings.LOG_LEVEL, "dev");
    const queue = await createWakeQueue(home.queue, log);
    stops.push(() => queue.close());
    // One process: what the worker measures is on the web port too.
    const metrics = createMetrics({ process: true });
    const worker = await startWorker(home.settings, { log, queue, backend: home.queue, metrics });
    stops.push(() => worker.close());
    const web = await startWeb(home.settings, {
      log,
      wake: queue.wake,
      backend: home.queue,
      metrics,
    });
    stops.push(() => web.close());
    await home.announce();
    say(welcome(home, web.url, (performance.now() - startedAt) / 1_000));
    return { log, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function welcome(home: Home, url: string, seconds: number): string {
  const key = home.demoKey;
  return `
Starboard is up after ${seconds.toFixed(1)} s.

  Public API    ${url}/v1
  API docs      ${url}/docs
  Voting API    ${url}/voting
  Console       ${url}/ops (operator token: ${home.operatorToken})
  Mirror node   ${home.settings.MIRROR_NODE_URL[0]}
  Data          ${home.folder}
  Demo API key  ${key}

Read a ranking:

  curl -H 'Authorization: Bearer ${key}' ${url}/v1/tokens/top

Cast a star, in another terminal:

  npm run demo

Ctrl-C stops everything; the data stays.
`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
