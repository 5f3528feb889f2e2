import * as assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { test } from "uvu";
import {
  type LocalPostgres,
  type PostgresOptions,
  startPostgres,
} from "../../src/local/postgres.ts";
import { isRunning, processIdentity, referTo } from "../../src/local/process-identity.ts";
import { temporaryFolder } from "../support/folder.ts";
import { goneWithin, holdServer, killHolders } from "../support/server-holder.ts";

const dataDir = temporaryFolder("local-postgres");
const isRoot = process.getuid?.() === 0;
const ENDS_WITHIN_MS = 10_000;

const started: LocalPostgres[] = [];

/** Closed after the test, whatever comes of it. */
async function start(options: Partial<PostgresOptions> = {}): Promise<LocalPostgres> {
  const server = await startPostgres({ dataDir, ...options });
  started.push(server);
  return server;
}

test.after.each(async () => {
  await killHolders();
  await Promise.all(started.splice(0).map((server) => server.close()));
});
test.after(() => rmSync(dataDir, { recursive: true, force: true }));

async function query<Row extends object>(url: string, text: string): Promise<readonly Row[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => undefined });
  try {
    return [...(await sql.unsafe<Row[]>(text))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const rows = (url: string) => query<{ n: number }>(url, "select n from kept order by n");

test("a first start makes the database, a second one has its data at the same url", async () => {
  const first = await start();
  await query(first.url, "create table kept (n int); insert into kept values (1)");
  await first.close();
  const second = await start();
  assert.equal(second.url, first.url);
  assert.deepEqual(await rows(second.url), [{ n: 1 }]);
  await second.close();
});

test("it is durable, sorts by code point, keeps UTC and listens on the loopback alone", async () => {
  const server = await start();
  const names = ["fsync", "synchronous_commit", "full_page_writes", "listen_addresses"];
  const more = ["unix_socket_directories", "timezone", "max_connections"];
  const [settings] = await query<Record<string, string>>(
    server.url,
    `select ${[...names, ...more].map((name) => `current_setting('${name}') as ${name}`).join()}`,
  );
  const [sorted] = await query<{ sorted: boolean }>(server.url, "select 'Z' < 'a' as sorted");
  await server.close();
  assert.deepEqual(
    { ...settings },
    {
      fsync: "on",
      synchronous_commit: "on",
      full_page_writes: "on",
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      timezone: "UTC",
      max_connections: "100",
    },
  );
  assert.equal(sorted?.sorted, true);
});

test("a disposable one takes the connections of many processes at once", async () => {
  const server = await start({ disposable: true });
  const [settings] = await query<Record<string, string>>(
    server.url,
    "select current_setting('fsync') as fsync, current_setting('max_connections') as connections",
  );
  await server.close();
  assert.deepEqual({ ...settings }, { fsync: "off", connections: "500" });
});

test("it lets no one in without the password, which only we can read", async () => {
  const server = await start();
  const wrong = new URL(server.url);
  wrong.password = "postgres";
  await assert.rejects(query(wrong.href, "select 1"), { code: "28P01" });
  await server.close();
  assert.equal(statSync(join(dataDir, "password")).mode & 0o777, 0o600);
});

test("close leaves no process behind, and closing twice is closing once", async () => {
  const server = await start();
  const { pid } = referTo(server.pid());
  await Promise.all([server.close(), server.close()]);
  assert.equal(processIdentity(pid), undefined);
  await server.close();
});

test("close ends open transactions instead of waiting for them", async () => {
  const server = await start();
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined });
  const open = await sql.reserve();
  await open`begin`;
  await open`insert into kept values (99)`;
  const asked = performance.now();
  await server.close();
  assert.ok(performance.now() - asked < ENDS_WITHIN_MS);
  await sql.end({ timeout: 0 });
  const again = await start();
  assert.deepEqual(await rows(again.url), [{ n: 1 }]);
  await again.close();
});

