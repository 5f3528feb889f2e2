import * as assert from "node:assert/strict";
import { test } from "uvu";
import { testNetwork } from "./network.ts";

const clock = { ms: 1_800_000_000_000 };
const network = await testNetwork({ now: () => clock.ms });
const { get, hedera } = network;
const { ledger, mirror } = hedera;
const treasury = await ledger.createAccount({ key: null });
const holder = await ledger.createAccount({ key: null });
const token = await ledger.createCollection({ treasury, name: "A", symbol: "A" });
await ledger.mint(token, { count: 2, to: holder });

test.after(() => network.close());
test.after.each(() => mirror.faults.heal());

const path = `/accounts/${holder}/nfts?token.id=${token}&limit=1`;
const url = `${hedera.mirrorUrl}/api/v1${path}`;

async function serials(): Promise<number[]> {
  const { body } = await get(path.replace("&limit=1", ""));
  return body.nfts.map((nft: { serial_number: number }) => nft.serial_number);
}

test("lag: what is younger than that is not visible yet, in any list or record", async () => {
  clock.ms += 10_000;
  await ledger.transfer(token, 2, treasury);
  const late = await ledger.createTopic({});
  await ledger.closeBlock();
  const newest = (await get("/blocks?limit=1")).body.blocks[0];
  mirror.faults.inject({ kind: "lag", ms: 5_000 });
  assert.deepEqual(await serials(), [2, 1]);
  assert.equal((await get(`/topics/${late}`)).status, 404);
  assert.equal((await get(`/tokens/${token}/nfts/2`)).body.account_id, holder);
  assert.notDeepEqual((await get("/blocks?limit=1")).body.blocks[0], newest);
  clock.ms += 6_000;
  assert.deepEqual(await serials(), [1]);
  assert.equal((await get(`/topics/${late}`)).status, 200);
});

test("replica-flip: every second request sees the earlier state", async () => {
  const asOf = ledger.lastConsensus();
  await ledger.transfer(token, 2, holder);
  mirror.faults.inject({ kind: "replica-flip", asOf });
  assert.deepEqual(
    [await serials(), await serials(), await serials(), await serials()],
    [[2, 1], [1], [2, 1], [1]],
  );
});

test("late-start: creation and deletion of earlier entities are unknown", async () => {
  const nft = `/tokens/${token}/nfts/1`;
  const before = (await get(`${nft}/transactions`)).body.transactions.length;
  await ledger.transfer(token, 1, treasury);
  const young = await ledger.createAccount({ key: null });
  const since = (await get(`${nft}/transactions?limit=1`)).body.transactions[0];
  mirror.faults.inject({ kind: "late-start", since: since.consensus_timestamp });
  for (const path of [`/accounts/${holder}?transactions=false`, `/tokens/${token}`]) {
    const { body } = await get(path);
    assert.deepEqual([body.deleted, body.created_timestamp], [null, null], path);
  }
  const known = (await get(`/accounts/${young}?transactions=false`)).body;
  assert.equal(known.deleted, false);
  assert.equal((await get(nft)).body.created_timestamp, null);
  const { status, body } = await get(`${nft}/transactions`);
  assert.deepEqual([status, body.transactions.length], [206, 1]);
  // The rows of a page do not tell: the mint may be on another.
  for (const page of ["limit=1", "limit=1&order=asc"]) {
    const { status, body } = await get(`${nft}/transactions?${page}`);
    assert.deepEqual([status, body.transactions], [206, [since]], page);
  }
  const all = await get("/transactions?order=asc&limit=100");
  assert.equal(all.status, 200);
  assert.ok(all.body.transactions[0].consensus_timestamp < since.consensus_timestamp);
  mirror.faults.heal();
  const whole = await get(`${nft}/transactions`);
  assert.deepEqual([whole.status, whole.body.transactions.length], [200, before + 1]);
});

test("fail: the status given, as the mirror's JSON or as a gateway's HTML", async () => {
  mirror.faults.inject({ kind: "fail", status: 503, times: 1 });
  const json = await fetch(url);
  assert.equal(json.status, 503);
  assert.ok(((await json.json()) as { _status: unknown })._status);
  mirror.faults.inject({ kind: "fail", status: 429, html: true, headers: { "retry-after": "7" } });
  const html = await fetch(url);
  assert.deepEqual([html.status, html.headers.get("retry-after")], [429, "7"]);
  assert.match(await html.text(), /<html>/);
});

test("a fault strikes only where its pattern matches: page two, say", async () => {
  mirror.faults.inject({ kind: "fail", status: 500, path: /serialnumber=lt/ });
  const first = await get(path);
  assert.equal(first.status, 200);
  assert.equal((await fetch(hedera.mirrorUrl + first.body.links.next)).status, 500);
});

test("hang: no answer comes, and closing the server still ends the request", async () => {
  const heal = mirror.faults.inject({ kind: "hang" });
  await assert.rejects(fetch(url, { signal: AbortSignal.timeout(100) }), { name: "TimeoutError" });
  heal();
  assert.equal((await fetch(url)).status, 200);
});

test("garbage: 200 and JSON that breaks off, or whatever is given", async () => {
  const heal = mirror.faults.inject({ kind: "garbage" });
  await assert.rejects(async () => (await fetch(url)).json(), SyntaxError);
  heal();
  mirror.faults.inject({ kind: "garbage", body: "[]" });
  assert.deepEqual(await (await fetch(url)).json(), []);
});

test("foreign-next: the link points to the address given", async () => {
  mirror.faults.inject({ kind: "foreign-next", url: "http://evil.example/api/v1/x" });
  const { body, headers } = await get(path);
  assert.equal(body.links.next, "http://evil.example/api/v1/x");
  assert.equal(headers.get("link"), '<http://evil.example/api/v1/x>; rel="next"');
});

test.run();
