import * as assert from "node:assert/strict";
import { createClient } from "redis";
import { test } from "uvu";
import { testDatabase } from "./postgres.ts";
import { testRedis } from "./redis.ts";

async function command(url: string, ...words: string[]): Promise<unknown> {
  const client = await createClient({ url }).connect();
  try {
    return await client.sendCommand(words);
  } finally {
    client.destroy();
  }
}

test("every test database is empty and its caller's alone", async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  await one.sql`create table here (n int)`;
  const found = await other.sql`select tablename from pg_tables where schemaname = 'public'`;
  assert.equal(found.length, 0);
  await Promise.all([one.close(), other.close()]);
});

test("a migrated database has every migration, and is not the template itself", async () => {
  const [one, other] = await Promise.all([
    testDatabase({ migrated: true }),
    testDatabase({ migrated: true }),
  ]);
  await one.sql`create table here (n int)`;
  const count = async ({ sql }: typeof one) => {
    const [row] = await sql<{ count: string }[]>`select count(*) from pg_tables
      where schemaname = 'public'`;
    return Number(row?.count);
  };
  assert.equal(await count(one), (await count(other)) + 1);
  assert.ok((await count(other)) > 1);
  await Promise.all([one.close(), other.close()]);
});

test("close drops the database, with clients still connected", async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  const name = new URL(one.url).pathname.slice(1);
  const connection = await one.sql.reserve();
  await connection`select 1`;
  await one.close();
  const found = await other.sql`select from pg_database where datname = ${name}`;
  assert.equal(found.length, 0);
  await other.close();
});

test("every test Redis is a server of its own where none is given", async () => {
  const [one, other] = await Promise.all([testRedis({ server: "" }), testRedis({ server: "" })]);
  await command(one.url, "SET", "a", "1");
  await command(other.url, "FLUSHALL");
  assert.equal(await command(one.url, "GET", "a"), "1");
  await Promise.all([one.close(), other.close()]);
});

test("of a given Redis every test gets an empty database, and gives it back", async () => {
  const server = await testRedis({ own: true });
  const given = { server: server.url };
  const [one, other] = await Promise.all([testRedis(given), testRedis(given)]);
  await command(one.url, "SET", "a", "1");
  assert.notEqual(one.url, other.url);
  assert.equal(await command(other.url, "DBSIZE"), 0);
  await one.close();
  const again = await testRedis(given);
  assert.equal(again.url, one.url);
  assert.equal(await command(again.url, "DBSIZE"), 0);
  await Promise.all([other.close(), again.close()]);
  await server.close();
});

test.run();
