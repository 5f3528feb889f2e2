/**
 * Goal: the service works with a login that is only a member of `starboard_app`, and what that
 * login may not do it cannot do, whatever it sends. Method: real `serve` and `work` processes with
 * such a login, a star from sign-in to the ledger, then statements by hand.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite } from "uvu";
import { issueKey, listKeys, revokeKey } from "../../src/keys/api-keys.ts";
import { appRole, openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type Network, startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import { cast, newKey, send, signIn } from "../support/service.ts";
import { starboard } from "../support/starboard.ts";

interface Context {
  network: Network;
  login: string;
  /** `DATABASE_URL` of that login. */
  url: string;
}

const test = suite<Context>("a login of its own");
test.before(async (context) => {
  context.network = await startNetwork();
  const { sql, settings } = context.network;
  context.login = `starboard_web_${randomUUID().slice(0, 8)}`;
  await sql.unsafe(`create role ${context.login} login password 'secret' in role starboard_app`);
  const url = new URL(settings.DATABASE_URL ?? "");
  url.username = context.login;
  url.password = "secret";
  context.url = url.href;
});
test.after(async ({ network, login }) => {
  await network.sql.unsafe(`drop role ${login}`);
  await network.close();
});

async function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

test("serve and work take a star to the ledger, and serve has nothing to warn of", async ({
  network,
  url: DATABASE_URL,
}) => {
  const { HEDERA_OPERATOR_KEY: _, ...web } = await network.webSettings();
  const url = `http://127.0.0.1:${web.PORT}`;
  const serve = startProcess(["serve", "--json"], { ...web, DATABASE_URL });
  const work = startProcess("work", { ...network.settings, DATABASE_URL });
  await until("serve is up", () => isUp(url));
  const { publicKey, key } = newKey("ed25519");
  const id = await network.hedera.ledger.createAccount({ key: publicKey });
  const token = await signIn({ url }, { id, type: "ed25519", key });
  const star = await cast({ url }, token, "event/mint");
  assert.equal(star.status, 201, star.text);
  await until("it is published", async () => {
    const { body } = await send({ url }, `GET /voting/stars/${star.body.star.id}`);
    return body.publication.state === "published";
  });
  assert.deepEqual([await serve.stop(), await work.stop()], [0, 0], work.log());
  assert.equal(serve.log(), "");
  assert.deepEqual(JSON.parse(serve.said()), { url });
});

test("serve warns once of an operator's key, and once when its login owns the tables", async ({
  network,
}) => {
  const settings = await network.webSettings();
  const serve = startProcess("serve", settings);
  await until("serve is up", () => isUp(`http://127.0.0.1:${settings.PORT}`));
  await serve.stop();
  const lines = serve.log().trim().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    [
      "HEDERA_OPERATOR_KEY is set here: a web process needs none, only the worker does",
      "this login owns the tables: use one that is only a member of starboard_app",
    ],
  );
  assert.ok(!serve.log().includes(settings.HEDERA_OPERATOR_KEY ?? "-"));
});

/** Statements that the service never sends, as its role and as the login behind it. */
async function isRefused(sql: Sql, statement: string): Promise<void> {
  for (const before of ["set role starboard_app", "reset role"]) {
    const attempt = sql.begin(async (tx) => {
      await tx.unsafe(before);
      await tx.unsafe(statement);
    });
    await assert.rejects(attempt, /permission denied|must be owner/, `${before}; ${statement}`);
  }
}

test("the journal, its counters and revocations change through functions alone, also after `reset role`", async ({
  url,
}) => {
  const sql = openPostgres(url, { connections: 1 });
  for (const statement of [
    "update star set weight = 9",
    "delete from star",
    "truncate star",
    "insert into star (id) values (gen_random_uuid())",
    "insert into serial_claim (event_id, collection, serial, wallet, star_id) values ('mint', 'A', 1, 1, gen_random_uuid())",
    "insert into outbox (star_id, topic, message) values (gen_random_uuid(), 'event', 'm')",
    "update event_total set weight = 9",
    "insert into event_total (event_id, weight, stars) values ('other', 9, 9)",
    "delete from event_total",
    "update item_day set weight = 9",
    "insert into item_day values ('token', '0.0.9001', current_date, 9, 9)",
    "delete from item_day",
    "update item_hour set weight = 9",
    "update api_key set revoked_at = null",
    "update operator set revoked_at = null",
    "alter table star disable trigger all",
    "drop table star",
    "create table mine ()",
    "alter function cast_stars(json, bigint, json) reset all",
  ]) {
    await isRefused(sql, statement);
  }
  await sql.end();
});

test("a command that needs the owner's rights says so", async ({ network, url: DATABASE_URL }) => {
  const settings = { ...network.settings, DATABASE_URL };
  const { status, stderr } = await starboard(["journal", "recover"], settings);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^permission denied for table \w+: .* need the tables' owner in DATABASE_URL/,
  );
});

test("a key is revoked by the function, and a revocation is never taken back", async ({ url }) => {
  const sql = openPostgres(url, { connections: 1, role: "starboard_app" });
  const { id } = await issueKey(sql, "Ada");
  const { revokedAt } = await revokeKey(sql, id);
  assert.equal((await revokeKey(sql, id)).revokedAt, revokedAt);
  for (const statement of [
    "update api_key set revoked_at = null",
    "update api_key set hash = sha256('mine')",
    "delete from api_key",
    "insert into api_key (id, name, prefix, hash, created_at, revoked_at) values (gen_random_uuid(), 'n', 'p', sha256('n'), 0, 0)",
  ]) {
    await isRefused(sql, statement);
  }
  assert.equal((await listKeys(sql)).find((key) => key.id === id)?.revokedAt, revokedAt);
  await sql.end();
});

test("functions with their owner's rights look into no temporary schema, and are the service's alone", async ({
  network: { sql },
}) => {
  const functions = await sql<{ name: string; path: string | null; isPublic: boolean }[]>`
    select proname as name, has_function_privilege('starboard_reader', oid, 'execute') as "isPublic",
      (select setting from unnest(proconfig) as setting where setting like 'search_path=%') as path
    from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace order by 1`;
  assert.deepEqual(
    functions.map(({ name }) => name),
    ["cast_stars", "ensure_star_partition", "release_claims", "revoke_key", "revoke_operator"],
  );
  for (const { name, path, isPublic } of functions) {
    assert.equal(path, "search_path=public, pg_temp", name);
    assert.equal(isPublic, false, name);
  }
});

test("the restricted role is found for such a login", async ({ url }) => {
  const sql = openPostgres(url, { connections: 1 });
  assert.equal(await appRole(sql), "starboard_app");
  await sql.end();
});

test("a role that was made after the migrations is taken once the last of them has run again", async ({
  network,
  url,
}) => {
  const { sql } = network;
  const login = openPostgres(url, { connections: 1 });
  const rights = () => sql`
    select table_name, null as column_name, privilege_type from information_schema.role_table_grants
      where grantee = 'starboard_app'
    union all select table_name, column_name, privilege_type from information_schema.role_column_grants
      where grantee = 'starboard_app' order by 1, 2, 3`;
  const before = await rights();
  await sql`revoke all on all tables in schema public from starboard_app`;
  assert.equal((await rights()).length, 0);
  assert.equal(await appRole(login), undefined);
  await sql.unsafe(readFileSync("migrations/011.do.grants.sql", "utf8"));
  assert.deepEqual(await rights(), before);
  assert.equal(await appRole(login), "starboard_app");
  await login.end();
});

test.run();
