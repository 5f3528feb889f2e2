/** How connections are set up: what Postgres itself says of them. */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { test } from "uvu";
import { openPostgres, runStatement } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

/** How Postgres ends each answer outside a transaction. */
const READY = Buffer.from("5a0000000549", "hex");

let database: TestDatabase;
test.before(async () => {
  database = await testDatabase();
});
test.after(() => database.close());

async function settingOf(name: string, options: Parameters<typeof openPostgres>[1]) {
  const sql = openPostgres(database.url, { connections: 1, ...options });
  const [row] = await sql<{ value: string }[]>`select current_setting(${name}) as value`;
  await sql.end();
  return row?.value;
}

test("no pool lets Postgres compile its plans: with scans off that took a second of each star", async () => {
  for (const options of [{}, { writer: true }, { byKey: true }]) {
    assert.equal(await settingOf("jit", options), "off", JSON.stringify(options));
  }
});

test("the pools that look everything up by key never scan (A10 plan-flip)", async () => {
  assert.equal(await settingOf("enable_seqscan", {}), "on");
  for (const options of [{ writer: true }, { byKey: true }]) {
    assert.equal(await settingOf("enable_seqscan", options), "off", JSON.stringify(options));
  }
});

test("days, bytes and numbers are read alike, whatever defaults the database has", async () => {
  const name = new URL(database.url).pathname.slice(1);
  const admin = openPostgres(database.url, { connections: 1 });
  const defaults = ["datestyle = 'SQL, DMY'", "bytea_output = 'escape'", "extra_float_digits = -3"];
  for (const setting of defaults) await admin.unsafe(`alter database "${name}" set ${setting}`);
  const sql = openPostgres(database.url, { connections: 1 });
  const [row] = await sql`
    select date '2026-11-05' as day, '\\x01ff'::bytea as bytes, 123456789012.5::float8 as price,
      date '2026-11-05'::text as text`;
  await sql.end();
  await admin.unsafe(`alter database "${name}" reset all`);
  await admin.end();
  const read = { day: "2026-11-05", bytes: Buffer.from("01ff", "hex"), price: 123456789012.5 };
  assert.deepEqual({ ...row }, { ...read, text: "2026-11-05" });
});

test("no pool weakens the server's setting of when a commit counts", async () => {
  for (const options of [{}, { writer: true }, { byKey: true }]) {
    const sql = openPostgres(database.url, { connections: 1, ...options });
    const rows = await sql`select name from pg_settings where source = 'client'
      and name in ('synchronous_commit', 'commit_delay', 'default_transaction_isolation')`;
    await sql.end();
    assert.deepEqual([...rows], [], JSON.stringify(options));
  }
});

test("a statement that takes longer than its caller has is given up, though the server goes on", async () => {
  const sql = openPostgres(database.url, { connections: 1, statementTimeoutMs: 60_000 });
  await assert.rejects(runStatement(sql`select pg_sleep(3)`, 100), { code: "UNAVAILABLE" });
  await sql.end({ timeout: 0 });
});

test("a connection that breaks as soon as it stands fails its statement, and nothing beside it", async () => {
  const { hostname, port } = new URL(database.url);
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.pipe(server);
    server.on("data", (reply) => {
      client.write(reply);
      // "Ready for query", idle: what the client says from now on is not heard.
      if (reply.subarray(-6).equals(READY))
        client
          .unpipe(server)
          .resume()
          .once("data", () => client.end());
    });
    for (const socket of [client, server]) socket.on("error", () => undefined);
    client.on("close", () => server.destroy());
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  const unheard: unknown[] = [];
  const note = (error: unknown): void => void unheard.push(error);
  process.on("unhandledRejection", note);
  const url = Object.assign(new URL(database.url), {
    host: `127.0.0.1:${(relay.address() as AddressInfo).port}`,
  });
  const sql = openPostgres(url.href, { connections: 1 });
  await assert.rejects(runStatement(sql`select 1`, 1_000), { code: "UNAVAILABLE" });
  await sql.end({ timeout: 0 });
  relay.close();
  process.off("unhandledRejection", note);
  assert.deepEqual(unheard, []);
});

const SRC = join(import.meta.dirname, "../../src");

test("arrays go to the server and come back as they are, without the server's word on their types", async () => {
  const sql = openPostgres(database.url, { connections: 1 });
  const texts = ["", "a", 'a "b"', "a\\b", "a,b", "{}", "NULL", "a\nb", null];
  const [row] = await sql`select ${texts}::text[] as texts, ${[1, -2, null]}::bigint[] as bigints,
    ${[1]}::smallint[] as smallints, ${[2, 3]}::int[] as integers, ${["2026-11-20"]}::date[] as dates,
    ${["01ab50ed-a728-765e-a7c8-70e35dc40ea7"]}::uuid[] as uuids, ${[]}::text[] as none`;
  assert.deepEqual(row, {
    texts,
    bigints: [1, -2, null],
    smallints: [1],
    integers: [2, 3],
    dates: ["2026-11-20"],
    uuids: ["01ab50ed-a728-765e-a7c8-70e35dc40ea7"],
    none: [],
  });
  await sql.end();
});

test("every array type of our statements and tables is known", async () => {
  const { sql, close } = await testDatabase({ migrated: true });
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  const texts = files.filter((path) => path.endsWith(".ts")).map((path) => join(SRC, path));
  const named = texts.flatMap(
    (path) => readFileSync(path, "utf8").match(/(?<=::)\w+(?: precision)?\[\]/g) ?? [],
  );
  assert.ok(named.length > 20);
  const used = await sql<{ oid: number; name: string }[]>`
    select name::regtype::oid as oid, name from unnest(${[...new Set(named)]}::text[]) as name
    union
    select atttypid, format_type(atttypid, null) from pg_attribute
    where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
      and atttypid in (select oid from pg_type where typcategory = 'A')`;
  const { parsers, serializers } = openPostgres(database.url).options;
  for (const { oid, name } of used) assert.ok(parsers[oid] && serializers[oid], name);
  await close();
});

test.run();
