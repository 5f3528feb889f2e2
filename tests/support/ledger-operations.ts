import { entityNumber } from "../../src/ledger/entity-id.ts";
import { type KeyBytes, keyHex } from "../../src/local/hedera/keys.ts";
import { LedgerRefusal } from "../../src/local/hedera/refusal.ts";
import { livingAccount } from "../../src/local/hedera/state/accounts.ts";
import { livingCollection, livingNft, moveNft } from "../../src/local/hedera/state/collections.ts";
import type { ConsensusOrder } from "../../src/local/hedera/state/consensus-order.ts";
import type { TopicVersion } from "../../src/local/hedera/state/events.ts";
import type { State, Step, Turn } from "../../src/local/hedera/state/state.ts";
import { addMessage } from "../../src/local/hedera/state/topics.ts";
import { addOwnTransaction } from "../../src/local/hedera/state/transactions.ts";

/** What tests do to a ledger beyond what seeding does; by the same rules. */
export type LedgerOperations = ReturnType<typeof ledgerOperations>;

export function ledgerOperations(order: ConsensusOrder) {
  return {
    rotateAccountKey: (id: string, key: KeyBytes | null) => order.take(rotateAccountKey(id, key)),
    deleteAccount: (id: string) => order.take(deleteAccount(id)),
    transferVia: (collection: string, serial: number, stations: readonly string[]) =>
      order.take(transferVia(collection, serial, stations)),
    approve: (collection: string, serial: number, spender: string) =>
      order.take(approveNft(collection, serial, spender)),
    updateMetadata: (collection: string, serial: number, metadata: Uint8Array) =>
      order.take(updateNftMetadata(collection, serial, metadata)),
    changeTreasury: (collection: string, account: string) =>
      order.take(changeTreasury(collection, account)),
    burn: (collection: string, serial: number) => order.take(burnNft(collection, serial)),
    wipe: (collection: string, serial: number) => order.take(wipeNft(collection, serial)),
    deleteCollection: (id: string) => order.take(deleteCollection(id)),
    setBalance: (id: string, tinybars: bigint) => order.take(setBalance(id, tinybars)),
    setSubmitKey: (id: string, key: KeyBytes | null) => order.take(setSubmitKey(id, key)),
    sayOn: (topic: string, account: string, text: string) =>
      order.take(sayOn(topic, account, text)),
    deleteTopic: (id: string) => order.take(deleteTopic(id)),
  };
}

/** Moves an NFT from account to account, all within one transaction. */
function transferVia(id: string, serial: number, stations: readonly string[]): Step<void> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const { spender: _, ...nft } = livingNft(token, nfts, serial);
    const nums = stations.map((account) => livingAccount(turn.state, account).num);
    const hops = nums.map((to, index) => ({ from: nums[index - 1] ?? nft.holder, to }));
    turn.add({ ...nft, at: turn.at, holder: nums.at(-1) ?? nft.holder, hops });
    addOwnTransaction(turn, "CRYPTOTRANSFER", token.num);
  };
}

/** Lets an account transfer an NFT for its holder: a transaction that lists no transfer. */
function approveNft(id: string, serial: number, spender: string): Step<void> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const { num } = livingAccount(turn.state, spender);
    turn.add({ ...livingNft(token, nfts, serial), at: turn.at, hops: [], spender: num });
    addOwnTransaction(turn, "CRYPTOAPPROVEALLOWANCE", token.num);
  };
}

/** Gives an NFT other metadata (HIP-657). */
function updateNftMetadata(id: string, serial: number, metadata: Uint8Array): Step<void> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const text = Buffer.from(metadata).toString("base64");
    turn.add({ ...livingNft(token, nfts, serial), at: turn.at, hops: [], metadata: text });
    addOwnTransaction(turn, "TOKENUPDATENFTS", token.num);
  };
}

/** Gives a collection another treasury, and with it every NFT that the old one holds. */
function changeTreasury(id: string, account: string): Step<void> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const treasury = livingAccount(turn.state, account).num;
    turn.add({ ...token, at: turn.at, treasury });
    for (const nft of nfts) {
      const last = nft.at(-1);
      if (last?.holder !== token.treasury) continue;
      const { spender: _, ...moved } = last;
      turn.add({ ...moved, at: turn.at, holder: treasury, hops: [] });
    }
    addOwnTransaction(turn, "TOKENUPDATE", token.num);
  };
}

