/**
 * Goal: a session is opened for the holder of the account's key at this moment, by the ledger's
 * own rule, and for no other client. Method: real keys and signatures over HTTP, a ledger with its
 * mirror node behind it.
 */
import * as assert from "node:assert/strict";
import { createPrivateKey, sign } from "node:crypto";
import hapi from "@hashgraph/proto";
import { suite } from "uvu";
import { signChallenge } from "../../../src/cli/demo-wallet.ts";
import { entityChecksum } from "../../../src/ledger/entity-id.ts";
import type { KeyBytes } from "../../../src/local/hedera/keys.ts";
import { silentLogger } from "../../../src/log.ts";
import { openRedis } from "../../../src/store/redis.ts";
import { openSession } from "../../../src/voting/open-session.ts";
import { keyList, thresholdKey } from "../../support/key-lists.ts";
import { until } from "../../support/processes.ts";
import { reserveConnection } from "../../support/reserve-connection.ts";
import {
  cast,
  newKey,
  newWallet,
  type Reply,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { SLACK_MS } from "../../support/slack.ts";

const test = suite<{ service: Service }>("sign-in");

test.before(async (context) => {
  const settings = { PUBLIC_URL: "https://stars.example", HEDERA_NETWORK: "testnet" };
  context.service = await startService(settings);
});
test.after((context) => context.service.close());
test.after.each((context) => context.service.hedera.mirror.faults.heal());

function isProblem(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.body.code, code);
}

function challenge(service: Service, wallet: string): Promise<Reply> {
  return send(service, "POST /voting/challenges", { json: { wallet } });
}

function open(service: Service, json: Record<string, unknown>): Promise<Reply> {
  return send(service, "POST /voting/sessions", { json });
}

/** A `hedera_signMessage` answer with one pair per key, as a multi-key wallet returns it. */
function signedByAll(
  keys: readonly { publicKey: KeyBytes; key: string }[],
  message: string,
): string {
  const text = Buffer.from(`\x19Hedera Signed Message:\n${message.length}${message}`);
  const sigPair = keys.map(({ key, publicKey }) => ({
    pubKeyPrefix: publicKey.slice(-32),
    ed25519: sign(
      null,
      text,
      createPrivateKey({ key: Buffer.from(key, "hex"), format: "der", type: "pkcs8" }),
    ),
  }));
  return Buffer.from(hapi.proto.SignatureMap.encode({ sigPair }).finish()).toString("base64");
}

/** An account with a composite key; tries to sign in with some of its keys. */
async function signInWith(
  service: Service,
  account: KeyBytes,
  signers: readonly { publicKey: KeyBytes; key: string }[],
): Promise<Reply> {
  const id = await service.hedera.ledger.createAccount({ key: account });
  const { body } = await challenge(service, id);
  return open(service, { challengeId: body.id, signature: signedByAll(signers, body.message) });
}

test("the challenge names domain, URI, chain, wallet, a 128-bit nonce, issue and expiry in five minutes", async ({
  service,
}) => {
  const { id } = await newWallet(service);
  const { status, body } = await challenge(service, id);
  assert.equal(status, 201);
  assert.deepEqual(Object.keys(body).sort(), ["expiresAt", "id", "message", "wallet"]);
  const lines = body.message.split("\n");
  assert.equal(lines[0], "stars.example wants you to sign in with your Hedera account:");
  assert.equal(lines[1], id);
  assert.match(body.message, /^URI: https:\/\/stars\.example\/$/m);
  assert.match(body.message, /^Chain ID: hedera:testnet$/m);
  assert.match(body.message, /^Nonce: [0-9a-f]{32}$/m);
  const issued = Date.parse(/^Issued At: (.*)$/m.exec(body.message)?.[1] ?? "");
  assert.equal(Date.parse(body.expiresAt) - issued, 300_000);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the text must be ASCII, line breaks included
  assert.match(body.message, /^[\x0a\x20-\x7e]+$/);
});

for (const type of ["ed25519", "ecdsa"] as const) {
  test(`201: a wallet with an ${type} key signs in, and its session names the wallet`, async ({
    service,
  }) => {
    const wallet = await newWallet(service, { type });
    const token = await signIn(service, wallet);
    assert.match(token, /^[A-Za-z0-9_-]{43}$/);
    const { body } = await send(service, "GET /voting/allowance", { token });
    assert.equal(body.wallet, wallet.id);
  });
}

test("201: two of three keys satisfy a threshold; one key, and one key twice, do not", async ({
  service,
}) => {
  const [a, b, c] = [newKey("ed25519"), newKey("ed25519"), newKey("ed25519")];
  const key = thresholdKey(2, [a.publicKey, b.publicKey, c.publicKey]);
  assert.equal((await signInWith(service, key, [a, c])).status, 201);
  isProblem(await signInWith(service, key, [b]), 401, "INVALID_SIGNATURE");
  isProblem(await signInWith(service, key, [b, b]), 401, "INVALID_SIGNATURE");
});

