import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { type Bound, meets, pick } from "../sorted.ts";
import type { NftChange } from "../state/events.ts";
import type { NftHistory } from "../state/state.ts";

import { readEntityNum } from "./account-reference.ts";
import { findAccountNum } from "./accounts.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE, pageOf } from "./exchange.ts";
import { boundsOf, checkBounds, cursorsAfter, serialsWithin } from "./nft-bounds.ts";
import {
  checkQuery,
  filtersOf,
  isEntityId,
  isPositiveLong,
  PAGE,
  type Query,
  readPart,
} from "./parameters.ts";
import { optionalId } from "./transactions.ts";
import { creationOf, numberBounds, optionalTime, type View, versionOf } from "./view.ts";

/**
 * `GET /accounts/{id}/nfts`: what an account holds. An account that does not exist holds
 * nothing; NFTs of a deleted collection stay, marked deleted; burned ones are gone.
 */
export const getAccountNfts: Endpoint = (request) => {
  const { view, query } = request;
  const account = findAccountNum(view, request.part("account"));
  checkQuery(query, {
    ...PAGE,
    serialnumber: isPositiveLong,
    "spender.id": isEntityId,
    "token.id": isEntityId,
  });
  const page = pageOf(request, "desc");
  const token = boundsOf(query, "token.id", (text) => readEntityNum(text, "token.id"));
  const serial = boundsOf(query, "serialnumber", BigInt);
  checkBounds(token, serial);
  const held = view.state.held.get(account) ?? new Map<number, number[]>();
  const tokens = [...held.keys()].sort((a, b) => a - b);
  const within = [token.equal, token.lower, token.upper].filter((bound) => bound !== undefined);
  const columns = [{ of: (num: number) => num, bounds: within }];
  const shown: ShownNft[] = [];
  const spenders = idBounds(query, "spender.id");
  for (const num of pick(tokens, { ...page, limit: Infinity }, columns)) {
    const isHeld = (of: number): boolean => {
      const nft = nftOf(view, num, of);
      return nft?.holder === account && spenders.every((bound) => meets(nft.spender ?? NaN, bound));
    };
    const bounds = serialsWithin(num, token, serial);
    const rest = { ...page, limit: page.limit - shown.length };
    const serials = pick(held.get(num) ?? [], rest, [{ of: (of: number) => of, bounds }], isHeld);
    shown.push(...serials.flatMap((of) => showNft(view, num, of) ?? []));
  }
  const exact = token.equal !== undefined && serial.equal !== undefined;
  const next = exact ? null : page.after(shown, (last) => cursorsAfter(last, token, serial));
  return listAnswer("nfts", shown, next);
};

/** `GET /tokens/{id}/nfts`: all NFTs of a collection, burned ones too; none of an unknown one. */
export const getTokenNfts: Endpoint = (request) => {
  const { view, query } = request;
  const num = readEntityNum(request.part("token"), "tokenid");
  checkQuery(query, { ...PAGE, "account.id": isEntityId, serialnumber: isPositiveLong });
  const page = pageOf(request, "desc");
  const accounts = idBounds(query, "account.id");
  const isWanted = ([minted]: NftHistory): boolean => {
    const nft = nftOf(view, num, minted?.serial ?? 0);
    if (nft === undefined) return false;
    return accounts.every((bound) => nft.holder !== null && meets(nft.holder, bound));
  };
  const serial = { of: serialOf, bounds: numberBounds(query, "serialnumber") };
  const nfts = pick(view.state.collections.get(num)?.nfts ?? [], page, [serial], isWanted);
  const shown = nfts.flatMap((moves) => showNft(view, num, serialOf(moves)) ?? []);
  const next = page.after(shown, ({ serial_number: last }) => [
    { parameter: "serialnumber", value: String(last) },
  ]);
  return listAnswer("nfts", shown, next);
};

/** `GET /tokens/{id}/nfts/{serial}`: one NFT, burned or not. */
export const getNft: Endpoint = ({ view, query, part }) => {
  checkQuery(query, {});
  const num = readEntityNum(part("token"), "tokenid");
  const shown = showNft(view, num, readSerial(part("serial")));
  if (shown === undefined) throw notFound();
  return { body: { ...shown }, maxAge: MAX_AGE.list };
};

function idBounds(query: Query, name: string): Bound[] {
  return filtersOf(query, name).map(({ operator, value }) => ({
    operator,
    value: readEntityNum(value, name),
  }));
}

/** @throws MirrorError 400 for what is no serial number */
export function readSerial(text: string): number {
  return Number(readPart(text, isPositiveLong, "serialnumber"));
}

function nftOf(view: View, token: number, serial: number): NftChange | undefined {
  return versionOf(view, view.state.collections.get(token)?.nfts[serial - 1]);
}

function showNft(view: View, token: number, serial: number) {
  const { versions, nfts = [] } = view.state.collections.get(token) ?? {};
  const nft = nftOf(view, token, serial);
  const collection = versionOf(view, versions);
  if (nft === undefined || collection === undefined) return undefined;
  return {
    account_id: optionalId(nft.holder),
    created_timestamp: optionalTime(creationOf(view, nfts[serial - 1] ?? [])),
    delegating_spender: null,
    deleted: nft.holder === null || collection.deleted,
    metadata: nft.metadata,
    modified_timestamp: formatTimestamp(nft.at),
    serial_number: serial,
    spender: optionalId(nft.spender ?? null),
    token_id: entityId(token),
  };
}

type ShownNft = NonNullable<ReturnType<typeof showNft>>;

function serialOf([minted]: NftHistory): number {
  return minted?.serial ?? 0;
}
