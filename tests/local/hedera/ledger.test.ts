import * as assert from "node:assert/strict";
import { test } from "uvu";
import { ecdsaKey, ed25519Key } from "../../../src/local/hedera/keys.ts";
import { openLedger } from "../../../src/local/hedera/ledger.ts";
import { LedgerRefusal } from "../../../src/local/hedera/refusal.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { keyList, thresholdKey } from "../../support/key-lists.ts";
import { ledgerOperations } from "../../support/ledger-operations.ts";
import { until } from "../../support/processes.ts";
import { type Body, testNetwork } from "./network.ts";

const clock = { ms: 1_800_000_000_000 };
const folder = temporaryFolder("ledger");
const network = await testNetwork({ now: () => clock.ms });
const { get } = network;
const { ledger } = network.hedera;
const treasury = await ledger.createAccount({ key: null });

test.after(() => network.close());

function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof LedgerRefusal && error.code === code;
}

async function newCollection(): Promise<string> {
  return ledger.createCollection({ treasury, name: "Stars", symbol: "STAR" });
}

async function newAccount(): Promise<string> {
  return ledger.createAccount({ key: null });
}

async function serialsHeld(account: string, collection: string): Promise<number[]> {
  const { body } = await get(`/accounts/${account}/nfts?token.id=${collection}&limit=100`);
  return body.nfts.map((nft: { serial_number: number }) => nft.serial_number);
}

async function history(collection: string, serial: number): Promise<Body[]> {
  const { body } = await get(`/tokens/${collection}/nfts/${serial}/transactions`);
  return body.transactions;
}

test("NFTs are minted to the treasury, or on to whom they are for", async () => {
  const collection = await newCollection();
  const holder = await newAccount();
  assert.deepEqual(await ledger.mint(collection, { count: 2 }), [1, 2]);
  const serials = await ledger.mint(collection, { count: 12, to: holder });
  assert.equal(new Set(serials).size, 12);
  assert.deepEqual(await serialsHeld(treasury, collection), [2, 1]);
  assert.deepEqual(
    await serialsHeld(holder, collection),
    [...serials].sort((a, b) => b - a),
  );
  const { body } = await get(`/tokens/${collection}`);
  assert.deepEqual(
    [body.total_supply, body.treasury_account_id, body.deleted],
    ["14", treasury, false],
  );
});

test("a transfer moves an NFT, and its history has every hop", async () => {
  const collection = await newCollection();
  const [from, to] = [await newAccount(), await newAccount()];
  await ledger.mint(collection, { count: 1, to: from });
  await ledger.transfer(collection, 1, to);
  assert.deepEqual(await serialsHeld(from, collection), []);
  assert.deepEqual(await serialsHeld(to, collection), [1]);
  const hops = (await history(collection, 1)).map((hop) => [
    hop.type,
    hop.sender_account_id,
    hop.receiver_account_id,
  ]);
  assert.deepEqual(hops, [
    ["CRYPTOTRANSFER", from, to],
    ["CRYPTOTRANSFER", treasury, from],
    ["TOKENMINT", null, treasury],
  ]);
});

test("who held a serial at a time is the last hop up to it", async () => {
  const collection = await newCollection();
  const [from, to] = [await newAccount(), await newAccount()];
  await ledger.mint(collection, { count: 1, to: from });
  const then = ledger.lastConsensus();
  await ledger.transfer(collection, 1, to);
  const path = `/tokens/${collection}/nfts/1/transactions?timestamp=lte:${then}&limit=1`;
  const { body } = await get(path);
  assert.equal(body.transactions[0].receiver_account_id, from);
});

test("a burned NFT and a wiped one have no holder and are deleted", async () => {
  const collection = await newCollection();
  const holder = await newAccount();
  await ledger.mint(collection, { count: 1 });
  await ledger.mint(collection, { count: 1, to: holder });
  await assert.rejects(
    ledger.wipe(collection, 1),
    refusedWith("CANNOT_WIPE_TOKEN_TREASURY_ACCOUNT"),
  );
  await assert.rejects(ledger.burn(collection, 2), refusedWith("TREASURY_MUST_OWN_BURNED_NFT"));
  await ledger.burn(collection, 1);
  await ledger.wipe(collection, 2);
  for (const [serial, type] of [
    [1, "TOKENBURN"],
    [2, "TOKENWIPE"],
  ] as const) {
    const { body } = await get(`/tokens/${collection}/nfts/${serial}`);
    assert.deepEqual([body.account_id, body.deleted], [null, true]);
    const [last] = await history(collection, serial);
    assert.deepEqual([last.type, last.receiver_account_id], [type, null]);
    await assert.rejects(
      ledger.transfer(collection, serial, holder),
      refusedWith("INVALID_NFT_ID"),
    );
  }
  assert.deepEqual(await serialsHeld(holder, collection), []);
});

