// timeout: 120 s
/**
 * Goal: every fault of an environment is named before the first start, with what to do. Method:
 * real servers, of which one at a time is set wrong or is away; the commands once each.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createClient } from "redis";
import { suite } from "uvu";
import { readSettings } from "../../src/config.ts";
import { type Diagnosis, examine } from "../../src/upkeep/doctor/examine.ts";
import { seedDay } from "../support/export-seed.ts";
import { type Network, startNetwork } from "../support/network.ts";
import { newKey } from "../support/service.ts";
import { starboard } from "../support/starboard.ts";

const NAMES = [
  "postgres",
  "redis",
  "mirror",
  "consensus",
  "topics",
  "operator-key",
  "balance",
  "clock",
];

interface Context {
  network: Network;
}
const test = suite<Context>("the doctor");
test.before(async (context) => {
  context.network = await startNetwork();
});
test.after(({ network }) => network.close());

/** The checks that fail with these settings above those of the network, by name. */
async function failed(
  { settings }: Network,
  changes: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<string, { readonly message: string; readonly fix: string | null }>> {
  const { ok, checks } = await examine(readSettings({ ...settings, ...changes }));
  assert.deepEqual(
    checks.map(({ name }) => name),
    NAMES,
  );
  const wrong = checks.filter((check) => !check.ok);
  assert.equal(ok, wrong.length === 0);
  const secrets = [settings.HEDERA_OPERATOR_KEY, changes.HEDERA_OPERATOR_KEY, "a-password"];
  for (const { message, fix } of checks) {
    for (const secret of secrets) assert.ok(!secret || !`${message} ${fix}`.includes(secret));
  }
  return new Map(wrong.map(({ name, message, fix }) => [name, { message, fix }]));
}

test("a good environment passes every check by name, with exit status 0", async ({ network }) => {
  const { status, stderr, json } = await starboard(["doctor", "--json"], network.settings);
  const { ok, checks } = json<Diagnosis>();
  assert.deepEqual([status, ok], [0, true], JSON.stringify(checks) + stderr);
  assert.deepEqual(
    checks.map(({ name, ok, message, fix }) => [name, ok, message !== "", fix]),
    NAMES.map((name) => [name, true, true, null]),
  );
});

test("`serve --check` asks nothing of the operator, `work --check` wants the key; neither starts", async ({
  network: { settings },
}) => {
  const { HEDERA_OPERATOR_KEY: _, ...keyless } = settings;
  const web = await starboard(["serve", "--check", "--json"], keyless);
  assert.equal(web.status, 0, web.stdout + web.stderr);
  assert.deepEqual(
    web.json<Diagnosis>().checks.map(({ name }) => name),
    NAMES,
  );
  const worker = await starboard(["work", "--check", "--json"], keyless);
  assert.equal(worker.status, 1);
  const wrong = worker.json<Diagnosis>().checks.filter(({ ok }) => !ok);
  assert.ok(wrong.some(({ name, fix }) => name === "operator-key" && fix?.includes("_KEY")));
});

test("`serve --check` says what a server answers without commanding the terminal", async ({
  network: { settings },
}) => {
  const url = new URL(settings.DATABASE_URL ?? "");
  url.username = "m\u001b[2J\u009b";
  for (const [flags, wanted] of [
    [[], '"m\ufffd[2J\ufffd"'],
    [["--json"], "m\\u001b[2J\\u009b"],
  ] as const) {
    const { stdout } = await starboard(["serve", "--check", ...flags], {
      ...settings,
      DATABASE_URL: url.href,
    });
    assert.ok(stdout.includes(wanted), stdout);
    assert.ok(!/(?!\n)\p{Cc}/u.test(stdout), stdout);
  }
});

test("`serve --check` names what a web process lacks: a collection's setting, NFTs of accounts", async ({
  network,
}) => {
  const { HEDERA_OPERATOR_ID: _, HEDERA_OPERATOR_KEY: __, ...web } = network.settings;
  const mirrorOf = async (settings: Record<string, string | undefined>) => {
    const { ok, checks } = await examine(readSettings(settings), "serve");
    assert.equal(ok, false);
    return checks.find(({ name }) => name === "mirror")?.message ?? "";
  };
  assert.equal(
    await mirrorOf({ ...web, COLLECTION_B_KEY: undefined }),
    "COLLECTION_B_KEY is not set",
  );
  const heal = network.hedera.mirror.faults.inject({
    kind: "fail",
    status: 501,
    path: /accounts.*nfts/,
  });
  assert.match(await mirrorOf(web), /fails at \/accounts\/\{id\}\/nfts \(/);
  heal();
});

test("`serve --check` refuses an address that others reach without the URL they know", async ({
  network: { settings },
}) => {
  const open = await starboard(["serve", "--check", "--json"], { ...settings, HOST: "0.0.0.0" });
  assert.deepEqual([open.status, open.stdout], [1, ""]);
  assert.match(open.stderr, /^PUBLIC_URL is missing: HOST is not a loopback address\n$/);
});

test("`serve` names a setting that cannot be before it asks any server, checked first or not", async ({
  network: { settings },
}) => {
  const away = { ...settings, DATABASE_URL: "postgres://a@127.0.0.1:1/b" };
  for (const [set, said] of [
    [{ HOST: "0.0.0.0" }, "PUBLIC_URL is missing: HOST is not a loopback address"],
    [{ TRUSTED_PROXIES: "10.0.0.0/33" }, "TRUSTED_PROXIES: 10.0.0.0/33 is no range"],
    [{ PORT: "0" }, "PUBLIC_URL is missing: PORT 0 is any free one"],
  ] as const) {
    for (const words of [["serve"], ["serve", "--check"]]) {
      const { status, stdout, stderr } = await starboard(words, { ...away, ...set });
      assert.deepEqual([status, stdout], [1, ""], said);
      assert.match(stderr, new RegExp(`^(starboard: )?${said}\n$`));
    }
  }
});

test("`work` names a proxy that is no range before it sends a star, and `work --check` too", async ({
  network: { settings },
}) => {
  for (const words of [["work"], ["work", "--check"]]) {
    const proxies = { WORKER_PORT: "0", TRUSTED_PROXIES: "10.0.0.0/33" };
    const away = { ...settings, DATABASE_URL: "postgres://a@127.0.0.1:1/b", ...proxies };
    const { status, stdout, stderr } = await starboard(words, away);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /^(starboard: )?TRUSTED_PROXIES: 10\.0\.0\.0\/33 is no range\n$/);
  }
});

test("an empty environment fails every check, and each says what to set", async () => {
  const { ok, checks } = await examine(readSettings({}));
  assert.equal(ok, false);
  for (const { name, ok, fix } of checks) assert.ok(!ok && fix?.startsWith("set "), name);
});

test("`work` names a key that is none before it asks any server", async ({
  network: { settings },
}) => {
  const away = { ...settings, DATABASE_URL: "postgres://a@127.0.0.1:1/b" };
  const { status, stderr } = await starboard(["work"], {
    ...away,
    HEDERA_OPERATOR_KEY: "ab".repeat(33),
  });
  assert.equal(status, 1);
  assert.match(stderr, /: HEDERA_OPERATOR_KEY is no private key in DER or raw hex\n$/);
});

test("a parameter of DATABASE_URL that the server does not know leads to that setting", async ({
  network,
}) => {
  const { DATABASE_URL = "" } = network.settings;
  const url = `${DATABASE_URL}${DATABASE_URL.includes("?") ? "&" : "?"}channel_binding=require`;
  const wrong = await failed(network, { DATABASE_URL: url });
  assert.deepEqual([...wrong.keys()], ["postgres", "clock"]);
  assert.match(wrong.get("postgres")?.message ?? "", /"channel_binding"/);
  assert.match(wrong.get("postgres")?.fix ?? "", /^see DATABASE_URL, its parameters too/);
});

test("a key other than the account's fails the key's check and that of the topics", async ({
  network,
}) => {
  const wrong = await failed(network, { HEDERA_OPERATOR_KEY: newKey("ed25519").key });
  assert.deepEqual([...wrong.keys()], ["topics", "operator-key"]);
  assert.match(wrong.get("operator-key")?.message ?? "", /is not the key of 0\.0\.\d+/);
  assert.match(wrong.get("topics")?.message ?? "", /submit key that is not ours/);
  assert.match(
    wrong.get("topics")?.fix ?? "",
    /^cure `operator-key` first, .*set EVENT_VOTES_TOPIC_ID and ASSET_VOTES_TOPIC_ID to /,
  );
  const none = await failed(network, { HEDERA_OPERATOR_KEY: "ff".repeat(33) });
  assert.match(none.get("operator-key")?.message ?? "", /no private key/);
});

test("no such topic, one without a submit key, one for both", async ({ network }) => {
  const missing = await failed(network, { EVENT_VOTES_TOPIC_ID: "0.0.999999" });
  assert.deepEqual([...missing.keys()], ["topics"]);
  assert.match(
    missing.get("topics")?.message ?? "",
    /EVENT_VOTES_TOPIC_ID 0\.0\.999999 is not known/,
  );
  assert.match(
    missing.get("topics")?.fix ?? "",
    /^set EVENT_VOTES_TOPIC_ID to what `starboard topics create` prints$/,
  );
  const open = await network.hedera.ledger.createTopic({ submitKey: null });
  const anyone = await failed(network, { ASSET_VOTES_TOPIC_ID: open });
  assert.match(anyone.get("topics")?.message ?? "", /no submit key/);
  const both = await failed(network, { ASSET_VOTES_TOPIC_ID: network.topics.event });
  assert.match(both.get("topics")?.message ?? "", /the same topic/);
});

test("an account that is nearly empty, and one that is not there", async ({ network }) => {
  const { publicKey, key } = newKey("ed25519");
  const poor = await network.hedera.ledger.createAccount({ key: publicKey, balance: 600_000_000n });
  const wrong = await failed(network, { HEDERA_OPERATOR_ID: poor, HEDERA_OPERATOR_KEY: key });
  assert.match(
    wrong.get("balance")?.message ?? "",
    /holds 6 HBAR, a message costs 0\.0066 HBAR: enough for 899 stars/,
  );
  assert.match(wrong.get("balance")?.fix ?? "", /send HBAR to 0\.0\.\d+/);
  const gone = await failed(network, { HEDERA_OPERATOR_ID: "0.0.999999" });
  assert.deepEqual([...gone.keys()], ["operator-key", "balance"]);
});

test("a Redis that may evict, and one that is away", async ({ network }) => {
  const redis = await createClient({ url: network.settings.REDIS_URL ?? "" }).connect();
  await redis.configSet("maxmemory-policy", "allkeys-lru");
  const evicting = await failed(network);
  await redis.configSet("maxmemory-policy", "noeviction");
  await redis.close();
  assert.deepEqual([...evicting.keys()], ["redis"]);
  assert.match(evicting.get("redis")?.fix ?? "", /config set maxmemory-policy noeviction/);
  const away = await failed(network, { REDIS_URL: "redis://:a-password@127.0.0.1:1" });
  assert.deepEqual([...away.keys()], ["redis"]);
});

test("a mirror node that lacks a route, is behind, or is away", async ({ network }) => {
  const { faults } = network.hedera.mirror;
  const lacking = /\/transactions\?/;
  const heal = faults.inject({ kind: "fail", status: 501, path: lacking });
  const partial = await failed(network);
  heal();
  assert.deepEqual([...partial.keys()], ["mirror"]);
  assert.match(partial.get("mirror")?.message ?? "", /fails at \/transactions \(/);
  const unknown = await failed(network, { COLLECTION_A_ID: "0.0.999999" });
  assert.match(unknown.get("mirror")?.message ?? "", /no token 0\.0\.999999 \(COLLECTION_A_ID\)$/);
  assert.match(unknown.get("mirror")?.fix ?? "", /each setting that is named/);
  const away = await failed(network, { MIRROR_NODE_URL: "http://127.0.0.1:1/an-access-key" });
  assert.deepEqual([...away.keys()], ["mirror", "topics", "operator-key", "balance"]);
  assert.doesNotMatch(away.get("mirror")?.message ?? "", /an-access-key/);
  assert.match(away.get("topics")?.fix ?? "", /cure `mirror` first/);
  const one = await failed(network, {
    MIRROR_NODE_URL: `${network.settings.MIRROR_NODE_URL},http://127.0.0.1:1`,
  });
  assert.deepEqual([...one.keys()], ["mirror"]);
});

test("consensus nodes that do not answer", async ({ network }) => {
  const wrong = await failed(network, { HEDERA_NODES: "127.0.0.1:1=0.0.3" });
  assert.deepEqual([...wrong.keys()], ["consensus"]);
  assert.match(wrong.get("consensus")?.message ?? "", /1 of 1 nodes do not answer: 0\.0\.3/);
});

test("a consensus node that is named by another node's account", async ({ network }) => {
  const nodes = network.settings.HEDERA_NODES ?? "";
  const wrong = await failed(network, { HEDERA_NODES: nodes.replace("=0.0.5", "=0.0.6") });
  assert.deepEqual([...wrong.keys()], ["consensus"]);
  const { message, fix } = wrong.get("consensus") ?? {};
  assert.equal(message, "the node at the address of 0.0.6 has another account");
  assert.match(fix ?? "", /HEDERA_NODES/);
});

test("a Postgres that is away, lacks the database, or has another schema", async ({ network }) => {
  const away = await failed(network, { DATABASE_URL: "postgres://u:a-password@127.0.0.1:1/none" });
  assert.deepEqual([...away.keys()], ["postgres", "clock"]);
  assert.match(away.get("postgres")?.fix ?? "", /start Postgres/);
  const url = new URL(network.settings.DATABASE_URL ?? "");
  url.pathname = "/no_such_database";
  const lacking = await failed(network, { DATABASE_URL: url.href });
  assert.match(lacking.get("postgres")?.fix ?? "", /create the database/);
  url.pathname = "/postgres";
  const empty = await failed(network, { DATABASE_URL: url.href });
  assert.match(empty.get("postgres")?.fix ?? "", /starboard migrate/);
});

test("a pooler that refuses the settings of a connection leads to Postgres itself", async ({
  network,
}) => {
  const refusal = "SFATAL\0C08P01\0Munsupported startup parameter: bytea_output\0\0";
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + refusal.length);
  const pooler = createServer((socket) =>
    socket.once("data", () =>
      socket.end(Buffer.concat([Buffer.from("E"), length, Buffer.from(refusal)])),
    ),
  ).listen(0, "127.0.0.1");
  await once(pooler, "listening");
  const { port } = pooler.address() as AddressInfo;
  const wrong = await failed(network, {
    DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/starboard`,
  });
  pooler.close();
  assert.match(wrong.get("postgres")?.message ?? "", /bytea_output/);
  assert.match(wrong.get("postgres")?.fix ?? "", /^set DATABASE_URL to Postgres itself/);
});

test("a login without rights in the database is told which role it needs", async ({ network }) => {
  const login = `doctor_${randomUUID().slice(0, 8)}`;
  const { sql } = network;
  await sql`create role ${sql(login)} login password 'a-password'`;
  const url = new URL(network.settings.DATABASE_URL ?? "");
  url.username = login;
  url.password = "a-password";
  const wrong = await failed(network, { DATABASE_URL: url.href });
  await sql`drop role ${sql(login)}`;
  assert.match(wrong.get("postgres")?.message ?? "", /^permission denied/);
  // The tables' owner may not grant a role that it did not make.
  assert.match(
    wrong.get("postgres")?.fix ?? "",
    /^as a superuser, .*: grant starboard_app to this login$/,
  );
});

// Last: the day that it leaves behind has stars that are on no topic of this ledger.
test("a topic with stars of the other kind is named by the doctor, and ends a start of `serve` and a recovery", async ({
  network,
}) => {
  await seedDay(network.sql, "2020-01-01", 2);
  const swapped = { ASSET_VOTES_TOPIC_ID: "0.0.501" };
  const said = "ASSET_VOTES_TOPIC_ID 0.0.501 has event stars on it: are the two topics swapped?";
  const topics = (await failed(network, swapped)).get("topics");
  assert.equal(topics?.message, said);
  assert.match(topics?.fix ?? "", /^exchange /);
  const { EVENT_VOTES_TOPIC_ID: _, ...others } = network.settings;
  const { checks } = await examine(readSettings({ ...others, ...swapped }), "serve");
  assert.equal(checks.find(({ name }) => name === "topics")?.message, said);
  const settings = { ...(await network.webSettings()), ...swapped, LOG_LEVEL: "error" };
  const { status, stderr } = await starboard(["serve"], settings);
  assert.deepEqual([status, stderr], [1, `starboard: ${said}\n`]);
  const recovery = await starboard(["journal", "recover", "--dry-run"], settings);
  assert.deepEqual([recovery.status, recovery.stderr], [1, `${said}\n`]);
});

test.run();
