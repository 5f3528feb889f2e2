/**
 * Goal: what happens to NFTs besides plain transfers is shown as a real mirror node shows it
 * (its REST sources: a history row names the first hop, or none where no transfer is listed).
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { LedgerRefusal } from "../../../src/local/hedera/refusal.ts";
import { type Body, testNetwork } from "./network.ts";
import { violations } from "./openapi.ts";

const network = await testNetwork();
const { get } = network;
const { ledger } = network.hedera;
const account = () => ledger.createAccount({ key: null });
const [treasury, seller, agent, buyer] = await Promise.all([1, 2, 3, 4].map(account));
if (!treasury || !seller || !agent || !buyer) throw new Error("there are four accounts");
const token = await ledger.createCollection({ treasury, name: "A", symbol: "A" });

test.after(() => network.close());

async function newNft(to?: string): Promise<number> {
  const [serial] = await ledger.mint(token, { count: 1, ...(to === undefined ? {} : { to }) });
  return serial ?? 0;
}

/** The newest row of an NFT's history: kind, sender, receiver. */
async function newestRow(serial: number): Promise<unknown[]> {
  const path = `/tokens/${token}/nfts/${serial}/transactions?limit=1`;
  const { status, body } = await get(path);
  assert.deepEqual(violations(`/api/v1${path}`, status, body), []);
  const [row] = body.transactions;
  return [row.type, row.sender_account_id, row.receiver_account_id];
}

async function nft(serial: number): Promise<Body> {
  return (await get(`/tokens/${token}/nfts/${serial}`)).body;
}

test("several hops in one transaction: its record lists all, the history the first", async () => {
  const serial = await newNft(seller);
  await ledger.transferVia(token, serial, [agent, buyer]);
  assert.equal((await nft(serial)).account_id, buyer);
  assert.deepEqual(await newestRow(serial), ["CRYPTOTRANSFER", seller, agent]);
  const [transaction] = (await get("/transactions?limit=1")).body.transactions;
  assert.deepEqual(
    transaction.nft_transfers.map((hop: Body) => [
      hop.sender_account_id,
      hop.receiver_account_id,
      hop.serial_number,
    ]),
    [
      [seller, agent, serial],
      [agent, buyer, serial],
    ],
  );
  assert.deepEqual((await get(`/accounts/${agent}/nfts`)).body.nfts, []);
});

test("an NFT that comes back in the end was away within the transaction alone", async () => {
  const serial = await newNft(seller);
  await ledger.transferVia(token, serial, [agent, seller]);
  assert.equal((await nft(serial)).account_id, seller);
  assert.deepEqual(await newestRow(serial), ["CRYPTOTRANSFER", seller, agent]);
});

test("a new treasury gets what the old one holds, by a row without parties", async () => {
  const [kept, sold] = [await newNft(), await newNft(buyer)];
  const next = await account();
  await ledger.changeTreasury(token, next);
  assert.deepEqual([(await nft(kept)).account_id, (await nft(sold)).account_id], [next, buyer]);
  assert.deepEqual(await newestRow(kept), ["TOKENUPDATE", null, null]);
  assert.deepEqual(await newestRow(sold), ["CRYPTOTRANSFER", treasury, buyer]);
  const { body } = await get(`/tokens/${token}`);
  assert.equal(body.treasury_account_id, next);
  assert.equal((await nft(await newNft())).account_id, next);
  await ledger.burn(token, kept);
  assert.deepEqual(await newestRow(kept), ["TOKENBURN", next, null]);
});

test("an allowance names the spender until the NFT changes hands, and moves nothing", async () => {
  const serial = await newNft(seller);
  await ledger.approve(token, serial, agent);
  assert.deepEqual(await newestRow(serial), ["CRYPTOAPPROVEALLOWANCE", null, null]);
  const approved = await nft(serial);
  assert.deepEqual([approved.account_id, approved.spender], [seller, agent]);
  const spendable = async (spender: string): Promise<number[]> =>
    (await get(`/accounts/${seller}/nfts?spender.id=${spender}`)).body.nfts.map(
      (row: Body) => row.serial_number,
    );
  assert.deepEqual([await spendable(agent), await spendable(buyer)], [[serial], []]);
  await ledger.transfer(token, serial, buyer);
  assert.equal((await nft(serial)).spender, null);
});

test("new metadata is shown, dated, and changes no holder", async () => {
  const serial = await newNft(seller);
  const before = await nft(serial);
  await ledger.updateMetadata(token, serial, Buffer.from("second"));
  const after = await nft(serial);
  assert.equal(Buffer.from(after.metadata, "base64").toString(), "second");
  assert.deepEqual([after.account_id, after.created_timestamp], [seller, before.created_timestamp]);
  assert.ok(after.modified_timestamp > before.modified_timestamp);
  assert.deepEqual(await newestRow(serial), ["TOKENUPDATENFTS", null, null]);
});

test("a burned NFT can be neither approved nor given other metadata", async () => {
  const serial = await newNft(seller);
  await ledger.wipe(token, serial);
  await assert.rejects(ledger.approve(token, serial, agent), LedgerRefusal);
  await assert.rejects(ledger.updateMetadata(token, serial, Buffer.from("x")), LedgerRefusal);
});

test.run();