test("a port that is taken is replaced by another one", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const taken = typeof address === "object" ? (address?.port ?? 0) : 0;
  writeFileSync(join(dataDir, "server.port"), String(taken));
  const server = await start();
  other.close();
  assert.notEqual(server.port, taken);
  assert.deepEqual(await rows(server.url), [{ n: 1 }]);
  await server.close();
});

test("a folder in use is refused by the name of its user", async () => {
  const server = await start();
  await assert.rejects(start(), {
    message: `${dataDir} is in use by process ${process.pid}`,
  });
  assert.deepEqual(await rows(server.url), [{ n: 1 }]);
  await server.close();
});

test("a Postgres that is killed is started again on the same port with its data", async () => {
  const server = await start();
  const killed = server.pid();
  process.kill(killed, "SIGKILL");
  const deadline = performance.now() + 20_000;
  let found: readonly { n: number }[] | undefined;
  while (found === undefined && performance.now() < deadline) {
    await delay(50);
    found = await rows(server.url).catch(() => undefined);
  }
  assert.deepEqual(found, [{ n: 1 }]);
  assert.notEqual(server.pid(), killed);
  await server.close();
});

test("Ctrl-C leaves Postgres up until its holder has drained", async () => {
  const holder = await holdServer("postgres", dataDir);
  await holder.interrupt();
  await query(holder.url, "insert into kept values (2)");
  assert.equal(await holder.finish(), 0);
  assert.equal(processIdentity(holder.pid), undefined);
});

test("when its holder is killed Postgres ends by itself and loses nothing", async () => {
  const holder = await holdServer("postgres", dataDir);
  await query(holder.url, "insert into kept values (3)");
  await holder.kill();
  assert.equal(await goneWithin(holder.pid, ENDS_WITHIN_MS), true);
  const server = await start();
  assert.deepEqual(await rows(server.url), [{ n: 1 }, { n: 2 }, { n: 3 }]);
  await server.close();
});

test("a Postgres left running is stopped before the next one starts", async () => {
  const holder = await holdServer("postgres", dataDir);
  const orphan = referTo(holder.pid);
  await holder.kill({ guards: true });
  assert.equal(isRunning(orphan), true);
  const server = await start();
  assert.equal(isRunning(orphan), false);
  assert.equal((await rows(server.url)).length, 3);
  await server.close();
});

test("a process that got a dead Postgres' pid is not stopped and does not block the start", async () => {
  const holder = await holdServer("postgres", dataDir);
  await holder.kill({ guards: true });
  process.kill(holder.pid, "SIGKILL");
  assert.equal(await goneWithin(holder.pid, ENDS_WITHIN_MS), true);
  const stranger = await startStranger();
  for (const file of ["server.lock", "data/postmaster.pid"]) {
    const path = join(dataDir, file);
    const text = readFileSync(path, "utf8").replaceAll(String(holder.pid), String(stranger.pid));
    writeFileSync(path, text);
  }
  const server = await start();
  assert.equal((await rows(server.url)).length, 3);
  assert.notEqual(processIdentity(Number(stranger.pid)), undefined);
  await server.close();
  stranger.kill();
});

/** A process that runs as the user of Postgres, or Postgres would ignore it anyway. */
async function startStranger(): Promise<ChildProcess> {
  const { uid, gid } = statSync(join(dataDir, "data"));
  const stranger = spawn("sleep", ["60"], { stdio: "ignore", ...(isRoot ? { uid, gid } : {}) });
  await once(stranger, "spawn");
  return stranger;
}

if (isRoot) {
  test("root's Postgres, which is another user, gets its data out of a closed folder", async () => {
    const closed = temporaryFolder("closed");
    chmodSync(closed, 0o700);
    const inside = join(closed, "project", "postgres");
    mkdirSync(inside, { recursive: true });
    const server = await start({ dataDir: inside, disposable: true });
    const [row] = await query<{ one: number }>(server.url, "select 1 as one");
    await server.close();
    const again = await start({ dataDir: inside, disposable: true });
    assert.equal(again.url, server.url);
    await again.close();
    rmSync(realpathSync(join(inside, "elsewhere")), { recursive: true });
    rmSync(closed, { recursive: true });
    assert.equal(row?.one, 1);
  });
}

test.run();