test("NFTs of a deleted collection stay listed, marked deleted", async () => {
  const collection = await newCollection();
  const holder = await newAccount();
  await ledger.mint(collection, { count: 1, to: holder });
  await ledger.deleteCollection(collection);
  const { body } = await get(`/accounts/${holder}/nfts?token.id=${collection}`);
  assert.deepEqual(
    body.nfts.map((nft: Body) => [nft.serial_number, nft.account_id, nft.deleted]),
    [[1, holder, true]],
  );
  const [last] = await history(collection, 1);
  assert.deepEqual(
    [last.type, last.sender_account_id, last.receiver_account_id],
    ["TOKENDELETION", null, null],
  );
  await assert.rejects(ledger.mint(collection, { count: 1 }), refusedWith("TOKEN_WAS_DELETED"));
});

test("a deleted account is still shown, with its old key; one that holds NFTs cannot be deleted", async () => {
  const key = ed25519Key(Buffer.alloc(32, 7));
  const account = await ledger.createAccount({ key });
  const collection = await newCollection();
  await ledger.mint(collection, { count: 1, to: account });
  await assert.rejects(
    ledger.deleteAccount(account),
    refusedWith("TRANSACTION_REQUIRES_ZERO_TOKEN_BALANCES"),
  );
  await ledger.transfer(collection, 1, treasury);
  await ledger.deleteAccount(account);
  const { status, body } = await get(`/accounts/${account}?transactions=false`);
  assert.deepEqual([status, body.deleted, body.key.key], [200, true, "07".repeat(32)]);
});

test("a rotated key is shown at once", async () => {
  const account = await ledger.createAccount({ key: ed25519Key(Buffer.alloc(32, 1)) });
  const key = async () => (await get(`/accounts/${account}?transactions=false`)).body.key?.key;
  assert.equal(await key(), "01".repeat(32));
  await ledger.rotateAccountKey(account, ed25519Key(Buffer.alloc(32, 2)));
  assert.equal(await key(), "02".repeat(32));
});

test("keys are shown flattened, alone or as their protobuf", async () => {
  const ed = ed25519Key(Buffer.alloc(32, 1));
  const ec = ecdsaKey(Buffer.concat([Buffer.of(2), Buffer.alloc(32, 9)]));
  const shown = async (key: Uint8Array | null) => {
    const { body } = await get(`/accounts/${await ledger.createAccount({ key })}`);
    return body.key;
  };
  const plain = { _type: "ED25519", key: "01".repeat(32) };
  assert.deepEqual(await shown(keyList([ed])), plain);
  assert.deepEqual(await shown(thresholdKey(1, [ed])), plain);
  assert.deepEqual(await shown(thresholdKey(1, [ec])), {
    _type: "ECDSA_SECP256K1",
    key: `02${"09".repeat(32)}`,
  });
  const both = thresholdKey(2, [ed, ec]);
  assert.deepEqual(await shown(both), {
    _type: "ProtobufEncoded",
    key: Buffer.from(both).toString("hex"),
  });
  assert.equal(await shown(null), null);
});

test("an account is found by every spelling, and its EVM address stays when the key changes", async () => {
  const evmAddress = "abcdef0123456789abcdef0123456789abcdef01";
  const account = await ledger.createAccount({ key: null, evmAddress });
  await ledger.rotateAccountKey(account, ed25519Key(Buffer.alloc(32, 3)));
  const num = account.slice(4);
  const { alias } = (await get(`/accounts/${account}`)).body;
  const longZero = BigInt(num).toString(16).padStart(40, "0");
  const spellings = [
    account,
    `0.${num}`,
    num,
    `00.00.00${num}`,
    longZero,
    `0x${longZero}`,
    evmAddress,
    `0x${evmAddress}`,
    `0x${evmAddress.toUpperCase()}`,
    alias,
  ];
  for (const spelling of spellings) {
    const { body } = await get(`/accounts/${spelling}?transactions=false`);
    assert.deepEqual([body.account, body.evm_address], [account, `0x${evmAddress}`], spelling);
    assert.equal((await get(`/accounts/${spelling}/nfts`)).status, 200);
  }
});

