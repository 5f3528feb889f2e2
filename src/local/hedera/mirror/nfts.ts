import type { Fragment } from "postgres";
import { entityId } from "../entity-id.ts";
import { timestampText } from "../timestamps.ts";
import { readEntityNum } from "./account-reference.ts";
import { findAccountNum } from "./accounts.ts";
import { invalidParameter, notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE, type Page, pageOf } from "./exchange.ts";
import { base64, int64 } from "./json.ts";
import { boundsOf, checkBounds, cursorsAfter, within } from "./nft-bounds.ts";
import { checkQuery, filtersOf, isEntityId, isPositiveLong, PAGE } from "./parameters.ts";
import { optionalId } from "./transactions.ts";
import { allOf, compare, isCurrent, sorted, type View } from "./view.ts";

interface Found {
  readonly token: string;
  readonly serial: string;
  readonly account: string | null;
  readonly created_at: string;
  readonly valid_from: string;
  readonly deleted: boolean;
  readonly metadata: Uint8Array;
}

/**
 * `GET /accounts/{id}/nfts`: what an account holds. An account that does not exist holds
 * nothing; NFTs of a deleted collection stay, marked deleted; burned ones are gone.
 */
export const getAccountNfts: Endpoint = async (request) => {
  const { view, query } = request;
  const account = await findAccountNum(view, request.part("account"));
  checkQuery(query, {
    ...PAGE,
    serialnumber: isPositiveLong,
    "spender.id": isEntityId,
    "token.id": isEntityId,
  });
  const page = pageOf(request, "desc");
  const token = boundsOf(query, "token.id", (text) => readEntityNum(text, "token.id"));
  const serial = boundsOf(query, "serialnumber", (text) => text);
  checkBounds(token, serial);
  // Nobody has been given an allowance, so nobody is a spender.
  const spender = query.has("spender.id") ? [view.sql`false`] : [];
  const held = view.sql`n.account = ${account}::bigint`;
  const rows = await selectNfts(view, page, [held, within(view, token, serial), ...spender]);
  const exact = token.equal !== undefined && serial.equal !== undefined;
  const next = exact ? null : page.after(rows, (last) => cursorsAfter(last, token, serial));
  return listAnswer("nfts", rows.map(showNft), next);
};

/** `GET /tokens/{id}/nfts`: all NFTs of a collection, burned ones too; none of an unknown one. */
export const getTokenNfts: Endpoint = async (request) => {
  const { view, query } = request;
  const token = readEntityNum(request.part("token"), "token.id");
  checkQuery(query, { ...PAGE, "account.id": isEntityId, serialnumber: isPositiveLong });
  const page = pageOf(request, "desc");
  const accounts = filtersOf(query, "account.id").map(({ operator, value }) =>
    compare(view, "n.account", { operator, value: readEntityNum(value, "account.id") }),
  );
  const serials = filtersOf(query, "serialnumber").map((filter) =>
    compare(view, "n.serial", filter),
  );
  const all = [view.sql`n.token = ${token}::bigint`, ...accounts, ...serials];
  const rows = await selectNfts(view, page, all);
  const next = page.after(rows, ({ serial }) => [{ parameter: "serialnumber", value: serial }]);
  return listAnswer("nfts", rows.map(showNft), next);
};

/** `GET /tokens/{id}/nfts/{serial}`: one NFT, burned or not. */
export const getNft: Endpoint = async ({ view, query, part }) => {
  checkQuery(query, {});
  const token = readEntityNum(part("token"), "token.id");
  const serial = readSerial(part("serial"));
  const page = { limit: 1, order: "asc" } as const;
  const [row] = await selectNfts(view, page, [
    view.sql`n.token = ${token}::bigint`,
    view.sql`n.serial = ${serial}::bigint`,
  ]);
  if (row === undefined) throw notFound();
  return { body: showNft(row), maxAge: MAX_AGE.list };
};

/** @throws MirrorError 400 for what is no serial number */
export function readSerial(text: string): string {
  if (!isPositiveLong({ operator: "eq", value: text })) throw invalidParameter("serialnumber");
  return text;
}

function selectNfts(
  view: View,
  { limit, order }: Pick<Page, "limit" | "order">,
  conditions: readonly Fragment[],
) {
  const { sql, table } = view;
  return sql<Found[]>`
    select n.token::text, n.serial::text, n.account::text, n.created_at::text, n.valid_from::text,
      n.deleted or t.deleted as deleted, n.metadata
    from ${table("nft")} n
    join ${table("token")} t on t.num = n.token and ${isCurrent(view, "t")}
    where ${isCurrent(view, "n")} and ${allOf(view, conditions)}
    order by n.token ${sorted(view, order)}, n.serial ${sorted(view, order)} limit ${limit}`;
}

function showNft(row: Found) {
  return {
    account_id: optionalId(row.account),
    created_timestamp: timestampText(BigInt(row.created_at)),
    delegating_spender: null,
    deleted: row.deleted,
    metadata: base64(row.metadata),
    modified_timestamp: timestampText(BigInt(row.valid_from)),
    serial_number: int64(row.serial),
    spender: null,
    token_id: entityId(row.token),
  };
}
