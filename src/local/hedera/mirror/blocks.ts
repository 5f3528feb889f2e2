import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { pick } from "../sorted.ts";
import type { Block } from "../state/state.ts";

import { type Endpoint, listAnswer, pageOf } from "./exchange.ts";
import { checkQuery, PAGE } from "./parameters.ts";
import { timeBounds } from "./view.ts";

const end = ({ to }: Block) => to;

/** `GET /blocks`: newest first, the first page alone. */
export const getBlocks: Endpoint = (request) => {
  const { view, query } = request;
  checkQuery(query, PAGE);
  const page = pageOf(request, "desc");
  const rows = pick(view.state.blocks, page, [{ of: end, bounds: timeBounds(view, query) }]);
  return listAnswer("blocks", rows.map(showBlock), null);
};

function showBlock(row: Block) {
  const from = formatTimestamp(row.from);
  return {
    count: row.transactions,
    gas_used: 0,
    hapi_version: null,
    hash: `0x${row.hash}`,
    logs_bloom: null,
    name: `${from.replace(".", "_")}.rcd.gz`,
    number: row.number,
    previous_hash: `0x${row.previousHash}`,
    size: null,
    timestamp: { from, to: formatTimestamp(row.to) },
  };
}
