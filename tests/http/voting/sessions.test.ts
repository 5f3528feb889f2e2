/**
 * Goal: a wallet's sessions end when their owner or an operator says so, or its key changes; they
 * are opened under any name of the account, and for the site that asked. Method: real keys over
 * HTTP, a ledger with its mirror node behind it.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { type SigningWallet, signChallenge } from "../../../src/cli/demo-wallet.ts";
import {
  newKey,
  newWallet,
  type Reply,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { starboard } from "../../support/starboard.ts";

const APP = "https://app.example";
const OTHER = "https://other.example:8443";

const test = suite<{ service: Service }>("sessions");
test.before(async (context) => {
  context.service = await startService({
    PUBLIC_URL: "https://stars.example",
    VOTING_ORIGINS: `${APP},${OTHER}/`,
  });
});
test.after((context) => context.service.close());

async function status(service: Service, token: string): Promise<number> {
  return (await send(service, "GET /voting/allowance", { token })).status;
}

interface Asked {
  readonly wallet: string;
  readonly origin?: string | undefined;
}

function challenge(service: Service, { wallet, origin }: Asked): Promise<Reply> {
  const headers: Record<string, string> = origin === undefined ? {} : { origin };
  return send(service, "POST /voting/challenges", { json: { wallet }, headers });
}

function open(
  service: Service,
  wallet: SigningWallet,
  asked: { readonly body: { readonly id: string; readonly message: string } },
  origin?: string,
): Promise<Reply> {
  const json = { challengeId: asked.body.id, ...signChallenge(wallet, asked.body.message) };
  const headers: Record<string, string> = origin === undefined ? {} : { origin };
  return send(service, "POST /voting/sessions", { json, headers });
}

test("201: a session names its token, its wallet and its end, 24 hours from now", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const asked = await challenge(service, { wallet: wallet.id });
  const [before] = await service.sql<{ now: number }[]>`select now_ms() as now`;
  const { body } = await open(service, wallet, asked);
  const [after] = await service.sql<{ now: number }[]>`select now_ms() as now`;
  assert.deepEqual(Object.keys(body).sort(), ["expiresAt", "token", "wallet"]);
  const opened = Date.parse(body.expiresAt) - 86_400_000;
  // The service's clock follows that of the database by a few milliseconds.
  assert.ok(opened > (before?.now ?? 0) - 1_000 && opened < (after?.now ?? 0) + 1_000);
});

test("an expired session is refused by every operation that needs one", async ({ service }) => {
  const token = await signIn(service, await newWallet(service));
  const star = { target: { type: "token", id: "0.0.9001" } };
  await service.sql`update session set expires_at = now_ms()`;
  for (const line of [
    "GET /voting/allowance",
    "GET /voting/preview?type=token&id=0.0.9001",
    "GET /voting/stars",
    "POST /voting/stars",
    "DELETE /voting/sessions/current",
    "DELETE /voting/sessions",
  ]) {
    const json = line.startsWith("POST") ? { json: star } : {};
    const reply = await send(service, line, { token, ...json });
    assert.deepEqual([reply.status, reply.body?.code], [401, "INVALID_SESSION"], line);
  }
});

test("pages of listed origins alone may read replies, and none sends cookies along", async ({
  service,
}) => {
  for (const [origin, allowed] of [
    [APP, APP],
    [OTHER, OTHER],
    ["https://evil.example", null],
    ["null", null],
  ] as const) {
    const headers = { origin };
    for (const reply of [
      await send(service, "GET /voting/stars/none", { headers }),
      await send(service, "OPTIONS /voting/stars", {
        headers: { ...headers, "access-control-request-method": "POST" },
      }),
    ]) {
      assert.equal(reply.headers.get("access-control-allow-origin"), allowed, origin);
      assert.equal(reply.headers.get("access-control-allow-credentials"), null);
    }
  }
});

test("DELETE /voting/sessions ends all of the wallet's, and no other's", async ({ service }) => {
  const [mine, other] = [await newWallet(service), await newWallet(service)];
  const tokens = [await signIn(service, mine), await signIn(service, mine)];
  const stays = await signIn(service, other);
  const ended = await send(service, "DELETE /voting/sessions", { token: tokens[0] ?? "" });
  assert.equal(ended.status, 204, ended.text);
  for (const token of tokens) assert.equal(await status(service, token), 401);
  assert.equal(await status(service, stays), 200);
  const again = await send(service, "DELETE /voting/sessions", { token: tokens[0] ?? "" });
  assert.equal(again.body.code, "INVALID_SESSION");
});

test("a wallet has twenty sessions at most: the oldest goes, also of many at once", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const first = await signIn(service, wallet);
  const second = await signIn(service, wallet);
  await service.sql`update session set created_at = created_at - 1000
    where wallet = ${Number(wallet.id.slice(4))} and created_at = (
      select min(created_at) from session where wallet = ${Number(wallet.id.slice(4))})`;
  const late = await Promise.all(Array.from({ length: 19 }, () => signIn(service, wallet)));
  assert.equal(await status(service, first), 401);
  for (const token of [second, ...late]) assert.equal(await status(service, token), 200);
});

test("after the database's clock was set back a new session is none of the oldest", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const before = [];
  for (let count = 0; count < 20; count += 1) before.push(await signIn(service, wallet));
  await service.sql`update session set created_at = created_at + 36000000, expires_at = expires_at + 36000000
    where wallet = ${Number(wallet.id.slice(4))}`;
  const late = [await signIn(service, wallet), await signIn(service, wallet)];
  for (const token of late) assert.equal(await status(service, token), 200);
  const [first = "", second = "", ...others] = before;
  for (const token of [first, second]) assert.equal(await status(service, token), 401);
  for (const token of others) assert.equal(await status(service, token), 200);
});

test("a rotated key ends the sessions of the old one as soon as the account is read again", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const stolen = await signIn(service, wallet);
  const next = newKey("ed25519");
  await service.hedera.ledger.rotateAccountKey(wallet.id, next.publicKey);
  assert.equal(await status(service, stolen), 200, "nothing was read yet");
  const owner = await signIn(service, { ...wallet, key: next.key });
  assert.equal(await status(service, stolen), 401);
  assert.equal(await status(service, owner), 200);
  const thief = await open(service, wallet, await challenge(service, { wallet: wallet.id }));
  assert.equal(thief.status, 401, "the old key opens none");
  assert.equal(await status(service, owner), 200, "and its try ends none of the new key");
});

test("a deleted account's sessions end when it is read again", async ({ service }) => {
  const wallet = await newWallet(service);
  const token = await signIn(service, wallet);
  await service.hedera.ledger.deleteAccount(wallet.id);
  const refused = await open(service, wallet, await challenge(service, { wallet: wallet.id }));
  assert.equal(refused.body.code, "UNSUPPORTED_KEY");
  assert.equal(await status(service, token), 401);
});

test("starboard sessions revoke WALLET ends them and says how many; a malformed wallet is refused", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const tokens = [await signIn(service, wallet), await signIn(service, wallet)];
  const settings = { DATABASE_URL: service.databaseUrl };
  const revoked = await starboard(["sessions", "revoke", wallet.id, "--json"], settings);
  assert.equal(revoked.status, 0, revoked.stderr);
  assert.deepEqual(revoked.json(), { wallet: wallet.id, revoked: 2 });
  for (const token of tokens) assert.equal(await status(service, token), 401);
  const refused = await starboard(["sessions", "revoke", "0.0.x"], settings);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^[^\n]+\n$/);
  const lines = await service.sql`select phase, subject, details from operator_log order by id`;
  const subject = wallet.id;
  assert.deepEqual(
    [...lines],
    [
      { phase: "started", subject, details: {} },
      { phase: "done", subject, details: { revoked: 2 } },
    ],
  );
});

test("an EVM address is echoed in lower case and signed as it stands; the session has the account", async ({
  service,
}) => {
  const { publicKey, key } = newKey("ecdsa");
  const alias = "ab".repeat(20);
  const id = await service.hedera.ledger.createAccount({ key: publicKey, evmAddress: alias });
  const wallet: SigningWallet = { id, type: "ecdsa", key };
  const longZero = Number(id.slice(4)).toString(16).padStart(40, "0");
  for (const [given, echoed] of [
    [`0x${alias.toUpperCase()}`, `0x${alias}`],
    [`0x${longZero}`, `0x${longZero}`],
  ] as const) {
    const asked = await challenge(service, { wallet: given });
    assert.equal(asked.status, 201, asked.text);
    assert.equal(asked.body.wallet, echoed);
    assert.equal(asked.body.message.split("\n")[1], echoed);
    const opened = await open(service, wallet, asked);
    assert.equal(opened.status, 201, opened.text);
    assert.equal(opened.body.wallet, id);
    const { body } = await send(service, "GET /voting/allowance", { token: opened.body.token });
    assert.equal(body.wallet, id, "one account is one voter");
  }
});

test("an EVM address without an account, and one of a contract, are refused at the session", async ({
  service,
}) => {
  const wallet = await newWallet(service, { type: "ecdsa" });
  const unknown = await challenge(service, { wallet: `0x${"cd".repeat(20)}` });
  assert.equal(unknown.status, 201);
  assert.equal((await open(service, wallet, unknown)).body.code, "UNKNOWN_WALLET");
  const contract = "ef".repeat(20);
  const { publicKey } = newKey("ecdsa");
  const made = { key: publicKey, evmAddress: contract, isContract: true };
  await service.hedera.ledger.createAccount(made);
  const asked = await challenge(service, { wallet: `0x${contract}` });
  assert.equal((await open(service, wallet, asked)).body.code, "UNSUPPORTED_KEY");
});

test("the text names the site of an allowed Origin, else that of PUBLIC_URL", async ({
  service,
}) => {
  const { id } = await newWallet(service);
  for (const [origin, domain, uri] of [
    [undefined, "stars.example", "https://stars.example/"],
    [APP, "app.example", `${APP}/`],
    [OTHER, "other.example:8443", `${OTHER}/`],
    ["https://evil.example", "stars.example", "https://stars.example/"],
    ["null", "stars.example", "https://stars.example/"],
    ["http://127.0.0.1:3000@evil.example", "stars.example", "https://stars.example/"],
  ] as const) {
    const { body } = await challenge(service, { wallet: id, origin });
    const lines: string[] = body.message.split("\n");
    assert.equal(lines[0], `${domain} wants you to sign in with your Hedera account:`);
    assert.ok(lines.includes(`URI: ${uri}`), body.message);
  }
});

test("an Origin that is longer than any is refused by name, and not stored", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const longest = `https://${"x".repeat(292)}`;
  const asked = await challenge(service, { wallet: wallet.id, origin: longest });
  assert.equal(asked.status, 201);
  for (const origin of [`${longest}x`, `https://${"x".repeat(15_000)}`]) {
    const refused = await challenge(service, { wallet: wallet.id, origin });
    const { code, field } = refused.body;
    assert.deepEqual([refused.status, code, field], [400, "INVALID_REQUEST", "Origin"]);
  }
  const [row] = await service.sql`select max(length(origin)) as longest from challenge`;
  assert.equal(row?.longest, 300);
  assert.equal((await open(service, wallet, asked, `${longest}x`)).body.field, "Origin");
  assert.equal((await open(service, wallet, asked, longest)).status, 201);
});

test("a session request with another Origin than its challenge's is refused, and spends nothing", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  for (const [asking, wrong, right] of [
    [APP, OTHER, APP],
    [APP, "null", undefined],
    [undefined, APP, "https://stars.example"],
    [undefined, "https://evil.example", undefined],
  ] as const) {
    const asked = await challenge(service, { wallet: wallet.id, origin: asking });
    const refused = await open(service, wallet, asked, wrong);
    assert.equal(refused.status, 400, refused.text);
    assert.equal(refused.body.field, "Origin");
    assert.equal((await open(service, wallet, asked, right)).status, 201);
  }
});

test.run();
