import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { RATE } from "../consensus/fees.ts";
import { pick } from "../sorted.ts";
import type { Block } from "../state/state.ts";
import { type Endpoint, listAnswer, MAX_AGE } from "./exchange.ts";
import { pageOf } from "./paging.ts";
import { checkQuery, PAGE } from "./parameters.ts";

/** `GET /network/exchangerate`: on the local network an HBAR is always worth the same. */
export const getExchangeRate: Endpoint = ({ query }) => {
  checkQuery(query, {});
  const rate = { cent_equivalent: RATE.cents, hbar_equivalent: RATE.hbar };
  return { body: { current_rate: rate, next_rate: rate }, maxAge: MAX_AGE.list };
};

/** `GET /blocks`: newest first, the first page alone. */
export const getBlocks: Endpoint = (request) => {
  checkQuery(request.query, PAGE);
  const rows = pick(request.state.blocks, pageOf(request, "desc"), []);
  return listAnswer("blocks", rows.map(showBlock), null);
};

function showBlock(row: Block) {
  return {
    count: row.transactions,
    number: row.number,
    timestamp: { from: formatTimestamp(row.from), to: formatTimestamp(row.to) },
  };
}
