/**
 * Goal: a database of another build is refused in one line that names the way out, and nothing in
 * it is touched. Method: the commands as processes of their own, on a database whose migration
 * table holds other files than this build's.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { suite } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { startPostgres } from "../../src/local/postgres.ts";
import { silentLogger } from "../../src/log.ts";
import { prepareDatabase } from "../../src/processes/prepare-database.ts";
import {
  ensureStarPartitions,
  migrate,
  OtherBuildError,
  schemaState,
} from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { temporaryFolder } from "../support/folder.ts";
import { OWNER, testDatabase } from "../support/postgres.ts";
import { type CommandResult, starboard } from "../support/starboard.ts";

const test = suite<{ url: string; sql: Sql; close: () => Promise<void> }>("migrate");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 1 });
  const close = () => sql.end({ timeout: 1 }).then(database.close);
  Object.assign(context, { url: database.url, sql, close });
});
test.after.each(({ close }) => close());

function assertRefused({ status, stdout, stderr }: CommandResult, makeAnew: string): void {
  assert.deepEqual([status, stdout], [1, ""], stderr);
  assert.match(
    stderr,
    /^[^\n]+ was made by another build of Starboard and cannot be upgraded: [^\n]+\n$/,
  );
  assert.ok(stderr.includes(makeAnew), stderr);
}

test("a database of this build is current, and migrating it again applies no file", async ({
  url,
  sql,
}) => {
  assert.equal(await schemaState(sql), "current");
  assert.deepEqual(await migrate(url), []);
});

test("of migrations side by side one applies every file, and the others find nothing to do", async () => {
  const empty = await testDatabase();
  const applied = await Promise.all([1, 2, 3].map(() => migrate(empty.url)));
  const sql = openPostgres(empty.url, { connections: 1 });
  assert.equal(await schemaState(sql), "current");
  const counts = applied.map(({ length }) => length).toSorted((one, other) => one - other);
  assert.deepEqual(counts.slice(0, 2), [0, 0]);
  assert.ok((counts[2] ?? 0) > 0);
  await sql.end();
  await empty.close();
});

test("it was migrated by an owner without a superuser's rights, as deploy/README.md makes one", async ({
  sql,
}) => {
  const owners = await sql`
    select distinct rolname, rolsuper from pg_proc join pg_roles on pg_roles.oid = proowner
    where pronamespace = 'public'::regnamespace`;
  assert.deepEqual([...owners], [{ rolname: OWNER, rolsuper: false }]);
});

test("starboard migrate refuses a database of another build", async ({ url, sql }) => {
  await sql`update schema_version set md5 = repeat('0', 32) where version = 3`;
  const refused = await starboard(["migrate"], { DATABASE_URL: url });
  // A release must not lead to an empty database where the old build goes on with this one.
  assertRefused(refused, "go on with the build that made it, or create an empty one (`createdb");
});

test("a table of that name by another product's tool is no older build's", async ({ url, sql }) => {
  await sql`drop table schema_version`;
  assert.equal(await schemaState(sql), "old");
  await sql`create table schema_version (version text, description text)`;
  await assert.rejects(migrate(url), OtherBuildError);
});

test("starboard migrate refuses a database that cannot hold every character, and leaves it as it is", async ({
  url,
  sql,
}) => {
  const name = `latin_${randomUUID().replaceAll("-", "")}`;
  await sql`create database ${sql(name)} template template0 encoding latin1
    locale_provider libc lc_collate 'C' lc_ctype 'C'`;
  const latin = new URL(url);
  latin.pathname = name;
  const { status, stdout, stderr } = await starboard(["migrate"], { DATABASE_URL: latin.href });
  const inside = openPostgres(latin.href, { connections: 1 });
  const [table] = await inside`select from pg_tables where schemaname = 'public'`;
  await inside.end({ timeout: 1 });
  await sql`drop database ${sql(name)} with (force)`;
  assert.deepEqual([status, stdout, table], [1, "", undefined], stderr);
  assert.match(stderr, /^this database's encoding is LATIN1, [^\n]+ --encoding UTF8 [^\n]+\n$/);
});

test("web and worker processes refuse a database of another build", async ({ url, sql }) => {
  await sql`update schema_version set md5 = repeat('0', 32) where version = 3`;
  await assert.rejects(prepareDatabase({ DATABASE_URL: url }, silentLogger), OtherBuildError);
});

test("a start waits longer for each look at the database than a request may", async ({ url }) => {
  const { hostname, port } = new URL(url);
  // Of the first look, at the schema, and of one at its settings.
  const looks = ["to_regclass", "from export_day"];
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname);
    server.pipe(client);
    let sending = Promise.resolve();
    client.on("data", (said) => {
      const look = looks.find((each) => said.includes(each));
      const heldMs = look === undefined ? 0 : bounds.statementDeadlineMs + 500;
      if (look !== undefined) looks.splice(looks.indexOf(look), 1);
      sending = sending.then(() => delay(heldMs)).then(() => void server.write(said));
    });
    for (const socket of [client, server]) socket.on("error", () => undefined);
    client.on("close", () => server.destroy());
  });
  relay.listen(0, "127.0.0.1").unref();
  await once(relay, "listening");
  const held = new URL(url);
  held.port = String((relay.address() as AddressInfo).port);
  await prepareDatabase({ DATABASE_URL: held.href }, silentLogger);
  assert.deepEqual(looks, []);
  relay.close();
});

test("a database that lacks files is old, and one with later files newer", async ({ sql }) => {
  await sql`insert into schema_version (version, name, md5) values (9999, 'later', 'x')`;
  assert.equal(await schemaState(sql), "newer");
  await sql`delete from schema_version where version > 2`;
  assert.equal(await schemaState(sql), "old");
});

test("more files than this build has, with other checksums: another build, not a newer one", async ({
  sql,
}) => {
  await sql`update schema_version set md5 = md5(name) where version > 0`;
  await sql`insert into schema_version (version, name, md5) values (9999, 'later', 'x')`;
  assert.equal(await schemaState(sql), "other");
});

/** All that the catalogue holds on a partition, one line each. */
async function catalogueOf(sql: Sql, partition: string): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', 'table', relowner, relacl, reloptions, relreplident, relpersistence,
      pg_get_expr(relpartbound, oid)) as line
    from pg_class where oid = ${partition}::regclass
    union all
    select concat_ws(' ', 'column', attnum, attname, atttypid::regtype, attnotnull, attislocal, attinhcount,
      attstorage, attcompression, attidentity, attgenerated, attcollation, pg_get_expr(adbin, adrelid))
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = ${partition}::regclass and attnum > 0
    union all
    select concat_ws(' ', 'constraint', conname, conislocal, coninhcount, convalidated,
      conparentid::bigint > 0, pg_get_constraintdef(oid))
    from pg_constraint where conrelid = ${partition}::regclass
    union all
    select concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid, inhparent::regclass)
    from pg_index left join pg_inherits on inhrelid = indexrelid
    where indrelid = ${partition}::regclass
    union all
    select concat_ws(' ', 'trigger', tgparentid::bigint > 0, tgenabled, pg_get_triggerdef(oid))
    from pg_trigger where tgrelid = ${partition}::regclass
    order by 1`;
  return rows.map(({ line }) => line);
}

test("a month's partition is made beside a long reader of the journal, as `partition of` makes it", async ({
  url,
  sql,
}) => {
  const reader = openPostgres(url, { connections: 1 });
  await reader.begin(async (reading) => {
    await reading`select count(*) from star`;
    await ensureStarPartitions(sql, "2031-05-31");
    await ensureStarPartitions(sql, "2031-05-31");
  });
  await reader.end();
  const made = await catalogueOf(sql, "star_2031_05");
  await sql.unsafe(`set local role ${OWNER};
    drop table star_2031_05;
    create table star_2031_05 partition of star for values from ('2031-05-01') to ('2031-06-01')`);
  assert.deepEqual(made, await catalogueOf(sql, "star_2031_05"));
  assert.ok(made.some((line) => line.startsWith("trigger")));
  const [next] = await sql`select to_regclass('star_2031_06') is not null as is_made`;
  assert.equal(next?.is_made, true);
});

test("a proxy that takes connections for a server that is away is an outage, not a wait without end", async () => {
  const proxy = createServer((socket) => socket.once("data", () => socket.end())).listen(
    0,
    "127.0.0.1",
  );
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  const DATABASE_URL = `postgres://u:p@127.0.0.1:${port}/starboard`;
  const { status, stderr } = await starboard(["migrate"], { DATABASE_URL });
  proxy.close();
  assert.deepEqual([status, stderr], [1, "the database did not answer in time\n"]);
});

test("npm start names the data folder to remove", async () => {
  const cwd = temporaryFolder("older-data");
  const folder = join(cwd, ".starboard");
  mkdirSync(folder);
  const postgres = await startPostgres({ dataDir: join(folder, "postgres"), disposable: true });
  const sql = openPostgres(postgres.url, { connections: 1 });
  await sql.unsafe(`create table schema_version (version bigint primary key, name text, md5 text);
    insert into schema_version values (0, null, null), (1, 'catalogue', 'of an older build')`);
  await sql.end();
  await postgres.close();
  assertRefused(await starboard(["dev"], {}, cwd), `rm -r "${folder}"`);
});

test.run();
