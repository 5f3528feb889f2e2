import * as assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "uvu";
import { ed25519Key } from "../../../src/local/hedera/keys.ts";
import { keyList, thresholdKey } from "../../support/key-lists.ts";
import { type Body, testNetwork } from "./network.ts";
import { violations } from "./openapi.ts";

const network = await testNetwork();
const { get, hedera, operator } = network;
const { ledger } = hedera;
const treasury = await ledger.createAccount({ key: null });
const holder = await ledger.createAccount({ key: null });
const tokenA = await ledger.createCollection({ treasury, name: "A", symbol: "A" });
const tokenB = await ledger.createCollection({ treasury, name: "B", symbol: "B" });
await ledger.mint(tokenA, { count: 230, to: holder });
await ledger.mint(tokenB, { count: 3, to: holder });
const topic = await ledger.createTopic({
  memo: "with fees",
  submitKey: ed25519Key(operator.publicKey),
  customFees: [{ amount: 5, collector: 1001, token: null }],
});

test.after(() => network.close());

/** Every row of a list, following `links.next` as it is given; and how many pages that took. */
async function walk(path: string, name: string): Promise<{ rows: Body[]; sizes: number[] }> {
  const rows: Body[] = [];
  const sizes: number[] = [];
  for (let next: string | null = path; next !== null; ) {
    const { body } = await get(next.replace("/api/v1", ""));
    rows.push(...body[name]);
    sizes.push(body[name].length);
    next = body.links.next;
  }
  return { rows, sizes };
}

async function messagesOf(path: string): Promise<string[]> {
  const { status, body } = await get(path);
  assert.equal(status, 400, path);
  return body._status.messages.map(({ message }: { message: string }) => message);
}

test("230 NFTs are three pages, each serial once", async () => {
  const { rows, sizes } = await walk(
    `/accounts/${holder}/nfts?token.id=${tokenA}&limit=100`,
    "nfts",
  );
  assert.deepEqual(sizes, [100, 100, 30]);
  const serials = rows.map((row) => row.serial_number);
  assert.deepEqual(
    serials,
    [...serials].sort((a, b) => b - a),
  );
  assert.equal(new Set(serials).size, 230);
});

test("a limit above 100 is clamped, and the given one repeated in the link", async () => {
  const { body } = await get(`/accounts/${holder}/nfts?token.id=${tokenA}&limit=1000`);
  assert.equal(body.nfts.length, 100);
  assert.match(body.links.next, /limit=1000&serialnumber=lt:131$/);
});

test("an exactly full last page has a link to an empty one", async () => {
  const path = `/accounts/${holder}/nfts?token.id=${tokenB}&limit=3`;
  const { sizes } = await walk(path, "nfts");
  assert.deepEqual(sizes, [3, 0]);
});

test("a walk over two collections crosses from one to the other without loss", async () => {
  for (const order of ["asc", "desc"]) {
    const { rows } = await walk(`/accounts/${holder}/nfts?limit=7&order=${order}`, "nfts");
    const keys = rows.map((row) => `${row.token_id}/${row.serial_number}`);
    assert.equal(keys.length, 233);
    assert.equal(new Set(keys).size, 233);
  }
});

test("serials are bounded only where a collection says whose they are", async () => {
  const list = (query: string) => messagesOf(`/accounts/${holder}/nfts?${query}`);
  assert.deepEqual(await list("serialnumber=1"), [
    "serialnumber without a token.id parameter filter",
  ]);
  assert.deepEqual(await list(`token.id=gt:${tokenA}&serialnumber=gt:1`), [
    "token.id must have gte or eq operator",
  ]);
  assert.deepEqual(await list(`token.id=lt:${tokenA}&serialnumber=lt:1`), [
    "token.id must have lte or eq operator",
  ]);
  assert.deepEqual(await list(`token.id=${tokenA}&token.id=gt:${tokenA}`), [
    "Can't support both range and equal for token.id",
  ]);
  assert.deepEqual(await list(`token.id=ne:${tokenA}`), [
    "Not equal (ne) operator is not supported for token.id",
  ]);
});

test("a range of serials that a page uses up has no next one", async () => {
  const range = "serialnumber=gte:11&serialnumber=lt:111";
  const path = `/accounts/${holder}/nfts?token.id=${tokenA}&limit=100&${range}`;
  assert.deepEqual((await walk(path, "nfts")).sizes, [100]);
});

