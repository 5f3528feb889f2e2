import { entityId, entityNumber } from "../../../ledger/entity-id.ts";
import { LedgerRefusal } from "../refusal.ts";
import { livingAccount } from "./accounts.ts";
import type { CollectionVersion, NftChange } from "./events.ts";
import type { NftHistory, State, Step, Turn } from "./state.ts";
import { addOwnTransaction } from "./transactions.ts";

export interface NewCollection {
  /** Account that new NFTs are minted to. */
  readonly treasury: string;
  readonly name: string;
  readonly symbol: string;
}

/** @returns the new collection's id */
export function createCollection(given: NewCollection): Step<string> {
  return (turn) => {
    const num = turn.state.nextEntity;
    turn.add({
      kind: "collection",
      at: turn.at,
      num,
      deleted: false,
      memo: "",
      treasury: livingAccount(turn.state, given.treasury).num,
      name: given.name,
      symbol: given.symbol,
    });
    addOwnTransaction(turn, "TOKENCREATION", num);
    return entityId(num);
  };
}

/**
 * Mints to the treasury, with a made-up link as metadata.
 *
 * @returns the new serials, ascending; a serial is never used twice
 */
export function mintNfts(id: string, count: number): Step<number[]> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const serials = Array.from({ length: count }, (_, index) => nfts.length + 1 + index);
    for (const serial of serials) {
      turn.add({
        kind: "nft",
        at: turn.at,
        token: token.num,
        serial,
        holder: token.treasury,
        hops: [{ from: null, to: token.treasury }],
        metadata: Buffer.from(`ipfs://local/${serial}`).toString("base64"),
      });
    }
    addOwnTransaction(turn, "TOKENMINT", token.num);
    return serials;
  };
}

export function transferNfts(id: string, serials: readonly number[], to: string): Step<void> {
  return (turn) => {
    const { token, nfts } = livingCollection(turn.state, id);
    const { num } = livingAccount(turn.state, to);
    for (const serial of serials) moveNft(turn, livingNft(token, nfts, serial), num);
    addOwnTransaction(turn, "CRYPTOTRANSFER", token.num);
  };
}

/** A collection as it stands. @throws LedgerRefusal when there is none, or it was deleted */
export function livingCollection(state: State, id: string) {
  const { token, nfts = [] } = state.collections.get(entityNumber(id)) ?? {};
  if (token === undefined) throw new LedgerRefusal("INVALID_TOKEN_ID", `no collection ${id}`);
  if (token.deleted) throw new LedgerRefusal("TOKEN_WAS_DELETED", `${id} was deleted`);
  return { token, nfts };
}

/** @throws LedgerRefusal when there is none, or it was burned or wiped */
export function livingNft(
  token: CollectionVersion,
  nfts: readonly NftHistory[],
  serial: number,
): NftChange {
  const nft = nfts[serial - 1]?.at(-1);
  if (nft !== undefined && nft.holder !== null) return nft;
  throw new LedgerRefusal("INVALID_NFT_ID", `${entityId(token.num)} serial ${serial}`);
}

/** @param to null destroys it */
export function moveNft({ at, add }: Turn, nft: NftChange, to: number | null): void {
  const { spender: _, ...moved } = nft;
  add({ ...moved, at, holder: to, hops: [{ from: nft.holder, to }] });
}
