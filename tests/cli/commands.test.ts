/** `keys`, `catalog` and `migrate`: one JSON document with `--json`, one line when refused. */
import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import { subcommand as actorsCommand } from "../../src/cli/actors.ts";
import { subcommand as catalogCommand } from "../../src/cli/catalog.ts";
import { subcommand as journalCommand } from "../../src/cli/journal.ts";
import { subcommand as keysCommand } from "../../src/cli/keys.ts";
import { subcommand as migrateCommand } from "../../src/cli/migrate.ts";
import { subcommand as operatorsCommand } from "../../src/cli/operators.ts";
import { subcommand as rewardsCommand } from "../../src/cli/rewards.ts";
import { actionWords } from "../../src/http/console/words.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { type CliResult, runCli } from "./run-cli.ts";

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let database: TestDatabase;
let folder: string;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  folder = mkdtempSync(join(tmpdir(), "starboard-cli-"));
  process.env.DATABASE_URL = database.url;
  process.env.EVENT_SOURCES = "SOURCE_A,SOURCE_B";
});
test.after(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

/** The one document of a successful command. */
function documentOf({ stdout, stderr, exitCode }: CliResult) {
  assert.equal(stderr, "");
  assert.equal(exitCode, 0);
  assert.equal(stdout.indexOf("\n"), stdout.length - 1, "one line, one document");
  return JSON.parse(stdout);
}

function assertRefused({ stdout, stderr, exitCode }: CliResult, pattern: RegExp): void {
  assert.match(stderr, pattern);
  assert.match(stderr, /^[^\n]+\n$/, "one line");
  assert.equal(stdout, "");
  assert.equal(exitCode, 1);
}

function file(content: unknown): string {
  const path = join(folder, `${Math.random()}.json`);
  const isRaw = typeof content === "string" || content instanceof Uint8Array;
  writeFileSync(path, isRaw ? content : JSON.stringify(content));
  return path;
}

const keys = (...args: string[]) => runCli(keysCommand, args);
const catalog = (...args: string[]) => runCli(catalogCommand, args);

test("keys issue, list and revoke print the shapes of the contract", async () => {
  const issued = documentOf(await keys("issue", "--name", "Ada", "--json"));
  assert.deepEqual(Object.keys(issued), ["id", "name", "key", "createdAt"]);
  assert.match(issued.key, /^starboard_live_[0-9A-Za-z]{36}$/);
  assert.match(issued.createdAt, INSTANT);
  const revoked = documentOf(await keys("revoke", issued.id, "--json"));
  assert.deepEqual(Object.keys(revoked), ["id", "revokedAt"]);
  assert.match(revoked.revokedAt, INSTANT);
  const listed = documentOf(await keys("list", "--json"));
  assert.deepEqual(listed, [
    {
      id: issued.id,
      name: "Ada",
      prefix: issued.key.slice(0, 19),
      createdAt: issued.createdAt,
      lastUsedAt: null,
      revokedAt: revoked.revokedAt,
    },
  ]);
});

test("for people: the key on a line of its own, lists in columns", async () => {
  const { stdout } = await keys("issue", "--name=Grace Hopper");
  assert.match(stdout, /^starboard_live_[0-9A-Za-z]{36}\n/);
  const list = await keys("list");
  assert.match(list.stdout, /^id +name +key +created +last used +revoked\n/);
  assert.match(list.stdout, /Grace Hopper +starboard_live_.{4}…/);
});

test("keys: refusals are one line", async () => {
  assertRefused(await keys("revoke", "nonsense", "--json"), /no key has this id/);
  assertRefused(await keys("issue", "--name", "  "), /a name of 1 to 300 characters/);
  assertRefused(await keys("list", "--jsno"), /no option --jsno/);
  assertRefused(await keys("list", "--constructor"), /no option --constructor/);
  assertRefused(await keys("list", "extra"), /extra is one argument too many/);
});

test("catalog import, approve, reject and list", async () => {
  const events = [
    {
      id: "e",
      title: "E",
      eventType: "OTHER",
      source: "SOURCE_B",
      startsAt: "2026-11-20T08:00:00Z",
    },
  ];
  const path = file({ events, projects: [{ id: "p", name: "P", category: "DATA" }] });
  const imported = { events: 1, tokens: 0, collections: 0, projects: 1 };
  assert.deepEqual(documentOf(await catalog("import", path, "--json")), { imported, approved: 0 });
  const approved = documentOf(await catalog("import", path, "--approve", "--json"));
  assert.deepEqual(approved, { imported, approved: 2 });
  const rejected = documentOf(await catalog("reject", "event", "e", "--json"));
  assert.deepEqual(rejected, { type: "event", id: "e", approvedAt: null });
  const back = documentOf(await catalog("approve", "events", "e", "--json"));
  assert.match(back.approvedAt, INSTANT);
  const [listed] = documentOf(await catalog("list", "event", "--json"));
  assert.equal(listed.approvedAt, back.approvedAt);
  assert.equal(listed.endsAt, "2026-11-21T00:00:00.000Z");
  assert.match((await catalog("list", "projects")).stdout, /^id +name +approved\np +P +2/);
  assert.match((await catalog("list", "token")).stdout, /^nothing yet\n$/);
});

test("a name commands no terminal and makes no line of its own; JSON says it as it is", async () => {
  const name = "\u001b[2J\u009b31mN\n0.0.8  faked\u200f\u061c";
  const path = file({ tokens: [{ id: "0.0.7", symbol: "S", name }] });
  assert.equal((await catalog("import", path)).exitCode, 0);
  const lines = (await catalog("list", "token")).stdout.split("\n");
  assert.deepEqual(lines.slice(1), ["0.0.7  \ufffd[2J\ufffd31mN 0.0.8 faked\ufffd\ufffd  -", ""]);
  const asJson = await catalog("list", "token", "--json");
  assert.equal(documentOf(asJson)[0].name, name);
  assert.ok(!/\p{Cc}(?!$)|[\u200f\u061c]/u.test(asJson.stdout), asJson.stdout);
  assert.match(
    (await keys("issue", "--name", "A\u202eb\u2066c")).stdout,
    /The key of A\ufffdb\ufffdc\./,
  );
});

test("catalog: refusals are one line, however many fields are bad", async () => {
  const bad = file({ tokens: [{ id: "x" }, { id: "0.0.1", symbol: "a\nb", name: 3 }] });
  assertRefused(
    await catalog("import", bad, "--json"),
    /tokens\[0\] \(id "x"\) id is no ledger id.*tokens\[1\]/,
  );
  assertRefused(await catalog("import", file("{")), /is no JSON file/);
  assertRefused(await catalog("import", join(folder, "absent.json")), /ENOENT/);
  assertRefused(await catalog("import", folder), /starboard-cli-\w+ is a folder$/m);
  assertRefused(await catalog("import", file({}), "--aprove"), /no option --aprove/);
  assertRefused(await catalog("approve", "nft", "e"), /TYPE must be one of event, token, /);
  assertRefused(await catalog("approve", "token", "0.0.404"), /no token has the id 0\.0\.404/);
  const command = await catalog("approve", "token", "\u001b[2J\u202e");
  assertRefused(command, /^no token has the id \ufffd\[2J\ufffd$/m);
});

test("a file that is refused for ten thousand reasons leaves one short line in the operator log", async () => {
  const tokens = Array.from({ length: 10_000 }, (_, n) => ({ id: `0.0.${n + 1}` }));
  const refused = await catalog("import", file({ tokens }));
  assertRefused(refused, /tokens\[9999\] \(id "0\.0\.10000"\) name is missing/);
  const [line] = documentOf(await operators("log", "--limit", "1", "--json"));
  assert.match(line.notice, /^The catalogue is not valid: tokens\[0\] .*…$/);
  assert.equal(line.notice.length, 1_001);
});

test("a catalogue file is UTF-8, with or without a mark, and names no key twice", async () => {
  const token = { id: "0.0.31", symbol: "C", name: "Café" };
  const text = JSON.stringify({ tokens: [token] });
  const latin = Buffer.from(text, "latin1");
  assertRefused(await catalog("import", file(latin), "--json"), /is not UTF-8/);
  const twice = '{"tokens":[\n{"id":"0.0.31","symbol":"C","name":"{\\"","n\\u0061me":"D"}]}';
  assertRefused(await catalog("import", file(twice)), /names "name" twice in one object, line 2/);
  documentOf(await catalog("import", file(`\ufeff${text}`), "--json"));
  const [listed] = documentOf(await catalog("list", "token", "--json"));
  assert.equal(listed.name, "Café");
});

test("migrate: applies what is missing, and nothing the second time", async () => {
  const empty = await testDatabase();
  process.env.DATABASE_URL = empty.url;
  assertRefused(await keys("list"), /run `starboard migrate` first/);
  const { applied } = documentOf(await runCli(migrateCommand, ["--json"]));
  assert.equal(applied[0].version, 1);
  assert.deepEqual(documentOf(await runCli(migrateCommand, ["--json"])), { applied: [] });
  assert.match((await runCli(migrateCommand, [])).stdout, /up to date/);
  assert.deepEqual(documentOf(await keys("list", "--json")), []);
  await empty.close();
  process.env.DATABASE_URL = database.url;
});

test("a database that is away, or not configured, is one line", async () => {
  process.env.DATABASE_URL = "postgres://absent@127.0.0.1:1/nowhere";
  assertRefused(await keys("list", "--json"), /the database is out of reach: .*ECONNREFUSED/);
  process.env.DATABASE_URL = "http://x";
  assertRefused(await keys("list"), /DATABASE_URL must be a postgres:\/\/ URL/);
  process.env.HEDERA_NETWORK = "testnet";
  process.env.DATABASE_URL = "";
  assertRefused(await keys("list"), /DATABASE_URL is missing/);
  delete process.env.HEDERA_NETWORK;
  process.env.DATABASE_URL = database.url;
});

test("a Redis that is away is named with the reason", async () => {
  process.env.REDIS_URL = "redis://127.0.0.1:1";
  assertRefused(
    await runCli(rewardsCommand, ["reoffer", "--day", "2026-11-20"]),
    /^Redis is out of reach: connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
  );
  delete process.env.REDIS_URL;
});

const operators = (...args: string[]) => runCli(operatorsCommand, args);

test("operators add, change, list and revoke print the shapes of the contract", async () => {
  const added = documentOf(await operators("add", "Ada", "--role", "viewer", "--json"));
  assert.deepEqual(Object.keys(added), ["name", "role", "token", "createdAt"]);
  assert.match(added.token, /^starboard_operator_[0-9A-Za-z]{36}$/);
  const changed = documentOf(await operators("change", "Ada", "--role", "operator", "--json"));
  assert.deepEqual(changed, { name: "Ada", role: "operator" });
  assertRefused(await operators("add", "Ada", "--role", "admin"), /an operator Ada already/);
  assertRefused(
    await operators("add", "ada", "--role", "admin"),
    /an operator ada already, maybe in other capitals/,
  );
  assertRefused(await operators("add", "Bo", "--role", "root"), /one of viewer, operator, admin/);
  assertRefused(await operators("add", "Environment", "--role", "admin"), /not environment/);
  assertRefused(await operators("revoke", "environment"), /OPERATOR_TOKEN/);
  const revoked = documentOf(await operators("revoke", "Ada", "--json"));
  assert.deepEqual(Object.keys(revoked), ["name", "revokedAt"]);
  assertRefused(await operators("revoke", "Ada"), /there is no operator Ada/);
  assert.deepEqual(documentOf(await operators("list", "--json")), [
    {
      ...{ name: "Ada", role: "operator", createdAt: added.createdAt },
      ...{ lastUsedAt: null, revokedAt: revoked.revokedAt },
    },
  ]);
  documentOf(await operators("add", "Ada", "--role", "admin", "--json"));
});

test("each act of the command line has its lines in the operator log, and nothing secret in them", async () => {
  const { key, id } = documentOf(await keys("issue", "--name", "Logged", "--json"));
  assertRefused(await catalog("approve", "event", "nowhere"), /no event has the id/);
  const accepted = await runCli(journalCommand, ["accept-loss", "--reason", "No backup", "--json"]);
  assert.deepEqual(documentOf(accepted), { accepted: 0, reason: "No backup" });
  const [gone, ...lines] = documentOf(await operators("log", "--json", "--limit", "1000"));
  assert.deepEqual(
    [gone.action, gone.phase, gone.reason],
    ["journal.accept-loss", "done", "No backup"],
  );
  assert.ok(!JSON.stringify(lines).includes(key));
  const { username } = userInfo();
  const [failed, issued] = lines;
  assert.deepEqual(
    [failed.action, failed.subject, failed.phase, failed.notice],
    ["catalogue.approve", "event/nowhere", "failed", "No event has the id nowhere."],
  );
  assert.deepEqual(
    [issued.action, issued.phase, issued.operator, issued.origin, issued.details],
    ["keys.issue", "done", username, "command", { id }],
  );
  const acts: { action: string }[] = lines;
  for (const name of ["import", "approve", "reject"]) {
    assert.ok(acts.some(({ action }) => action === `catalogue.${name}`));
  }
  for (const { action } of acts) assert.notEqual(actionWords(action), action);
});

test("actors list and show print the shapes of the contract, also of an actor without stars", async () => {
  assert.deepEqual(documentOf(await runCli(actorsCommand, ["list", "--json"])), []);
  for (const id of [
    "wallet-day/0.0.1001/2026-11-20",
    "event-day/meetup/2026-11-20",
    "forever-mint/mint",
  ]) {
    const shown = documentOf(await runCli(actorsCommand, ["show", id, "--json"]));
    assert.deepEqual(Object.keys(shown), ["id", "state", "context", "version", "source"]);
    assert.deepEqual([shown.id, shown.version, shown.source], [id, 0, "journal"]);
  }
  assertRefused(await runCli(actorsCommand, ["show", "wallet-day/0.0.1001"]), /names no actor/);
  const list = (...args: string[]) => runCli(actorsCommand, ["list", ...args]);
  assertRefused(await list("--type", "planet"), /^--type must be one of wallet-day, event-day, /);
  for (const limit of ["0", "1001"])
    assertRefused(await list("--limit", limit), /^--limit must be a whole number from 1 to 1000$/m);
});

test("actors replay reports an actor without stars differently from one that is equal", async () => {
  const id = "forever-mint/no-such-mint";
  const result = await runCli(actorsCommand, ["replay", id]);
  assert.equal(result.stdout, `${id} has no star in the journal: is it the one you mean?\n`);
  assert.equal(result.exitCode, 0);
  assert.equal(documentOf(await runCli(actorsCommand, ["replay", id, "--json"])).equal, true);
});

test.run();
