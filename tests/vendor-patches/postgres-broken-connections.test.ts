/**
 * What becomes of statements that a pool is given while its connections break. Method: all of them
 * are reset at once, at work or idle, and the pool is asked in the very moment of the error.
 */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { test } from "uvu";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { withDeadline } from "../../src/with-deadline.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const CONNECTIONS = 2;
/** Short of the pool's own patience with a connection, and far more than a statement takes. */
const STUCK_MS = 20_000;

let database: TestDatabase;
test.before(async () => {
  database = await testDatabase();
});
test.after(() => database.close());

/** A pool whose connections can be reset, all of them open. */
async function resettablePool() {
  const { hostname, port } = new URL(database.url);
  const clients = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname);
    clients.add(client);
    for (const socket of [client, server]) socket.on("error", () => undefined);
    client.on("close", () => {
      clients.delete(client);
      server.destroy();
    });
    client.pipe(server).pipe(client);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  const own = (relay.address() as AddressInfo).port;
  const url = Object.assign(new URL(database.url), { host: `127.0.0.1:${own}` });
  const sql = openPostgres(url.href, { connections: CONNECTIONS });
  await occupy(sql, CONNECTIONS);
  return {
    sql,
    reset: () => {
      for (const client of clients) client.resetAndDestroy();
    },
    close: async () => {
      await sql.end({ timeout: 0 });
      relay.close();
    },
  };
}

function occupy(sql: Sql, connections: number, seconds = 0.1): Promise<unknown> {
  return Promise.all(
    Array.from({ length: connections }, () => sql`select pg_sleep(${seconds}::float)`),
  );
}

/** How many rows there are: always one. */
async function askForOne(sql: Sql): Promise<number | string> {
  const asked = sql`select ${"x".repeat(2_000)}::text as x`;
  return withDeadline(asked, STUCK_MS).then(
    (rows) => rows.length,
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}

test("connections that are reset at work are used again, though the pool is asked at once", async () => {
  const { sql, reset, close } = await resettablePool();
  for (let round = 0; round < 3; round += 1) {
    const asked: Promise<number | string>[] = [];
    const working = Array.from({ length: CONNECTIONS }, () =>
      sql`select pg_sleep(60)`.catch(() => asked.push(askForOne(sql), askForOne(sql))),
    );
    await occupied(database.sql);
    reset();
    await Promise.all(working);
    assert.deepEqual(await Promise.all(asked), [1, 1, 1, 1]);
    const pids = await withDeadline(
      Promise.all(
        Array.from({ length: CONNECTIONS }, () => sql`select pg_backend_pid() as pid, pg_sleep(1)`),
      ),
      STUCK_MS,
    );
    assert.equal(new Set(pids.map(([row]) => row?.pid)).size, CONNECTIONS);
  }
  await close();
});

test("a statement that an idle connection took while it broke fails: it is not answered with no rows", async () => {
  const { sql, reset, close } = await resettablePool();
  const { emit } = Socket.prototype;
  const asked: Promise<number | string>[] = [];
  let broken = 0;
  Socket.prototype.emit = function (this: Socket, name: string, ...given: unknown[]) {
    const heard = Reflect.apply(emit, this, [name, ...given]);
    if (name === "error") broken += 1;
    if (broken === CONNECTIONS && asked.length === 0) asked.push(askForOne(sql), askForOne(sql));
    return heard;
  } as typeof emit;
  reset();
  while (asked.length === 0) await new Promise(setImmediate);
  Socket.prototype.emit = emit;
  // These open connections anew, which also say what became of the first two.
  const next = [askForOne(sql), askForOne(sql)];
  assert.deepEqual(await Promise.all(asked), ["CONNECTION_CLOSED", "CONNECTION_CLOSED"]);
  assert.deepEqual(await Promise.all(next), [1, 1]);
  await close();
});

/** Waits until all connections of the pool are at work, as Postgres sees them. */
async function occupied(sql: TestDatabase["sql"]): Promise<void> {
  for (;;) {
    const [row] = await sql`
      select count(*)::int as count from pg_stat_activity
      where state = 'active' and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()
        and datname = current_database()`;
    if (row?.count >= CONNECTIONS) return;
  }
}

test.run();