test("of several collections the serials of the first and the last alone are bounded", async () => {
  const span = `token.id=gte:${tokenA}&token.id=lte:${tokenB}`;
  const list = async (query: string): Promise<string[]> => {
    const { rows } = await walk(`/accounts/${holder}/nfts?${span}&${query}`, "nfts");
    return rows.map((row) => `${row.token_id === tokenA ? "A" : "B"}${row.serial_number}`);
  };
  const range = "serialnumber=gt:227&serialnumber=lt:3";
  const expected = ["A228", "A229", "A230", "B1", "B2"];
  for (const limit of [1, 2, 25]) {
    assert.deepEqual(await list(`${range}&limit=${limit}&order=asc`), expected);
    assert.deepEqual(await list(`${range}&limit=${limit}`), expected.toReversed());
    assert.deepEqual(await list(`serialnumber=2&limit=${limit}`), ["B2", "A2"]);
  }
});

test("every bad parameter is named, in the order they came", async () => {
  assert.deepEqual(await messagesOf("/topics/0.0.1/messages?foo=1&limit=x&timestamp=y&order=up"), [
    "Unknown query parameter: foo",
    "Invalid parameter: limit",
    "Invalid parameter: timestamp",
    "Invalid parameter: order",
  ]);
  assert.deepEqual(await messagesOf("/tokens/abc"), ["Invalid parameter: tokenid"]);
  assert.deepEqual(await messagesOf(`/tokens/${tokenA}/nfts/0`), [
    "Invalid parameter: serialnumber",
  ]);
  assert.deepEqual(await messagesOf("/topics/messages/yesterday"), [
    "Invalid parameter: timestamp",
  ]);
  assert.deepEqual(await messagesOf("/accounts/0.0.1?__proto__=1"), [
    "Unknown query parameter: __proto__",
  ]);
});

test("a parameter may be repeated a hundred times, not more", async () => {
  const repeated = (count: number) =>
    `/topics/${topic}/messages?${Array(count).fill("sequencenumber=gt:1").join("&")}`;
  assert.equal((await get(repeated(100))).status, 200);
  assert.equal((await get(repeated(101))).status, 400);
});

test("an alias or EVM address without an account is 404, a number without one holds nothing", async () => {
  assert.equal((await get(`/accounts/0x${"ab".repeat(20)}/nfts`)).status, 404);
  assert.equal(
    (await get("/accounts/CIQAAAH4AY2OFK2FL37TSPYEQGPPUJRP4XTKWHD62HKPQX543DTOFFQ/nfts")).status,
    404,
  );
  assert.deepEqual((await get("/accounts/0.0.424242/nfts")).body, {
    nfts: [],
    links: { next: null },
  });
});

test("other methods and unknown routes are 404, never 405, and are not cached", async () => {
  const post = await fetch(`${hedera.mirrorUrl}/api/v1/accounts/${holder}`, { method: "POST" });
  assert.equal(post.status, 404);
  assert.equal(post.headers.get("cache-control"), null);
  assert.equal((await fetch(hedera.mirrorUrl)).status, 404);
});

test("int64 values are plain numbers in the JSON, beyond 2^53 too", async () => {
  const rich = await ledger.createAccount({ key: null, balance: 9_007_199_254_740_993n });
  const text = await (await fetch(`${hedera.mirrorUrl}/api/v1/accounts/${rich}`)).text();
  assert.ok(text.includes('"balance":9007199254740993,'), text);
});

test("the NFTs of a collection are listed by holder, and by a range of holders", async () => {
  const list = async (query: string): Promise<number[]> =>
    (await get(`/tokens/${tokenB}/nfts?${query}`)).body.nfts.map((row: Body) => row.serial_number);
  const later = await ledger.createAccount({ key: null });
  await ledger.mint(tokenB, { count: 1, to: later });
  assert.deepEqual(await list(`account.id=${holder}`), [3, 2, 1]);
  assert.deepEqual(await list(`account.id=gt:${holder}`), [4]);
  assert.deepEqual(await list(`account.id=gte:${holder}&account.id=lt:${later}`), [3, 2, 1]);
  assert.deepEqual(await list(`account.id=lt:${holder}`), []);
  await ledger.wipe(tokenB, 4);
  assert.deepEqual(await list(`account.id=gt:${holder}`), []);
  assert.deepEqual(await list(""), [4, 3, 2, 1]);
});

