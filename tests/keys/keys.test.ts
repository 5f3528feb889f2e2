/** Keys from their issue to their end: shown once, hash only, revoked at once. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { issueKey, listKeys, revokeKey } from "../../src/keys/api-keys.ts";
import { makeKey } from "../../src/keys/key-form.ts";
import { lastUsed } from "../../src/keys/last-used.ts";
import { keyVerifier } from "../../src/keys/verify-key.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

let database: TestDatabase;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 3 });
});
test.after(async () => {
  await sql.end();
  await database.close();
});

const ignoreUse = (): void => undefined;

test("issue: the key is shown now, and only its hash is stored", async () => {
  const issued = await issueKey(sql, "  Ada's explorer ");
  assert.equal(issued.name, "Ada's explorer");
  assert.ok(Math.abs(issued.createdAt - Date.now()) < 60_000);
  const rows = await sql<{ row: string }[]>`select api_key::text as row from api_key`;
  const dump = JSON.stringify(rows);
  assert.ok(!dump.includes(issued.key) && !dump.includes(issued.key.slice(19)));
});

test("issue: a name is needed", async () => {
  for (const name of ["", "   ", "x".repeat(301)]) {
    await assert.rejects(issueKey(sql, name), { code: "INVALID_REQUEST" });
  }
});

test("verify: valid, unknown and revoked keys get different answers", async () => {
  const used: string[] = [];
  const verify = keyVerifier(sql, (id) => used.push(id));
  const { id, key } = await issueKey(sql, "a");
  const verdict = await verify(key);
  assert.ok(verdict.state === "valid" && verdict.revision.token !== undefined);
  assert.equal(verdict.keyId, id);
  assert.deepEqual(await verify(makeKey()), { state: "unknown" });
  assert.deepEqual(await verify("nonsense"), { state: "unknown" });
  await revokeKey(sql, id);
  assert.deepEqual(await verify(key), { state: "revoked", keyId: id });
  assert.deepEqual(used, [id], "only a valid key counts as used");
});

test("verify: a key of an invalid form costs no statement", async () => {
  const away = openPostgres("postgres://absent@127.0.0.1:1/nowhere");
  const verify = keyVerifier(away, ignoreUse);
  const { key } = await issueKey(sql, "b");
  const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  assert.deepEqual(await verify(mistyped), { state: "unknown" });
  await assert.rejects(verify(key), { code: "UNAVAILABLE" });
  await away.end();
});

test("verify: the keys of one tick share a statement, each with its own answer", async () => {
  const good = await issueKey(sql, "c");
  const bad = await issueKey(sql, "d");
  await revokeKey(sql, bad.id);
  let statements = 0;
  const counted = openPostgres(database.url, { connections: 1 });
  const proxied = new Proxy(counted, {
    apply(target, self, given) {
      statements++;
      return Reflect.apply(target, self, given);
    },
  });
  const verify = keyVerifier(proxied, ignoreUse);
  const keys = [good.key, bad.key, makeKey(), good.key];
  const verdicts = await Promise.all(keys.map((key) => verify(key)));
  assert.deepEqual(
    verdicts.map(({ state }) => state),
    ["valid", "revoked", "unknown", "valid"],
  );
  assert.equal(statements, 1);
  await counted.end();
});

test("revoke: a check that begins after it returned is refused, 300 times out of 300", async () => {
  const other = openPostgres(database.url, { connections: 2 });
  const [here, there] = [keyVerifier(sql, ignoreUse), keyVerifier(other, ignoreUse)];
  for (let round = 0; round < 300; round++) {
    const { id, key } = await issueKey(sql, "race");
    const early = Promise.all([here(key), there(key)]);
    await revokeKey(sql, id);
    const late = await Promise.all([here(key), there(key)]);
    assert.deepEqual(
      late.map(({ state }) => state),
      ["revoked", "revoked"],
    );
    await early;
  }
  await other.end();
});

test("revoke: twice is once, and an unknown id is NOT_FOUND", async () => {
  const { id } = await issueKey(sql, "e");
  const first = await revokeKey(sql, id);
  assert.deepEqual(await revokeKey(sql, id), first);
  for (const unknown of ["00000000-0000-7000-8000-000000000000", "x", "'; drop table api_key"]) {
    await assert.rejects(revokeKey(sql, unknown), { code: "NOT_FOUND" });
  }
});

test("list: every key, oldest first, without anything secret", async () => {
  const { id, key } = await issueKey(sql, "listed");
  const keys = await listKeys(sql);
  const last = keys.at(-1);
  assert.equal(last?.id, id);
  assert.deepEqual(Object.keys(last ?? {}), [
    "id",
    "name",
    "prefix",
    "createdAt",
    "lastUsedAt",
    "revokedAt",
  ]);
  assert.equal(last?.prefix, key.slice(0, 19));
  assert.equal(last?.lastUsedAt, null);
});

test("last use: written in a batch, never backwards, and on close", async () => {
  let now = 2_000_000_000_000;
  const used = lastUsed(sql, { now: () => now }, (error) => assert.fail(String(error)));
  const [a, b] = [await issueKey(sql, "f"), await issueKey(sql, "g")];
  const lastUsedAt = async (id: string) =>
    (await listKeys(sql)).find((key) => key.id === id)?.lastUsedAt;
  used.note(a.id);
  now += 1_000;
  used.note(a.id);
  used.note(b.id);
  assert.equal(await lastUsedAt(a.id), null, "not yet");
  await used.flush();
  assert.equal(await lastUsedAt(a.id), now);
  assert.equal(await lastUsedAt(b.id), now);
  now -= 5_000;
  used.note(a.id);
  await used.close();
  assert.equal(await lastUsedAt(a.id), now + 5_000);
});

test("last use: a use that could not be written is kept for the next time", async () => {
  const away = openPostgres("postgres://absent@127.0.0.1:1/nowhere");
  const failures: unknown[] = [];
  const used = lastUsed(away, { now: () => 1 }, (error) => failures.push(error));
  used.note("00000000-0000-7000-8000-000000000000");
  await assert.rejects(used.flush(), { code: "UNAVAILABLE" });
  await assert.rejects(used.flush(), { code: "UNAVAILABLE" });
  await used.close();
  assert.equal(failures.length, 1);
  await away.end();
});

test("last use: processes that write the same keys at once do not deadlock", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) ids.push((await issueKey(sql, "h")).id);
  const other = openPostgres(database.url, { connections: 1 });
  const [one, two] = [
    lastUsed(sql, { now: () => 5 }, (error) => assert.fail(String(error))),
    lastUsed(other, { now: () => 6 }, (error) => assert.fail(String(error))),
  ];
  for (let round = 0; round < 30; round++) {
    for (const id of ids) one.note(id);
    for (const id of [...ids].reverse()) two.note(id);
    await Promise.all([one.flush(), two.flush()]);
  }
  await Promise.all([one.close(), two.close()]);
  await other.end();
});

test.run();
