import { entityId, entityNum } from "../entity-id.ts";
import { LedgerRefusal } from "../refusal.ts";
import { livingAccount } from "./accounts.ts";
import type { NftRow, TokenRow } from "./rows.ts";
import { type Collection, type State, type Step, type Turn, takeEntityNum } from "./state.ts";
import { addOwnTransaction } from "./transactions.ts";

/** What an NFT collection is made with. */
export interface NewCollection {
  /** Account that new NFTs are minted to. */
  readonly treasury: string;
  readonly name: string;
  readonly symbol: string;
  readonly memo?: string;
  /** Most NFTs there may ever be; any number when absent. */
  readonly maxSupply?: number;
}

/** The network mints at most this many NFTs in one transaction, and transfers as many. */
export const NFTS_PER_TRANSACTION = 10;

/** @returns the new collection's id */
export function createCollection(given: NewCollection): Step<string> {
  return (turn) => {
    const { state, rows, at } = turn;
    const treasury = livingAccount(state, given.treasury).num;
    const row: TokenRow = {
      num: takeEntityNum(state),
      valid_from: at,
      created_at: at,
      deleted: false,
      treasury,
      name: given.name,
      symbol: given.symbol,
      memo: given.memo ?? "",
      max_supply: given.maxSupply ?? 0,
    };
    state.collections.set(row.num, { row, nfts: new Map() });
    rows.token.push(row);
    addOwnTransaction(turn, "TOKENCREATION", row.num);
    return entityId(row.num);
  };
}

/**
 * Mints to the treasury.
 *
 * @param metadata the bytes that go with a serial
 * @returns the new serials, ascending; a serial is never used twice
 */
export function mintNfts(
  id: string,
  count: number,
  metadata: (serial: number) => Uint8Array,
): Step<number[]> {
  return (turn) => {
    const { row: token, nfts } = livingCollection(turn.state, id);
    atMostOneTransaction(count);
    if (token.max_supply > 0 && nfts.size + count > token.max_supply) {
      throw new LedgerRefusal("TOKEN_MAX_SUPPLY_REACHED", `${id} has ${nfts.size} NFTs`);
    }
    const serials = Array.from({ length: count }, (_, index) => nfts.size + 1 + index);
    for (const serial of serials) {
      turn.rows.nft_transfer.push(hop(turn, token.num, serial, [null, token.treasury]));
      const row = {
        token: token.num,
        serial,
        valid_from: turn.at,
        created_at: turn.at,
        deleted: false,
        account: token.treasury,
        metadata: metadata(serial),
      };
      nfts.set(serial, row);
      turn.rows.nft.push(row);
    }
    addOwnTransaction(turn, "TOKENMINT", token.num);
    return serials;
  };
}

/** Moves NFTs from whoever holds them. */
export function transferNfts(id: string, serials: readonly number[], to: string): Step<void> {
  return (turn) => {
    const collection = livingCollection(turn.state, id);
    atMostOneTransaction(serials.length);
    if (new Set(serials).size < serials.length) {
      throw new LedgerRefusal("INVALID_ACCOUNT_AMOUNTS", "a serial is named twice");
    }
    const receiver = livingAccount(turn.state, to).num;
    for (const nft of serials.map((serial) => livingNft(collection, serial))) {
      move(turn, collection, nft, receiver);
    }
    addOwnTransaction(turn, "CRYPTOTRANSFER", collection.row.num);
  };
}

/** Destroys an NFT that the treasury holds. */
export function burnNft(id: string, serial: number): Step<void> {
  return (turn) => {
    const collection = livingCollection(turn.state, id);
    const nft = livingNft(collection, serial);
    if (nft.account !== collection.row.treasury) {
      throw new LedgerRefusal("TREASURY_MUST_OWN_BURNED_NFT", `${id} serial ${serial}`);
    }
    move(turn, collection, nft, null);
    addOwnTransaction(turn, "TOKENBURN", collection.row.num);
  };
}

/** Destroys an NFT that anyone but the treasury holds. */
export function wipeNft(id: string, serial: number): Step<void> {
  return (turn) => {
    const collection = livingCollection(turn.state, id);
    const nft = livingNft(collection, serial);
    if (nft.account === collection.row.treasury) {
      throw new LedgerRefusal("CANNOT_WIPE_TOKEN_TREASURY_ACCOUNT", `${id} serial ${serial}`);
    }
    move(turn, collection, nft, null);
    addOwnTransaction(turn, "TOKENWIPE", collection.row.num);
  };
}

/** Deletes the collection; its NFTs stay where they are, marked deleted by the mirror node. */
export function deleteCollection(id: string): Step<void> {
  return (turn) => {
    const collection = livingCollection(turn.state, id);
    collection.row = { ...collection.row, valid_from: turn.at, deleted: true };
    turn.rows.token.push(collection.row);
    addOwnTransaction(turn, "TOKENDELETION", collection.row.num);
  };
}

function livingCollection(state: State, id: string): Collection {
  const collection = state.collections.get(entityNum(id));
  if (collection === undefined) throw new LedgerRefusal("INVALID_TOKEN_ID", `no collection ${id}`);
  if (collection.row.deleted) throw new LedgerRefusal("TOKEN_WAS_DELETED", `${id} was deleted`);
  return collection;
}

function livingNft(collection: Collection, serial: number): NftRow {
  const nft = collection.nfts.get(serial);
  if (nft === undefined || nft.deleted) {
    throw new LedgerRefusal("INVALID_NFT_ID", `${entityId(collection.row.num)} serial ${serial}`);
  }
  return nft;
}

function move(turn: Turn, { row, nfts }: Collection, nft: NftRow, to: number | null): void {
  const next = { ...nft, valid_from: turn.at, account: to, deleted: to === null };
  nfts.set(nft.serial, next);
  turn.rows.nft.push(next);
  turn.rows.nft_transfer.push(hop(turn, row.num, nft.serial, [nft.account, to]));
}

function hop(turn: Turn, token: number, serial: number, parties: [number | null, number | null]) {
  const [sender, receiver] = parties;
  return { token, serial, consensus_ns: turn.at, sender, receiver };
}

function atMostOneTransaction(count: number): void {
  if (count >= 1 && count <= NFTS_PER_TRANSACTION) return;
  throw new LedgerRefusal("BATCH_SIZE_LIMIT_EXCEEDED", `${count} NFTs in one transaction`);
}
