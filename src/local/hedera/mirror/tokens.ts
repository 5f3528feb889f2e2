import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp, mirrorTransactionId } from "../../../ledger/transaction-id.ts";
import { pick } from "../sorted.ts";
import type { Hop } from "../state/events.ts";
import { rowAt } from "../state/state.ts";
import { SECOND } from "../timestamps.ts";
import { readEntityNum } from "./account-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE, pageOf } from "./exchange.ts";
import { byTime } from "./next-link.ts";
import { readSerial } from "./nfts.ts";
import { checkQuery, isTimestamp, PAGE } from "./parameters.ts";
import { optionalId } from "./transactions.ts";
import { creationOf, deletedOf, optionalTime, timely, type View, versionOf } from "./view.ts";

const NINETY_DAYS_S = 7_776_000n;

/** `GET /tokens/{id}`: a collection, deleted or not. */
export const getToken: Endpoint = ({ view, query, part }) => {
  const num = readEntityNum(part("token"), "tokenid");
  checkQuery(query, {});
  const { versions = [], nfts = [] } = view.state.collections.get(num) ?? {};
  const token = versionOf(view, versions);
  const [first = token] = versions;
  if (token === undefined || first === undefined) throw notFound();
  const created = optionalTime(creationOf(view, versions));
  const treasury = entityId(token.treasury);
  return {
    maxAge: MAX_AGE.token,
    body: {
      ...UNSET,
      auto_renew_account: treasury,
      auto_renew_period: NINETY_DAYS_S,
      created_timestamp: created,
      custom_fees: { created_timestamp: created, fixed_fees: [], royalty_fees: [] },
      deleted: deletedOf(view, versions, token),
      // In nanoseconds, unlike every other instant: a known oddity of the real one.
      expiry_timestamp: first.at + NINETY_DAYS_S * SECOND,
      memo: token.memo,
      modified_timestamp: formatTimestamp(token.at),
      name: token.name,
      symbol: token.symbol,
      token_id: entityId(num),
      total_supply: String(
        nfts.filter((moves) => (versionOf(view, moves)?.holder ?? null) !== null).length,
      ),
      treasury_account_id: treasury,
    },
  };
};

/** What a collection of the local ledger never has. */
const UNSET = {
  admin_key: null,
  decimals: "0",
  fee_schedule_key: null,
  freeze_default: false,
  freeze_key: null,
  initial_supply: "0",
  kyc_key: null,
  max_supply: "0",
  metadata: "",
  metadata_key: null,
  pause_key: null,
  pause_status: "NOT_APPLICABLE",
  supply_key: null,
  supply_type: "INFINITE",
  type: "NON_FUNGIBLE_UNIQUE",
  wipe_key: null,
} as const;

/**
 * `GET /tokens/{id}/nfts/{serial}/transactions`: where an NFT has been. The deletion of its
 * collection is a row without parties; so the real one shows it.
 */
export const getNftTransactions: Endpoint = (request) => {
  const { view, query, part } = request;
  const token = readEntityNum(part("token"), "tokenid");
  const serial = readSerial(part("serial"));
  checkQuery(query, { ...PAGE, timestamp: isTimestamp });
  const page = pageOf(request, "desc");
  const { rows, isPartial } = eventsOf(view, token, serial);
  const picked = pick(rows, page, [timely(view, query)]);
  const transactions = picked.map(({ at, from, to, transaction }) => ({
    consensus_timestamp: formatTimestamp(at),
    nonce: transaction.nonce,
    transaction_id: mirrorTransactionId({
      payer: entityId(transaction.payer),
      validStart: transaction.validStart,
    }),
    type: transaction.type,
    is_approval: false,
    receiver_account_id: optionalId(to),
    sender_account_id: optionalId(from),
  }));
  const answer = listAnswer("transactions", transactions, page.after(transactions, byTime));
  return isPartial && transactions.length > 0 ? { ...answer, status: 206 } : answer;
};

/**
 * What happened to an NFT, and the end of its collection, each with the transaction behind it.
 * Of several hops in one transaction the real one shows the first.
 */
function eventsOf(view: View, token: number, serial: number) {
  const { versions = [], nfts = [] } = view.state.collections.get(token) ?? {};
  const changes = nfts[serial - 1] ?? [];
  const isThere = (versionOf(view, changes)?.holder ?? null) !== null;
  const ends = isThere ? versions.filter(({ deleted }) => deleted) : [];
  const all = [
    ...changes.map(({ at, hops: [hop = NO_HOP] }) => ({ at, ...hop })),
    ...ends.map(({ at }) => ({ at, ...NO_HOP })),
  ];
  const rows = all.flatMap(({ at, from, to }) => {
    const transaction = at < view.since ? undefined : rowAt(view.state.transactions, at);
    return transaction === undefined ? [] : [{ at, from, to, transaction }];
  });
  return { rows, isPartial: creationOf(view, changes) === undefined };
}

const NO_HOP: Hop = { from: null, to: null };
