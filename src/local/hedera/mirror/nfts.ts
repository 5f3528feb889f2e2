import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { isWithin, pick } from "../sorted.ts";
import type { NftHistory, State } from "../state/state.ts";
import { findAccountNum } from "./accounts.ts";
import { readEntityNum } from "./entity-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE } from "./exchange.ts";
import { checkNftBounds, serialsOf } from "./nft-bounds.ts";
import { pageOf } from "./paging.ts";
import {
  checkQuery,
  entityBounds,
  isEntityId,
  isPositiveLong,
  numberBounds,
  PAGE,
  readPart,
} from "./parameters.ts";
import { optionalId } from "./transactions.ts";

/**
 * `GET /accounts/{id}/nfts`: what an account holds. An account that does not exist holds
 * nothing; NFTs of a deleted collection stay, marked deleted; burned ones are gone.
 */
export const getAccountNfts: Endpoint = (request) => {
  const { state, query } = request;
  const account = findAccountNum(state, request.part("account"));
  checkQuery(query, {
    ...PAGE,
    serialnumber: isPositiveLong,
    "spender.id": isEntityId,
    "token.id": isEntityId,
  });
  const page = pageOf(request, "desc");
  const tokens = entityBounds(query, "token.id");
  const serials = numberBounds(query, "serialnumber");
  const spenders = entityBounds(query, "spender.id");
  checkNftBounds(tokens, serials);
  const held = state.held.get(account) ?? new Map<number, number[]>();
  const all = [...held.keys()].sort((a, b) => a - b);
  const shown: ShownNft[] = [];
  const asked = pick(all, { ...page, limit: Infinity }, [{ of: (num) => num, bounds: tokens }]);
  for (const num of asked) {
    const bounds = serialsOf(num, tokens, serials);
    const isHeld = (serial: number): boolean => {
      const nft = nftOf(state, num, serial);
      return nft?.holder === account && isWithin(nft.spender, spenders);
    };
    const rest = { ...page, limit: page.limit - shown.length };
    const found = pick(held.get(num) ?? [], rest, [{ of: (serial) => serial, bounds }], isHeld);
    shown.push(...found.flatMap((serial) => showNft(state, num, serial) ?? []));
  }
  const isExact = serials.some(({ operator }) => operator === "eq");
  const next = page.after(shown, ({ token_id, serial_number }) => [
    { parameter: "token.id", value: token_id, inclusive: !isExact },
    { parameter: "serialnumber", value: String(serial_number) },
  ]);
  return listAnswer("nfts", shown, next);
};

/** `GET /tokens/{id}/nfts`: all NFTs of a collection, burned ones too; none of an unknown one. */
export const getTokenNfts: Endpoint = (request) => {
  const { state, query } = request;
  const num = readEntityNum(request.part("token"), "tokenid");
  checkQuery(query, { ...PAGE, "account.id": isEntityId, serialnumber: isPositiveLong });
  const page = pageOf(request, "desc");
  const holders = entityBounds(query, "account.id");
  const isWanted = (nft: NftHistory): boolean => isWithin(nft.at(-1)?.holder, holders);
  const serial = { of: serialOf, bounds: numberBounds(query, "serialnumber") };
  const nfts = pick(state.collections.get(num)?.nfts ?? [], page, [serial], isWanted);
  const shown = nfts.flatMap((nft) => showNft(state, num, serialOf(nft)) ?? []);
  const next = page.after(shown, ({ serial_number: last }) => [
    { parameter: "serialnumber", value: String(last) },
  ]);
  return listAnswer("nfts", shown, next);
};

/** `GET /tokens/{id}/nfts/{serial}`: one NFT, burned or not. */
export const getNft: Endpoint = ({ state, query, part }) => {
  checkQuery(query, {});
  const num = readEntityNum(part("token"), "tokenid");
  const shown = showNft(state, num, readSerial(part("serial"))) ?? notFound();
  return { body: { ...shown }, maxAge: MAX_AGE.list };
};

/** @throws MirrorError 400 for what is no serial number */
export function readSerial(text: string): number {
  return Number(readPart(text, isPositiveLong, "serialnumber"));
}

function nftOf({ collections }: State, token: number, serial: number) {
  return collections.get(token)?.nfts[serial - 1]?.at(-1);
}

function showNft({ collections }: State, token: number, serial: number) {
  const collection = collections.get(token);
  const history = collection?.nfts[serial - 1];
  const minted = history?.[0];
  const nft = history?.at(-1);
  if (collection === undefined || minted === undefined || nft === undefined) return undefined;
  return {
    account_id: optionalId(nft.holder),
    created_timestamp: formatTimestamp(minted.at),
    delegating_spender: null,
    deleted: nft.holder === null || collection.token.deleted,
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
