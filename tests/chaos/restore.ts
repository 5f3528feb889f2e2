import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/processes.ts";
import { type Place, patiently } from "./place.ts";
import type { Scene } from "./scene.ts";

const DATABASE = "starboard";
const DUMP = "starboard_dump";
/** Stars that the dump lacks: cast, and some of them published. */
const VOTES_FOR_MS = 6_000;
const TRIES = 10;
const UP_WITHIN_MS = 120_000;
const PAST_TRANSACTIONS_MS = 200_000;

/**
 * The journal goes back to a dump of a moment before, and is recovered from topics and exports.
 *
 * @param options.live whether the processes run on, and have to notice; else they are killed before
 *   and started when the journal is whole again
 */
export async function recoverJournal(
  { place, voters, history, counts }: Scene,
  { live }: { readonly live: boolean },
): Promise<void> {
  const { sql, proxies, fleet } = place;
  const webs = fleet.members.filter(({ role }) => role === "serve");
  await dump(place);
  await pause(VOTES_FOR_MS);
  if (!live) await fleet.down();
  proxies.postgres.refuse();
  await voters.forgetCalls();
  const [{ first } = { first: "" }] = await patiently(
    () => sql<{ first: string }[]>`select utc_day(now_ms() - 86400000) as first`,
  );
  await endBackends(place);
  // A connection of before the last fault may be dead, and not known to be.
  const exports = await patiently(() => place.keepExports(first));
  const left = await patiently(
    () => sql<{ id: string }[]>`select star_id as id from outbox where state <> 'published'`,
  );
  await history.add({ is: "restore", unpublished: left.map(({ id }) => id) });
  await drop(place, DATABASE);
  await copy(place, DUMP, DATABASE);
  await place.clock.apply();
  await place.grantPassesAgain();
  if (live) proxies.postgres.pass();
  const direct = { ...place.settings, DATABASE_URL: place.postgres.url };
  const words = ["journal", "recover", "--export", exports, "--accept", "--json"];
  const script = join(fleet.builds[0].folder, "dist/src/processes/starboard.js");
  const beforeMs = performance.now();
  for (let tries = 1; ; tries += 1) {
    const { status, stdout, stderr } = await runCommand([script, ...words], {
      ...direct,
      MIRROR_NODE_URL: place.ledger.place.mirrorUrl,
    });
    if (status === 0) {
      counts.recovered += (JSON.parse(stdout) as { recovered: number }).recovered;
      // A message that was on its way when the topics were read stands there by now.
      if (!live || (await isWhole(place))) break;
    }
    if (tries === TRIES) throw new Error(`journal recover: ${status} ${stdout} ${stderr}`);
    await pause(500);
  }
  counts.slowestRecoverMs = Math.max(counts.slowestRecoverMs, performance.now() - beforeMs);
  proxies.postgres.pass();
  if (!live) {
    fleet.up();
    await until("a web process is up", () => webs.some((web) => web.isUp()), UP_WITHIN_MS);
  }
  // What waits for the end of the lost journal's transactions need not wait for ours.
  await place.clock.jump(PAST_TRANSACTIONS_MS);
}

function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...words], { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}

/** A copy of the database as it is at one moment. */
async function dump(place: Place): Promise<void> {
  const { proxies } = place;
  proxies.postgres.refuse();
  await endBackends(place);
  await drop(place, DUMP);
  await copy(place, DATABASE, DUMP);
  proxies.postgres.pass();
}

async function drop({ server }: Place, database: string): Promise<void> {
  await patiently(() => server`drop database if exists ${server(database)} with (force)`);
}

/** Postgres copies no database that has connections; those of the service come by the proxy. */
async function copy({ server }: Place, from: string, to: string): Promise<void> {
  await patiently(async () => {
    await server`select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = ${from}`;
    await server`create database ${server(to)} template ${server(from)} strategy file_copy`;
  });
}

async function endBackends({ server }: Place): Promise<void> {
  await patiently(
    () => server`
      select pg_terminate_backend(pid, 1000) from pg_stat_activity
      where datname = ${DATABASE} and application_name = 'starboard'`,
  );
}

/** Whether no process finds that the journal lacks a message. */
async function isWhole({ sql, fleet }: Place): Promise<boolean> {
  await pause(1_000);
  const [row] = await patiently(
    () => sql<{ lost: number }[]>`
      select count(*) as lost from publishing_finding where kind = 'lost' and resolved_at is null`,
  );
  const webs = fleet.members.filter(({ role, isUp }) => role === "serve" && isUp());
  const states = await Promise.all(
    webs.map(({ url }) =>
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) })
        .then((reply) => reply.json() as Promise<{ journal?: string }>)
        .then(({ journal }) => journal)
        .catch(() => undefined),
    ),
  );
  return row?.lost === 0 && !states.includes("behind");
}
