/**
 * Goal: the runbooks work as they stand. Method: the `sh` blocks of the page, in their order, on two
 * throw-away servers by Postgres' own programs (`pg_config --bindir`), around a service with a past
 * on a ledger of its own: some stars before the backup, some after it. `npm run prove:runbooks`.
 */
import * as assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../src/local/free-port.ts";
import { serverUser } from "../../src/local/server-user.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { openLostWorld, stateOf } from "../recovery/world.ts";
import { startProcess, until } from "../support/processes.ts";
import { nodeArguments } from "../support/script.ts";

const PROGRAMS = execFileSync("pg_config", ["--bindir"], { encoding: "utf8" }).trim();
const ENTRY = new URL("../../src/processes/starboard.ts", import.meta.url);

/** The `sh` blocks of a page, without the indent of a list. */
function blocksOf(page: string): readonly string[] {
  const file = fileURLToPath(new URL(`../../docs/operating/${page}`, import.meta.url));
  const found = readFileSync(file, "utf8").matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm);
  return [...found].map(([, indent = "", text = ""]) => text.replaceAll(`\n${indent}`, "\n"));
}

/** A server by Postgres' own programs, with its superuser's URL. */
async function startServer(folder: string) {
  const user = serverUser(folder);
  mkdirSync(folder);
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const run = { cwd: folder, stdio: "ignore", ...user } as const;
  const auth = ["--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"];
  execFileSync(join(PROGRAMS, "initdb"), ["-D", data, "-U", "postgres", ...auth], run);
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  const control = (...args: readonly string[]): void => {
    execFileSync(join(PROGRAMS, "pg_ctl"), ["-D", data, "-w", ...args], run);
  };
  control("-o", options, "-l", join(folder, "log"), "start");
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => control("-m", "immediate", "stop"),
  };
}

async function runBlock(block: string, env: Readonly<Record<string, string>>): Promise<void> {
  const shell = spawn("bash", ["-eu", "-o", "pipefail", "-c", block], { env, stdio: "inherit" });
  const status = await new Promise((resolve) => shell.once("exit", resolve));
  assert.equal(status, 0, block);
}

const folder = mkdtempSync(join(tmpdir(), "runbooks-"));
chmodSync(folder, 0o755);
const old = await startServer(join(folder, "old"));
process.env.STARBOARD_TEST_DATABASE_URL = old.url;
const world = await openLostWorld({ wallets: 8, days: 2 });
const fresh = await startServer(join(folder, "new"));
try {
  const { sql, settings, topics } = world.network;
  const own = await world.network.webSettings();
  const url = own.DATABASE_URL ?? "";
  const stars = (...targets: readonly string[]) =>
    world.wallets.flatMap((wallet) => targets.map((target) => ({ wallet, target })));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const node = [process.execPath, ...nodeArguments(ENTRY)].map((each) => `'${each}'`).join(" ");
  writeFileSync(join(bin, "starboard"), `#!/bin/sh\nexec ${node} "$@"\n`, { mode: 0o755 });
  const backup = join(folder, "backup");
  mkdirSync(backup);
  const env = {
    ...settings,
    PATH: `${bin}:${PROGRAMS}:${process.env.PATH ?? ""}`,
    HOME: folder,
    BACKUP: backup,
    URL: `http://127.0.0.1:${own.PORT}`,
    SERVER_URL: fresh.url,
    NEW_DATABASE_URL: fresh.url.replace(/postgres$/, "starboard_new"),
  };

  const [dump = "", exports = "", ...restore] = blocksOf("backup.md");
  assert.equal(restore.length, 2);
  await world.goTo(sql, 0, 3_600_000);
  await world.cast(url, stars("event/meetup", "event/mint", "token/0.0.9001"));
  await world.publish(url);
  await runBlock(dump, env);
  await world.goTo(sql, 1, 3_600_000);
  await world.cast(url, stars("event/meetup", "event/mint", "project/dex"));
  await world.publish(url);
  await world.finalize(sql);
  const web = startProcess("serve", own);
  await until(
    "the service is up",
    () =>
      fetch(`${env.URL}/readyz`).then(
        (reply) => reply.ok,
        () => false,
      ),
    120_000,
  );
  await runBlock(exports, env);
  await web.kill();
  const before = await stateOf(sql, { numbers: true });
  const [load = "", bringBack = ""] = restore;
  await runBlock(load, env);
  const restored = openPostgres(env.NEW_DATABASE_URL);
  // The dump has the clock of its day.
  await world.goTo(restored, 1, 0);
  await runBlock(bringBack, env);
  assert.deepEqual(await stateOf(restored, { numbers: true }), before);
  await restored.end();
  process.stdout.write(
    `backup.md holds: ${before.stars.length} stars, topics ${topics.event}, ${topics.asset}\n`,
  );
} finally {
  await world.close();
  for (const server of [old, fresh]) server.stop();
  rmSync(folder, { recursive: true, force: true });
}