/** Destroys an NFT that the treasury holds. */
function burnNft(id: string, serial: number): Step<void> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const nft = livingNft(token, nfts, serial);
    if (nft.holder !== token.treasury) {
      throw new LedgerRefusal("TREASURY_MUST_OWN_BURNED_NFT", `${id} serial ${serial}`);
    }
    moveNft(turn, nft, null);
    addOwnTransaction(turn, "TOKENBURN", token.num);
  };
}

/** Destroys an NFT that anyone but the treasury holds. */
function wipeNft(id: string, serial: number): Step<void> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const nft = livingNft(token, nfts, serial);
    if (nft.holder === token.treasury) {
      throw new LedgerRefusal("CANNOT_WIPE_TOKEN_TREASURY_ACCOUNT", `${id} serial ${serial}`);
    }
    moveNft(turn, nft, null);
    addOwnTransaction(turn, "TOKENWIPE", token.num);
  };
}

/** Deletes the collection; its NFTs stay where they are, marked deleted by the mirror node. */
function deleteCollection(id: string): Step<void> {
  return (turn) => {
    const { token } = livingCollection(turn.state, id);
    turn.add({ ...token, at: turn.at, deleted: true });
    addOwnTransaction(turn, "TOKENDELETION", token.num);
  };
}

/** Gives an account another key; its EVM address stays. */
function rotateAccountKey(id: string, key: KeyBytes | null): Step<void> {
  return (turn) => {
    const account = livingAccount(turn.state, id);
    turn.add({ ...account, at: turn.at, key: keyHex(key) });
    addOwnTransaction(turn, "CRYPTOUPDATEACCOUNT", account.num);
  };
}

/** An account that holds NFTs cannot be deleted, as on the network. */
function deleteAccount(id: string): Step<void> {
  return (turn) => {
    const { state, at } = turn;
    const account = livingAccount(state, id);
    if (holdsNfts(state, account.num)) {
      throw new LedgerRefusal("TRANSACTION_REQUIRES_ZERO_TOKEN_BALANCES", `${id} holds NFTs`);
    }
    turn.add({ ...account, at, deleted: true, balance: 0n, balanceAt: at });
    addOwnTransaction(turn, "CRYPTODELETE", account.num);
  };
}

/** Those of a deleted collection do not count. */
function holdsNfts({ held, collections }: State, account: number): boolean {
  for (const [token, serials] of held.get(account) ?? []) {
    const collection = collections.get(token);
    if (collection?.token.deleted) continue;
    if (serials.some((serial) => collection?.nfts[serial - 1]?.at(-1)?.holder === account))
      return true;
  }
  return false;
}

function setBalance(id: string, balance: bigint): Step<void> {
  return (turn) => {
    const account = livingAccount(turn.state, id);
    turn.add({ ...account, at: turn.at, balance, balanceAt: turn.at });
    addOwnTransaction(turn, "CRYPTOTRANSFER", account.num);
  };
}

/** Gives a topic another submit key, or none: then anyone may write to it. */
function setSubmitKey(id: string, key: KeyBytes | null): Step<void> {
  return (turn) => {
    const topic = livingTopic(turn, id);
    turn.add({ ...topic, at: turn.at, submitKey: keyHex(key) });
    addOwnTransaction(turn, "CONSENSUSUPDATETOPIC", topic.num);
  };
}

/** A message of any account that a topic has let in. */
function sayOn(topicId: string, account: string, text: string): Step<void> {
  return (turn) => {
    const { num } = livingTopic(turn, topicId);
    const payer = livingAccount(turn.state, account).num;
    const validStart = turn.at - 7_000_000_000n;
    const chunk = { payer, validStart, number: 1, total: 1 };
    addMessage(turn, num, { payer, message: Buffer.from(text), chunk });
    addOwnTransaction(turn, "CONSENSUSSUBMITMESSAGE", num);
  };
}

/** Deletes a topic; no message is taken any more, those it has stay. */
function deleteTopic(id: string): Step<void> {
  return (turn) => {
    const topic = livingTopic(turn, id);
    turn.add({ ...topic, at: turn.at, deleted: true });
    addOwnTransaction(turn, "CONSENSUSDELETETOPIC", topic.num);
  };
}

function livingTopic({ state }: Turn, id: string): TopicVersion {
  const topic = state.topics.get(entityNumber(id))?.topic;
  if (topic === undefined || topic.deleted) {
    throw new LedgerRefusal("INVALID_TOPIC_ID", `no topic ${id}`);
  }
  return topic;
}
