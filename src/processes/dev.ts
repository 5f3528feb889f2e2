import { defineCommand } from "citty";
import { isLoopback } from "../addresses.ts";
import { act } from "../cli/database.ts";
import { demoVoterClient } from "../cli/demo-voting.ts";
import { refuseMore } from "../cli/output.ts";
import { startVoters } from "../demo/voters.ts";
import { makeSignInLink } from "../keys/sign-in-link.ts";
import { createLogger } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { createDirectWakeQueue, createWakeQueue } from "../publishing/queue.ts";
import { closedInTurn } from "../service.ts";
import { type LocalEnvironment, openLocalEnvironment } from "./local-environment.ts";
import { printJson, runUntilStopped } from "./run-until-stopped.ts";
import { growHeapSlowly } from "./slow-heap-growth.ts";
import { startTracing, traceFields } from "./start-tracing.ts";
import { startWeb } from "./web.ts";
import { startWorker } from "./worker.ts";

/** `starboard dev` (`npm start`): everything in one process tree, with nothing set. */
export const subcommand = defineCommand({
  args: {
    json: {
      type: "boolean",
      description: "Print one JSON document: where to look.",
      default: false,
    },
  },
  async run({ args }) {
    refuseMore(args._);
    await runUntilStopped(() => startAll(args));
  },
});

async function startAll({ json }: { readonly json: boolean }) {
  growHeapSlowly();
  const startedAt = performance.now();
  const { add: closeAtStop, close } = closedInTurn();
  try {
    const home = await openLocalEnvironment(closeAtStop);
    const log = createLogger(home.settings.LOG_LEVEL, "dev", traceFields(home.settings));
    closeAtStop(await startTracing(home.settings, { role: "dev", log }));
    const { queueUrl } = home;
    const queue = closeAtStop(
      queueUrl === undefined ? createDirectWakeQueue() : createWakeQueue(queueUrl, log),
    );
    // One process: what the worker measures is on the web port too.
    const metrics = createMetrics({ process: true });
    const { demoWallets } = home;
    const web = closeAtStop(
      await startWeb(home.settings, { log, wake: queue.wake, queueUrl, metrics, demoWallets }),
    );
    // Last, because it goes to work at once, in the same process.
    closeAtStop(await startWorker(home.settings, { log, queue, queueUrl, metrics }));
    home.announce();
    if (home.voters.length > 0) {
      closeAtStop(startVoters({ ...home, client: demoVoterClient(web.url), log }));
    }
    const link = await signInLink(home, web.url).catch((error: unknown) => {
      // All else is up, and the operator's token signs in too.
      log.warn({ err: error }, "no link to the console was made");
      return null;
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    if (json) printJson(addresses(home, { url: web.url, link }));
    else process.stdout.write(`${welcome(home, { url: web.url, link }, seconds)}\n`);
    return { log, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What `--json` prints: where everything is, and what opens it. */
function addresses(
  { demoKey, folder, settings }: LocalEnvironment,
  { url, link }: { readonly url: string; readonly link: string | null },
) {
  return {
    url,
    consoleUrl: link ?? `${url}/ops`,
    apiKey: demoKey,
    mirrorNodeUrl: settings.MIRROR_NODE_URL[0],
    databaseUrl: withoutPassword(settings.DATABASE_URL),
    folder,
  };
}

function welcome(
  home: LocalEnvironment,
  { url, link }: { readonly url: string; readonly link: string | null },
  seconds: number,
): string {
  const { demoKey: key, settings } = home;
  const mirror = settings.MIRROR_NODE_URL[0];
  return `
Starboard is up after ${seconds.toFixed(1)} s.

  Directory     ${settings.PAGES === "on" ? `${url}/` : "PAGES is off"}
  Console       ${link === null ? `${url}/ops` : `${link} (signs you in once; then ${url}/ops)`}
  API docs      ${url}/docs
  Demo API key  ${key}

  Public API    ${url}/v1
  Voting API    ${url}/voting
  Mirror node   ${mirror}
  Postgres      ${withoutPassword(settings.DATABASE_URL)}
  Operator      ${home.operatorToken}
  Data          ${home.folder}

Read a ranking:

  curl -H 'Authorization: Bearer ${key}' ${url}/v1/tokens/top

Cast a star, in another terminal:

  npm run demo

Check every star as an outsider would:

  npx starboard audit --mirror ${mirror} --api ${url} --key ${key}

Ctrl-C stops everything; the data stays.
`;
}

/** The address for a screen; the password stays in the folder's files. */
function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = "";
  return url.href;
}

/**
 * A link to the console that the first who opens it within 15 minutes is signed in by. None where
 * others reach this machine's port: a screen that is shared, or a log, would let them in.
 */
async function signInLink({ settings }: LocalEnvironment, url: string): Promise<string | null> {
  if (!isLoopback(settings.HOST)) return null;
  const how = { name: "session.link", subject: "npm start", pool: { url: settings.DATABASE_URL } };
  return act(how, (sql) => makeSignInLink(sql, url));
}
