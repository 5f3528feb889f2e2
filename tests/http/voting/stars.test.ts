/**
 * Goal: what a voting client gets for a star is the contract's, section 3, to the letter.
 * Method: a web process on real parts, real signatures, plain HTTP.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import {
  cast,
  newWallet,
  type Reply,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";

const test = suite<{ service: Service; token: string; wallet: string }>("POST /voting/stars");

test.before(async (context) => {
  context.service = await startService();
});
test.after((context) => context.service.close());
test.before.each(async (context) => {
  const wallet = await newWallet(context.service, { a: 3, b: 1 });
  context.wallet = wallet.id;
  context.token = await signIn(context.service, wallet);
});

function isProblem(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.body.code, code);
  assert.equal(typeof reply.body.error, "string");
}

async function used({ service, token }: { service: Service; token: string }): Promise<number> {
  return (await send(service, "GET /voting/allowance", { token })).body.used;
}

test("201: a star on a token carries the full voting power and every field of the contract", async ({
  service,
  token,
  wallet,
}) => {
  const wakes = service.wakes();
  const { status, body } = await cast(service, token, "token/0.0.9001");
  assert.equal(status, 201);
  assert.deepEqual(Object.keys(body).sort(), ["allowance", "counter", "star"]);
  const { id, at, day, ...star } = body.star;
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(day, at.slice(0, 10));
  assert.deepEqual(star, {
    wallet,
    target: { type: "token", id: "0.0.9001" },
    votingPower: 9,
    weight: 9,
    breakdown: { base: 1, collectionA: 3, collectionB: 5 },
    holdings: { collectionA: 3, collectionB: 1 },
    publication: {
      state: "stored",
      topicId: null,
      transactionId: null,
      sequenceNumber: null,
      consensusTimestamp: null,
      runningHash: null,
    },
  });
  const { resetsAt, ...allowance } = body.allowance;
  assert.deepEqual(allowance, { limit: 5, used: 1, remaining: 4 });
  assert.equal(new Date(resetsAt).getTime() % 86_400_000, 0);
  assert.equal(body.counter.totalVotes, 9);
  assert.equal(service.wakes(), wakes + 1);
  const [row] = await service.sql`select message from outbox where star_id = ${id}`;
  assert.equal(
    row?.message,
    `{"type":"asset_vote","version":1,"wallet":"${wallet}","target_id":"0.0.9001","target_type":"token",` +
      `"vote":"up","voting_power":9,"holdings":{"alpha":3,"beta":1},"timestamp":${Date.parse(at)}}`,
  );
});

test("201: a star on an event adds each NFT once per event and day, and publishes no weight", async ({
  service,
  token,
  wallet,
}) => {
  const { status, body } = await cast(service, token, "event/hack");
  assert.equal(status, 201);
  assert.equal(body.star.weight, 9);
  const [row] = await service.sql`select message from outbox where star_id = ${body.star.id}`;
  assert.equal(
    row?.message,
    `{"type":"event_vote","version":1,"wallet":"${wallet}","event_id":"hack","event_type":"HACKATHON",` +
      `"vote":"up","timestamp":${Date.parse(body.star.at)}}`,
  );
});

test("201: a collection and a project are starred too; a project's ledger id stands in the message", async ({
  service,
  token,
}) => {
  assert.equal((await cast(service, token, "collection/0.0.8001")).status, 201);
  const { body } = await cast(service, token, "project/dex");
  const [row] =
    await service.sql`select message::json->>'target_id' as id from outbox where star_id = ${body.star.id}`;
  assert.equal(row?.id, "0.0.7001");
  const wiki = await cast(service, token, "project/wiki");
  const [other] =
    await service.sql`select message::json->>'target_id' as id from outbox where star_id = ${wiki.body.star.id}`;
  assert.equal(other?.id, "wiki");
});

test("201: 0, 1, 100, 101 and 230 NFTs are all counted", async ({ service }) => {
  for (const a of [0, 1, 100, 101, 230]) {
    const token = await signIn(service, await newWallet(service, { a }));
    assert.equal((await cast(service, token, "token/0.0.9002")).body.star.weight, 1 + a);
  }
});

test("201: an NFT sold a moment ago no longer counts", async ({ service }) => {
  const [seller, buyer] = [await newWallet(service, { a: 2 }), await newWallet(service)];
  const { hedera, collectionA } = service;
  const serials = await hedera.ledger.mint(collectionA, { count: 1, to: seller.id });
  await hedera.ledger.transfer(collectionA, serials, buyer.id);
  assert.equal(
    (await cast(service, await signIn(service, seller), "token/0.0.9003")).body.star.weight,
    3,
  );
  assert.equal(
    (await cast(service, await signIn(service, buyer), "token/0.0.9003")).body.star.weight,
    2,
  );
});

test("401 MISSING_SESSION: no session, another scheme, an empty bearer, a tab in place of a space", async ({
  service,
}) => {
  const none = "a".repeat(43);
  for (const [headers, code] of [
    [{}, "MISSING_SESSION"],
    [{ authorization: "Basic abc" }, "MISSING_SESSION"],
    [{ authorization: "Bearer" }, "MISSING_SESSION"],
    [{ authorization: `Bearer\t${none}` }, "MISSING_SESSION"],
    [{ authorization: `bearer  ${none}` }, "INVALID_SESSION"],
    [{ authorization: `Bearer ${none} x` }, "INVALID_SESSION"],
  ] as const) {
    const reply = await send(service, "POST /voting/stars", {
      json: { target: { type: "token", id: "0.0.9001" } },
      headers,
    });
    isProblem(reply, 401, code);
    assert.equal(reply.headers.get("www-authenticate"), "Bearer");
  }
});

test("401 INVALID_SESSION: an unknown token, a malformed one, an expired one, a revoked one", async ({
  service,
  token,
}) => {
  isProblem(await cast(service, "a".repeat(43), "token/0.0.9001"), 401, "INVALID_SESSION");
  isProblem(await cast(service, "x", "token/0.0.9001"), 401, "INVALID_SESSION");
  assert.equal((await send(service, "DELETE /voting/sessions/current", { token })).status, 204);
  isProblem(await cast(service, token, "token/0.0.9001"), 401, "INVALID_SESSION");
  const wallet = await newWallet(service);
  const other = await signIn(service, wallet);
  await service.sql`update session set expires_at = now_ms() where wallet = ${Number(wallet.id.slice(4))}`;
  isProblem(await cast(service, other, "token/0.0.9001"), 401, "INVALID_SESSION");
});

test("the session is looked at before the body, also one that is over", async ({
  service,
  token,
}) => {
  assert.equal((await send(service, "DELETE /voting/sessions/current", { token })).status, 204);
  const headers = { "content-type": "application/json" };
  for (const request of [
    { body: "rubbish", headers: { "content-type": "text/plain" } },
    { body: "{", headers },
    { body: " ".repeat(5_000), headers },
    { json: { target: { type: "token", id: "0.0.09001" } } },
    { json: { target: { type: "token", id: "0.0.1" } }, headers: { "idempotency-key": "" } },
  ]) {
    isProblem(await send(service, "POST /voting/stars", request), 401, "MISSING_SESSION");
    const over = await send(service, "POST /voting/stars", { token, ...request });
    isProblem(over, 401, "INVALID_SESSION");
  }
});

const malformed: readonly (readonly [string, unknown, string | null])[] = [
  ["no target", {}, "target"],
  ["a target that is text", { target: "token/0.0.9001" }, "target"],
  ["an unknown type", { target: { type: "wallet", id: "0.0.1" } }, "target.type"],
  ["a type in other case", { target: { type: "Token", id: "0.0.9001" } }, "target.type"],
  ["no id", { target: { type: "token" } }, "target.id"],
  ["an id that is a number", { target: { type: "token", id: 9001 } }, "target.id"],
  ["a token id in another spelling", { target: { type: "token", id: "0.0.09001" } }, "target.id"],
  ["a token id of 13 digits", { target: { type: "token", id: "0.0.1234567890123" } }, "target.id"],
  ["an event id with a slash", { target: { type: "event", id: "a/b" } }, "target.id"],
  ["an event id of 65 characters", { target: { type: "event", id: "a".repeat(65) } }, "target.id"],
  ["an empty event id", { target: { type: "event", id: "" } }, "target.id"],
  ["an unknown field", { target: { type: "token", id: "0.0.9001" }, weight: 99 }, "weight"],
  ["a wallet of its own", { target: { type: "token", id: "0.0.9001" }, wallet: "0.0.2" }, "wallet"],
  ["an unknown field inside", { target: { type: "token", id: "0.0.9001", up: 2 } }, "target.up"],
  ["a list", [], null],
];
for (const [name, json, field] of malformed) {
  test(`400 INVALID_REQUEST names the field: ${name}`, async ({ service, token }) => {
    const reply = await send(service, "POST /voting/stars", { token, json });
    isProblem(reply, 400, "INVALID_REQUEST");
    assert.equal(reply.body.field, field);
    assert.equal(await used({ service, token }), 0);
  });
}

test("400 INVALID_REQUEST: bytes that are no JSON, and an invalid Idempotency-Key", async ({
  service,
  token,
}) => {
  const headers = { "content-type": "application/json" };
  for (const body of [
    "{",
    "",
    "\u0000",
    "nul",
    '{"target":'.repeat(50),
    Buffer.from([0xff, 0xfe]),
  ]) {
    isProblem(
      await send(service, "POST /voting/stars", { token, body, headers }),
      400,
      "INVALID_REQUEST",
    );
  }
  for (const key of ["k".repeat(256), "", "a\tb", "\u00e9"]) {
    const reply = await cast(service, token, "token/0.0.9001", { "idempotency-key": key });
    isProblem(reply, 400, "INVALID_REQUEST");
    assert.equal(reply.body.field, "Idempotency-Key");
  }
  const longest = { "idempotency-key": "! ~".padEnd(255, "~") };
  assert.equal((await cast(service, token, "token/0.0.9001", longest)).status, 201);
});

test("413 PAYLOAD_TOO_LARGE: over 4 KiB, announced or chunked", async ({ service, token }) => {
  const large = JSON.stringify({ target: { type: "token", id: "0".repeat(5_000) } });
  const headers = { "content-type": "application/json" };
  isProblem(
    await send(service, "POST /voting/stars", { token, body: large, headers }),
    413,
    "PAYLOAD_TOO_LARGE",
  );
  const chunked = new Blob([large]).stream();
  isProblem(
    await send(service, "POST /voting/stars", { token, body: chunked, headers }),
    413,
    "PAYLOAD_TOO_LARGE",
  );
});

test("415 UNSUPPORTED_MEDIA_TYPE: not JSON, or compressed", async ({ service, token }) => {
  const body = '{"target":{"type":"token","id":"0.0.9001"}}';
  for (const headers of [
    { "content-type": "text/plain" },
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "application/json", "content-encoding": "gzip" },
  ]) {
    isProblem(
      await send(service, "POST /voting/stars", { token, body, headers }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    );
  }
});

test("404 NOT_FOUND: unknown and unapproved targets", async ({ service, token }) => {
  for (const target of [
    "token/0.0.1",
    "event/nowhere",
    "event/hidden",
    "project/none",
    "collection/0.0.9001",
  ]) {
    isProblem(await cast(service, token, target), 404, "NOT_FOUND");
  }
  assert.equal(await used({ service, token }), 0);
});

test("409 ALREADY_STARRED names the first star and the reset", async ({ service, token }) => {
  const first = await cast(service, token, "token/0.0.9004");
  const again = await cast(service, token, "token/0.0.9004");
  isProblem(again, 409, "ALREADY_STARRED");
  assert.equal(again.body.starId, first.body.star.id);
  assert.equal(again.body.resetsAt, first.body.allowance.resetsAt);
  assert.equal(await used({ service, token }), 1);
});

test("429 ALLOWANCE_EXHAUSTED after five stars, with the seconds to 00:00 UTC", async ({
  service,
  token,
}) => {
  for (let n = 1; n <= 5; n += 1)
    assert.equal((await cast(service, token, `token/0.0.${9010 + n}`)).status, 201);
  const asked = Date.now();
  const sixth = await cast(service, token, "token/0.0.9016");
  const answered = Date.now();
  isProblem(sixth, 429, "ALLOWANCE_EXHAUSTED");
  assert.deepEqual([sixth.body.limit, sixth.body.used], [5, 5]);
  const resetsAt = Date.parse(sixth.body.resetsAt);
  const said = resetsAt - Number(sixth.headers.get("retry-after")) * 1_000;
  assert.ok(said > asked - 1_500 && said < answered + 1_500, `${said - asked} ms`);
  isProblem(await cast(service, token, "token/0.0.9011"), 409, "ALREADY_STARRED");
  isProblem(await cast(service, token, "token/0.0.1"), 404, "NOT_FOUND");
});

test("the same Idempotency-Key gives the first reply again, byte for byte", async ({
  service,
  token,
}) => {
  const key = { "idempotency-key": "once & only" };
  const first = await cast(service, token, "token/0.0.9005", key);
  const second = await cast(service, token, "token/0.0.9005", key);
  assert.equal(first.status, 201);
  assert.equal(first.headers.get("idempotent-replayed"), null);
  assert.equal(second.status, 201);
  assert.equal(second.headers.get("idempotent-replayed"), "true");
  assert.equal(second.text, first.text);
  assert.equal(await used({ service, token }), 1);
});

test("422 IDEMPOTENCY_KEY_REUSED: another body under the same key", async ({ service, token }) => {
  const key = { "idempotency-key": "k" };
  await cast(service, token, "token/0.0.9006", key);
  isProblem(await cast(service, token, "token/0.0.9007", key), 422, "IDEMPOTENCY_KEY_REUSED");
});

test("the key is looked at after session and body, and before target and repeat", async ({
  service,
  token,
}) => {
  const key = { "idempotency-key": "in order" };
  const first = await cast(service, token, "token/0.0.9009", key);
  isProblem(await cast(service, token, "token/0.0.1", key), 422, "IDEMPOTENCY_KEY_REUSED");
  isProblem(await cast(service, token, "token/0.0.09", key), 400, "INVALID_REQUEST");
  await service.sql`update token set approved_at = null where id = '0.0.9009'`;
  const again = await cast(service, token, "token/0.0.9009", key);
  const other = await cast(service, token, "token/0.0.9009", { "idempotency-key": "another" });
  await service.sql`update token set approved_at = 0 where id = '0.0.9009'`;
  assert.deepEqual([again.status, again.text], [201, first.text]);
  isProblem(other, 404, "NOT_FOUND");
  assert.equal((await send(service, "DELETE /voting/sessions/current", { token })).status, 204);
  isProblem(await cast(service, token, "token/0.0.9009", key), 401, "INVALID_SESSION");
});

test("an Idempotency-Key is its wallet's, in each of its sessions, and no refusal binds it", async ({
  service,
}) => {
  const key = { "idempotency-key": "of one wallet" };
  const wallet = await newWallet(service);
  const token = await signIn(service, wallet);
  const taken = await cast(service, token, "token/0.0.9030");
  isProblem(await cast(service, token, "token/0.0.1", key), 404, "NOT_FOUND");
  isProblem(await cast(service, token, "token/0.0.9030", key), 409, "ALREADY_STARRED");
  const first = await cast(service, token, "token/0.0.9031", key);
  assert.deepEqual([taken.status, first.status], [201, 201]);
  const elsewhere = await signIn(service, wallet);
  const again = await cast(service, elsewhere, "token/0.0.9031", key);
  assert.deepEqual([again.status, again.text], [201, first.text]);
  isProblem(await cast(service, elsewhere, "token/0.0.9030", key), 422, "IDEMPOTENCY_KEY_REUSED");
  const other = await cast(
    service,
    await signIn(service, await newWallet(service)),
    "token/0.0.9030",
    key,
  );
  assert.equal(other.status, 201);
  assert.equal(other.headers.get("idempotent-replayed"), null);
  assert.equal(await used({ service, token }), 2);
});

test("twenty concurrent twins get one star", async ({ service, token }) => {
  const key = { "idempotency-key": "twins" };
  // A busy machine may have no time for all of them: a client asks again by the same key.
  const twin = async (): Promise<Reply> => {
    const reply = await cast(service, token, "event/mint", key);
    return reply.status === 503 ? twin() : reply;
  };
  const replies = await Promise.all(Array.from({ length: 20 }, twin));
  assert.ok(replies.every(({ status }) => status === 201));
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
  assert.equal(await used({ service, token }), 1);
});

test("GET /voting/stars/{id} needs no session; malformed ids are named, unknown ones not found", async ({
  service,
  token,
}) => {
  const { body } = await cast(service, token, "token/0.0.9008");
  const seen = await send(service, `GET /voting/stars/${body.star.id}`);
  assert.equal(seen.status, 200);
  assert.deepEqual(seen.body, body.star);
  const malformedId = await send(service, "GET /voting/stars/nonsense");
  isProblem(malformedId, 400, "INVALID_REQUEST");
  assert.equal(malformedId.body.field, "id");
  for (const id of [
    "01a1f872-e21d-7287-b609-0ad3bc6328f8",
    "00000000-0000-4000-8000-000000000000",
  ]) {
    isProblem(await send(service, `GET /voting/stars/${id}`), 404, "NOT_FOUND");
  }
});

test("GET /voting/stars lists the wallet's stars of a day, newest first", async ({
  service,
  token,
}) => {
  const first = await cast(service, token, "token/0.0.9020");
  const second = await cast(service, token, "token/0.0.9021");
  const { day } = first.body.star;
  const { body } = await send(service, `GET /voting/stars?day=${day}`, { token });
  assert.deepEqual(
    body.stars.map(({ id }: { id: string }) => id),
    [second.body.star.id, first.body.star.id],
  );
  const today = await send(service, "GET /voting/stars", { token });
  assert.deepEqual(today.body, body, "today's where no day is named");
  assert.deepEqual(
    (await send(service, "GET /voting/stars?day=2020-01-01", { token })).body.stars,
    [],
  );
  for (const bad of ["2026-13-01", "2026-02-30", "today", "", "2026-11-20&day=2026-11-21"]) {
    isProblem(
      await send(service, `GET /voting/stars?day=${bad}`, { token }),
      400,
      "INVALID_REQUEST",
    );
  }
});

test("GET /voting/allowance and /voting/preview show what a star would carry, and spend nothing", async ({
  service,
  token,
  wallet,
}) => {
  const { body: allowance } = await send(service, "GET /voting/allowance", { token });
  assert.deepEqual(Object.keys(allowance), [
    "wallet",
    "day",
    "premium",
    "limit",
    "used",
    "remaining",
    "resetsAt",
  ]);
  assert.deepEqual([allowance.wallet, allowance.premium, allowance.used], [wallet, false, 0]);
  const { body: preview } = await send(service, "GET /voting/preview?type=event&id=meetup", {
    token,
  });
  assert.deepEqual(
    [preview.votingPower, preview.weight, preview.alreadyStarred, preview.lastStarredDay],
    [9, 9, false, null],
  );
  const { body } = await cast(service, token, "event/meetup");
  assert.equal(body.star.weight, preview.weight);
  const after = (await send(service, "GET /voting/preview?type=event&id=meetup", { token })).body;
  assert.deepEqual(
    [after.weight, after.alreadyStarred, after.lastStarredDay],
    [1, true, body.star.day],
  );
  assert.equal(after.allowance.used, 1);
  isProblem(
    await send(service, "GET /voting/preview?type=token&id=0.0.1", { token }),
    404,
    "NOT_FOUND",
  );
  isProblem(
    await send(service, "GET /voting/preview?type=token", { token }),
    400,
    "INVALID_REQUEST",
  );
});

test.run();