test("201: nested key lists need every part of theirs", async ({ service }) => {
  const [a, b, c] = [newKey("ed25519"), newKey("ed25519"), newKey("ed25519")];
  const key = keyList([a.publicKey, thresholdKey(1, [b.publicKey, c.publicKey])]);
  assert.equal((await signInWith(service, key, [a, c])).status, 201);
  isProblem(await signInWith(service, key, [b, c]), 401, "INVALID_SIGNATURE");
});

test("after a rotation the account's new key signs in and the old one is refused, also for an older challenge", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const next = newKey("ed25519");
  const [first, second] = [
    (await challenge(service, wallet.id)).body,
    (await challenge(service, wallet.id)).body,
  ];
  await service.hedera.ledger.rotateAccountKey(wallet.id, next.publicKey);
  isProblem(
    await open(service, { challengeId: first.id, ...signChallenge(wallet, first.message) }),
    401,
    "INVALID_SIGNATURE",
  );
  const rotated = { ...wallet, key: next.key };
  const opened = await open(service, {
    challengeId: second.id,
    ...signChallenge(rotated, second.message),
  });
  assert.equal(opened.status, 201);
});

test("401 INVALID_SIGNATURE: another key, another text, another scheme, rubbish; and the challenge is spent", async ({
  service,
}) => {
  const [wallet, other] = [await newWallet(service), await newWallet(service)];
  const bad = [
    (message: string) => signChallenge(other, message),
    (message: string) => signChallenge(wallet, message.replace("stars.example", "evil.example")),
    (message: string) => signChallenge(wallet, message.replace(wallet.id, other.id)),
    (message: string) => ({ ...signChallenge(wallet, message), scheme: "eip191" }),
    () => ({ scheme: "hip820", signature: "AAAA" }),
    () => ({ scheme: "hip820", signature: "\u0000\uffff" }),
    () => ({ scheme: "eip191", signature: `0x${"00".repeat(65)}` }),
  ];
  for (const forge of bad) {
    const { body } = await challenge(service, wallet.id);
    isProblem(
      await open(service, { challengeId: body.id, ...forge(body.message) }),
      401,
      "INVALID_SIGNATURE",
    );
    const late = await open(service, {
      challengeId: body.id,
      ...signChallenge(wallet, body.message),
    });
    isProblem(late, 410, "CHALLENGE_EXPIRED");
  }
});

test("410 CHALLENGE_EXPIRED: unknown, used, expired; of a hundred uses at once one opens a session", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  isProblem(
    await open(service, { challengeId: "01a1f872-e21d-7287-b609-0ad3bc6328f8", signature: "AAAA" }),
    410,
    "CHALLENGE_EXPIRED",
  );
  const { body } = await challenge(service, wallet.id);
  const signed = signChallenge(wallet, body.message);
  // Held until several uses have found the challenge and are about to take it.
  const holder = await reserveConnection(service.sql);
  await holder`begin`;
  await holder`select from challenge where id = ${body.id} for update`;
  const using = Promise.all(
    Array.from({ length: 100 }, () => open(service, { challengeId: body.id, ...signed })),
  );
  await until("several uses wait", async () => {
    const waiting = await service.sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return waiting.length > 1;
  });
  await holder`rollback`;
  holder.release();
  const uses = await using;
  assert.equal(uses.filter(({ status }) => status === 201).length, 1);
  assert.equal(uses.filter(({ status }) => status === 410).length, 99);
  const old = (await challenge(service, wallet.id)).body;
  await service.sql`update challenge set expires_at = now_ms() where id = ${old.id}`;
  isProblem(
    await open(service, { challengeId: old.id, ...signChallenge(wallet, old.message) }),
    410,
    "CHALLENGE_EXPIRED",
  );
});

/** What a session of this wallet is refused with; the signature does not matter. */
async function refusal(service: Service, wallet: string): Promise<Reply> {
  const { status, body } = await challenge(service, wallet);
  assert.equal(status, 201, "a challenge asks no mirror node");
  return open(service, { challengeId: body.id, signature: "AA==" });
}

test("404 UNKNOWN_WALLET and 422 UNSUPPORTED_KEY at the session: no account, no key, a deleted account, an empty list", async ({
  service,
}) => {
  const { ledger } = service.hedera;
  isProblem(await refusal(service, "0.0.999999"), 404, "UNKNOWN_WALLET");
  for (const key of [null, keyList([])]) {
    isProblem(await refusal(service, await ledger.createAccount({ key })), 422, "UNSUPPORTED_KEY");
  }
  const gone = await newWallet(service);
  const { body } = await challenge(service, gone.id);
  await ledger.deleteAccount(gone.id);
  isProblem(await refusal(service, gone.id), 422, "UNSUPPORTED_KEY");
  isProblem(
    await open(service, { challengeId: body.id, ...signChallenge(gone, body.message) }),
    422,
    "UNSUPPORTED_KEY",
  );
});

