import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp, mirrorTransactionId } from "../../../ledger/transaction-id.ts";
import { pick } from "../sorted.ts";
import type { Hop } from "../state/events.ts";
import { rowAt, type State } from "../state/state.ts";
import { readEntityNum } from "./entity-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE } from "./exchange.ts";
import { readSerial } from "./nfts.ts";
import { byTime, pageOf } from "./paging.ts";
import { checkQuery, isTimestamp, PAGE, timely } from "./parameters.ts";
import { optionalId } from "./transactions.ts";

/** `GET /tokens/{id}`: a collection, deleted or not. */
export const getToken: Endpoint = ({ state, query, part }) => {
  const num = readEntityNum(part("token"), "tokenid");
  checkQuery(query, {});
  const { token, nfts } = state.collections.get(num) ?? notFound();
  return {
    maxAge: MAX_AGE.token,
    body: {
      created_timestamp: formatTimestamp(token.created),
      decimals: "0",
      deleted: token.deleted,
      memo: token.memo,
      modified_timestamp: formatTimestamp(token.at),
      name: token.name,
      symbol: token.symbol,
      token_id: entityId(num),
      total_supply: String(nfts.filter((nft) => nft.at(-1)?.holder !== null).length),
      treasury_account_id: entityId(token.treasury),
      type: "NON_FUNGIBLE_UNIQUE",
    },
  };
};

/**
 * `GET /tokens/{id}/nfts/{serial}/transactions`: where an NFT has been. The deletion of its
 * collection is a row without parties; so the real one shows it.
 */
export const getNftTransactions: Endpoint = (request) => {
  const { state, query, part } = request;
  const token = readEntityNum(part("token"), "tokenid");
  const serial = readSerial(part("serial"));
  checkQuery(query, { ...PAGE, timestamp: isTimestamp });
  const page = pageOf(request, "desc");
  const picked = pick(eventsOf(state, token, serial), page, [timely(query)]);
  const transactions = picked.map(({ at, from, to, transaction }) => ({
    consensus_timestamp: formatTimestamp(at),
    nonce: 0,
    transaction_id: mirrorTransactionId({
      payer: entityId(transaction.payer),
      validStart: transaction.validStart,
    }),
    type: transaction.type,
    is_approval: false,
    receiver_account_id: optionalId(to),
    sender_account_id: optionalId(from),
  }));
  return listAnswer("transactions", transactions, page.after(transactions, byTime));
};

/**
 * What happened to an NFT, and the end of its collection, each with the transaction behind it.
 * Of several hops in one transaction the real one shows the first.
 */
function eventsOf(state: State, token: number, serial: number) {
  const collection = state.collections.get(token);
  const changes = collection?.nfts[serial - 1] ?? [];
  const isThere = (changes.at(-1)?.holder ?? null) !== null;
  const all = changes.map(({ at, hops: [hop = NO_HOP] }) => ({ at, ...hop }));
  if (isThere && collection?.token.deleted) all.push({ at: collection.token.at, ...NO_HOP });
  return all.flatMap((event) => {
    const transaction = rowAt(state.transactions, event.at);
    return transaction === undefined ? [] : [{ ...event, transaction }];
  });
}

const NO_HOP: Hop = { from: null, to: null };
