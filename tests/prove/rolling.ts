/**
 * Goal: a rolling restart under load fails no request beyond a retry, and loses and doubles no star.
 * Method: two `serve` and two `work` processes under voters and readers; meanwhile each process is
 * stopped by SIGTERM and started again, one after the other. Then the journal and the topics are
 * compared with the acknowledged stars. `npm run prove:rolling -- --rounds 2`.
 */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { givenNumber } from "../support/given-number.ts";
import { startNetwork } from "../support/network.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
import { votingLoad } from "./voting-load.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "2" } } });
const ROUNDS = givenNumber("rounds", values.rounds);

interface Web {
  readonly url: string;
  readonly start: () => Child;
  child: Child;
}

let failedStarts = 0;
const network = await startNetwork();
const settings = { ...network.settings, API_RATE_LIMIT: "1000000" };
const webs: Web[] = [];
for (let n = 0; n < 2; n += 1) {
  const own = { ...settings, ...(await network.webSettings()), API_RATE_LIMIT: "1000000" };
  const start = (): Child => startProcess("serve", own);
  webs.push({ url: `http://127.0.0.1:${own.PORT}`, start, child: start() });
}
const workers = [0, 1].map(() => startProcess("work", settings));
const load = votingLoad(
  network,
  webs.map(({ url }) => url),
);

/** Started again where it ends by itself, as a supervisor does: a busy machine may end a start. */
async function isUp(web: Web): Promise<void> {
  let hasEnded = false;
  void web.child.exited.then(() => {
    hasEnded = true;
  });
  const isReady = (): boolean => load.isReady(web.url);
  await until("a web process is ready, or ends", () => isReady() || hasEnded, 120_000);
  if (isReady()) return;
  failedStarts += 1;
  web.child = web.start();
  load.replaced(web.url);
  await isUp(web);
}

try {
  await Promise.all(webs.map(isUp));
  await load.begin();
  await pause(2_000);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const web of webs) {
      assert.equal(await web.child.stop(), 0, web.child.log());
      web.child = web.start();
      load.replaced(web.url);
      await isUp(web);
    }
    for (const [index, worker] of workers.entries()) {
      assert.equal(await worker.stop(), 0, worker.log());
      workers[index] = startProcess("work", settings);
      await pause(2_000);
    }
    process.stdout.write(`round ${round}: ${JSON.stringify(load.figures)}\n`);
  }
  const figures = await load.finish();
  process.stdout.write(`${ROUNDS * 4} restarts: ${figures}; ${failedStarts} failed starts\n`);
} finally {
  await load.stop();
  await Promise.all([...webs.map(({ child }) => child), ...workers].map((child) => child.stop()));
  await network.close();
}
