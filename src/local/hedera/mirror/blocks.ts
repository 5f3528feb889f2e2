import type { Fragment } from "postgres";
import { timestampText } from "../timestamps.ts";
import { invalidParameter, notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE, pageOf } from "./exchange.ts";
import { int64 } from "./json.ts";
import { checkQuery, filtersOf, isLongOrZero, isTimestamp, PAGE } from "./parameters.ts";
import { allOf, compare, compareTime, hasHappened, sorted, type View } from "./view.ts";

interface Found {
  readonly number: string;
  readonly from_ns: string;
  readonly to_ns: string;
  readonly transactions: string;
  readonly hash: Uint8Array;
  readonly previous_hash: Uint8Array;
}

/** `GET /blocks`: newest first. */
export const getBlocks: Endpoint = async (request) => {
  const { view, query } = request;
  checkQuery(query, { ...PAGE, "block.number": isLongOrZero, timestamp: isTimestamp });
  const page = pageOf(request, "desc");
  const { sql } = view;
  const conditions = [
    ...filtersOf(query, "block.number").map((filter) => compare(view, "number", filter)),
    ...filtersOf(query, "timestamp").map((filter) => compareTime(view, "to_ns", filter)),
  ];
  const rows = await selectBlocks(
    view,
    sql`${allOf(view, conditions)}
      order by to_ns ${sorted(view, page.order)} limit ${page.limit}`,
  );
  const next = page.after(rows, ({ number }) => [{ parameter: "block.number", value: number }]);
  return listAnswer("blocks", rows.map(showBlock), next);
};

/** `GET /blocks/{hashOrNumber}` */
export const getBlock: Endpoint = async ({ view, query, part }) => {
  checkQuery(query, {});
  const text = part("block");
  const hash = /^(?:0x)?([0-9a-f]{96})$/i.exec(text)?.[1];
  if (hash === undefined && !isLongOrZero({ operator: "eq", value: text })) {
    throw invalidParameter("hashOrNumber");
  }
  const { sql } = view;
  const named =
    hash === undefined ? sql`number = ${text}::bigint` : sql`hash = ${Buffer.from(hash, "hex")}`;
  const [row] = await selectBlocks(view, named);
  if (row === undefined) throw notFound();
  return { body: showBlock(row), maxAge: MAX_AGE.list };
};

function selectBlocks(view: View, conditions: Fragment) {
  const { sql, table } = view;
  return sql<Found[]>`
    select number::text, from_ns::text, to_ns::text, transactions::text, hash, previous_hash
    from ${table("block")} where ${hasHappened(view, "to_ns")} and ${conditions}`;
}

function showBlock(row: Found) {
  const from = timestampText(BigInt(row.from_ns));
  return {
    count: int64(row.transactions),
    gas_used: 0,
    hapi_version: null,
    hash: `0x${Buffer.from(row.hash).toString("hex")}`,
    logs_bloom: null,
    name: `${from.replace(".", "_")}.rcd.gz`,
    number: int64(row.number),
    previous_hash: `0x${Buffer.from(row.previous_hash).toString("hex")}`,
    size: null,
    timestamp: { from, to: timestampText(BigInt(row.to_ns)) },
  };
}