test("answers may be cached as long as the real one's configuration says", async () => {
  await ledger.closeBlock();
  const { transactions } = (await get("/transactions?limit=1")).body;
  const ages = {
    [`/accounts/${holder}`]: 2,
    [`/accounts/${holder}/nfts`]: 1,
    [`/tokens/${tokenA}`]: 5,
    [`/tokens/${tokenA}/nfts/1`]: 1,
    "/blocks": 1,
    "/transactions": 2,
    [`/transactions/${transactions[0].transaction_id}`]: 600,
  };
  for (const [path, seconds] of Object.entries(ages)) {
    const { headers } = await get(path);
    assert.equal(headers.get("cache-control"), `public, max-age=${seconds}`, path);
  }
});

test("a contract is at /contracts and among the accounts; an account is no contract", async () => {
  const contract = await ledger.createAccount({ key: null, isContract: true, memo: "c" });
  const { status, body } = await get(`/contracts/${contract}`);
  assert.deepEqual([status, body.contract_id, body.memo], [200, contract, "c"]);
  assert.deepEqual(violations(`/api/v1/contracts/${contract}`, status, body), []);
  assert.equal((await get(`/accounts/${contract}`)).body.account, contract);
  assert.equal((await get(`/contracts/${holder}`)).status, 404);
  assert.deepEqual(await messagesOf("/contracts/abc"), ["Invalid parameter: contractid"]);
});

test("a key list of one key, and a threshold of one of one, are shown as the plain key", async () => {
  const plain = ed25519Key(operator.publicKey);
  const shown = { _type: "ED25519", key: operator.publicKey.toString("hex") };
  for (const key of [plain, keyList([plain]), thresholdKey(1, [plain])]) {
    const id = await ledger.createAccount({ key });
    assert.deepEqual((await get(`/accounts/${id}`)).body.key, shown);
  }
});

test("a HEAD request has the headers of the GET", async () => {
  const status = await new Promise((resolve, reject) => {
    const url = `${hedera.mirrorUrl}/api/v1/topics/${topic}/messages`;
    httpRequest(url, { method: "HEAD" }, (answer) => resolve(answer.statusCode))
      .on("error", reject)
      .end();
  });
  assert.equal(status, 200);
});

test("every endpoint keeps to the mirror node's own OpenAPI document", async () => {
  await ledger.transfer(tokenA, 1, treasury);
  await ledger.closeBlock();
  const [transaction] = (await get("/transactions")).body.transactions;
  const paths = [
    `/accounts/${holder}`,
    `/accounts/${operator.id}?transactions=false`,
    `/accounts/${holder}/nfts`,
    "/accounts/0.0.424242",
    "/accounts/x!",
    "/blocks",
    `/tokens/${tokenA}`,
    `/tokens/${tokenA}/nfts`,
    `/tokens/${tokenA}/nfts/1`,
    `/tokens/${tokenA}/nfts/1/transactions`,
    `/topics/${topic}`,
    "/topics/0.0.424242",
    `/topics/${topic}/messages`,
    "/transactions?limit=100",
    `/transactions/${transaction.transaction_id}`,
  ];
  for (const path of paths) {
    const { status, body } = await get(path);
    const found = violations(`/api/v1${path}`, status, body);
    // Required by the document, not served by the version that was recorded.
    assert.deepEqual(
      found.filter((line) => line !== ".delegation_address is missing"),
      [],
      path,
    );
  }
});

test("transactions are filtered by result, kind, time and payer", async () => {
  const list = async (query: string): Promise<Body[]> =>
    (await get(`/transactions?limit=100&${query}`)).body.transactions;
  const mints = await list("transactiontype=tokenmint");
  assert.ok(mints.length > 0 && mints.every((row) => row.name === "TOKENMINT"));
  assert.deepEqual(await list("result=fail"), []);
  const byTreasury = await list("account.id=0.0.2");
  assert.ok(byTreasury.length > 0);
  assert.ok(byTreasury.every((row) => row.transaction_id.startsWith("0.0.2-")));
  assert.deepEqual(await list(`account.id=${holder}`), []);
  const [newest, next] = await list("");
  assert.deepEqual(await list(`timestamp=gt:${next?.consensus_timestamp}`), [newest]);
});

test.run();
