import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { pick } from "../sorted.ts";
import type { Block } from "../state/state.ts";
import { type Endpoint, listAnswer } from "./exchange.ts";
import { pageOf } from "./paging.ts";
import { checkQuery, PAGE } from "./parameters.ts";

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