test("an account can be given its number; later ones follow", async () => {
  const id = await ledger.createAccount({ num: 90_001, key: null });
  assert.equal(id, "0.0.90001");
  assert.equal(await newAccount(), "0.0.90002");
  assert.deepEqual([id, "0.0.90009"].map(ledger.exists), [true, false]);
});

test("what the rules forbid changes nothing, takes no time and leaves no transaction", async () => {
  const collection = await newCollection();
  const last = ledger.lastConsensus();
  const refusals: [Promise<unknown>, string][] = [
    [ledger.transfer(collection, 1, treasury), "INVALID_NFT_ID"],
    [ledger.mint("0.0.424242", { count: 1 }), "INVALID_TOKEN_ID"],
    [ledger.deleteAccount("0.0.424242"), "INVALID_ACCOUNT_ID"],
    [
      ledger.createCollection({ treasury: "0.0.424242", name: "x", symbol: "x" }),
      "INVALID_ACCOUNT_ID",
    ],
  ];
  for (const [refusal, code] of refusals) await assert.rejects(refusal, refusedWith(code));
  assert.equal(ledger.lastConsensus(), last);
});

test("consensus timestamps strictly increase, also when the clock stands still or goes back", async () => {
  const { body: before } = await get("/transactions?limit=1");
  clock.ms -= 60_000;
  for (let count = 0; count < 5; count += 1) await newAccount();
  clock.ms += 60_000;
  const { body } = await get(
    `/transactions?order=asc&timestamp=gt:${before.transactions[0].consensus_timestamp}`,
  );
  const times = body.transactions.map((row: Body) => row.consensus_timestamp);
  assert.equal(times.length, 5);
  assert.deepEqual(times, [...new Set(times)].sort());
});

test("blocks follow one another without a gap, and hold what happened between", async () => {
  await ledger.closeBlock();
  await newAccount();
  await newAccount();
  const last = ledger.lastConsensus();
  await ledger.closeBlock();
  const { body } = await get("/blocks?order=desc&limit=2");
  const [newest, previous] = body.blocks;
  assert.equal(newest.number, previous.number + 1);
  assert.equal(newest.count, 2);
  assert.ok(newest.timestamp.to > last);
  assert.ok(newest.timestamp.from > previous.timestamp.to);
  await newAccount();
  assert.ok(
    ledger.lastConsensus() > newest.timestamp.to,
    "nothing comes later into a closed block",
  );
});

test("a reopened ledger is unchanged; a folder in use is refused until it is closed", async () => {
  const options = { folder, now: () => clock.ms, blockEveryMs: 0 };
  const first = await openLedger(options);
  const owner = await first.createAccount({ key: null });
  const holder = await first.createAccount({ key: null });
  const collection = await first.createCollection({ treasury: owner, name: "S", symbol: "S" });
  await first.mint(collection, { count: 3, to: holder });
  await ledgerOperations(first.order).wipe(collection, 2);
  const topic = await first.createTopic({ memo: "kept" });
  const last = first.lastConsensus();
  await assert.rejects(openLedger(options), /ledger-\w+ is in use by process \d+$/);
  await first.close();
  await assert.rejects(first.createAccount({ key: null }), refusedWith("PLATFORM_NOT_ACTIVE"));
  assert.equal(first.order.ended, true);
  const again = await openLedger(options);
  assert.equal(again.lastConsensus(), last);
  assert.deepEqual([holder, collection, topic].map(again.exists), [true, true, true]);
  assert.deepEqual(again.order.state, first.order.state);
  assert.deepEqual(await again.mint(collection, { count: 1 }), [4]);
  await again.transfer(collection, [1, 3], owner);
  await assert.rejects(again.transfer(collection, 2, owner), refusedWith("INVALID_NFT_ID"));
  const next = await again.createAccount({ key: null });
  assert.equal(Number(next.slice(4)), Number(topic.slice(4)) + 1);
  await again.close();
});

test("a ledger that opens closes a block at once: its mirror node is not behind since its last end", async () => {
  const opened = await openLedger({ now: () => clock.ms, blockEveryMs: 3_600_000 });
  await until("the block", () => opened.order.state.blocks.length === 1);
  await opened.close();
});

test.run();