test("400 INVALID_REQUEST: every other spelling of an account is refused, so one account is one voter", async ({
  service,
}) => {
  const { id } = await newWallet(service);
  const number = id.slice("0.0.".length);
  for (const wallet of [
    number,
    `0.${number}`,
    `00.0.${number}`,
    `0.0.0${number}`,
    "0.0.0",
    "",
    `0x${"0".repeat(39)}`,
    `0X${"0".repeat(40)}`,
    "0".repeat(40),
    "0.0.1e3",
    "0.0.abc",
    ` ${id}`,
    `${id}\n`,
    `\u00a0${id}`,
  ]) {
    const reply = await challenge(service, wallet);
    isProblem(reply, 400, "INVALID_REQUEST");
    assert.equal(reply.body.field, "wallet");
  }
});

test("400 INVALID_REQUEST: a field that is not known, and one that is missing, by its name", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const { body } = await challenge(service, wallet.id);
  const signed = { challengeId: body.id, ...signChallenge(wallet, body.message) };
  for (const [path, json, field] of [
    ["challenges", { wallet: wallet.id, x: 1 }, "x"],
    ["challenges", {}, "wallet"],
    ["sessions", { ...signed, wallet: wallet.id }, "wallet"],
    ["sessions", { ...signed, scheme: "eip712" }, "scheme"],
    ["sessions", { ...signed, challengeId: "x" }, "challengeId"],
    ["sessions", { challengeId: body.id }, "signature"],
  ] as const) {
    const reply = await send(service, `POST /voting/${path}`, { json });
    isProblem(reply, 400, "INVALID_REQUEST");
    assert.equal(reply.body.field, field);
  }
  assert.equal((await open(service, signed)).status, 201, "no challenge was spent");
});

test("a checksum is verified for the network, and then dropped", async ({ service }) => {
  const { id } = await newWallet(service);
  const right = await challenge(service, `${id}-${entityChecksum(id, "testnet")}`);
  assert.equal(right.body.wallet, id);
  isProblem(
    await challenge(service, `${id}-${entityChecksum(id, "mainnet")}`),
    400,
    "INVALID_REQUEST",
  );
});

test("503 UNAVAILABLE while the mirror node is out, in time; the same challenge opens a session afterwards", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const faults = [{ kind: "fail", status: 500 }, { kind: "garbage" }, { kind: "hang" }] as const;
  service.hedera.mirror.faults.inject({ kind: "hang" });
  const { status, body } = await challenge(service, wallet.id);
  assert.equal(status, 201, "a challenge asks no mirror node");
  service.hedera.mirror.faults.heal();
  const signed = { challengeId: body.id, ...signChallenge(wallet, body.message) };
  for (const fault of faults) {
    service.hedera.mirror.faults.inject(fault);
    const startedAt = performance.now();
    const reply = await open(service, signed);
    isProblem(reply, 503, "UNAVAILABLE");
    assert.ok(Number(reply.headers.get("retry-after")) >= 1);
    assert.ok(performance.now() - startedAt < 2_000 + SLACK_MS);
    service.hedera.mirror.faults.heal();
  }
  assert.equal((await open(service, signed)).status, 201);
  isProblem(await open(service, signed), 410, "CHALLENGE_EXPIRED");
});

test("an account that was read after the caller's deadline spends no challenge", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const { body } = await challenge(service, wallet.id);
  const deps = {
    sql: service.sql,
    clock: { now: () => Date.now() },
    readAccount: async () => null,
    site: { publicUrl: "https://stars.example", origins: [], network: "local" },
  };
  const signed = { challengeId: body.id, ...signChallenge(wallet, body.message) };
  const late = { ...signed, origin: null, answerBy: performance.now() };
  await assert.rejects(openSession(deps, late), { code: "UNAVAILABLE" });
  assert.equal((await open(service, signed)).status, 201);
});

test("sessions, challenges and idempotency keys survive the loss of all of Redis", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const token = await signIn(service, wallet);
  const { body } = await challenge(service, wallet.id);
  const key = { "idempotency-key": "kept" };
  const first = await cast(service, token, "token/0.0.9001", key);
  const redis = openRedis(service.redisUrl, silentLogger);
  if (!redis.isReady) await new Promise((resolve) => redis.once("ready", resolve));
  await redis.flushDb();
  redis.destroy();
  const again = await cast(service, token, "token/0.0.9001", key);
  assert.equal(again.text, first.text);
  const opened = await open(service, {
    challengeId: body.id,
    ...signChallenge(wallet, body.message),
  });
  assert.equal(opened.status, 201);
});

test("the database holds no session token", async ({ service }) => {
  const token = await signIn(service, await newWallet(service));
  const rows = await service.sql`select session::text as row from session`;
  assert.ok(
    rows.every(
      ({ row }) => !row.includes(token) && !row.includes(Buffer.from(token).toString("hex")),
    ),
  );
});

test.run();
