import { instant } from "../../../actors/day.ts";
import { operatorLogRows } from "../../store/operator-log.ts";
import type { Sql } from "../../store/postgres.ts";
import type { Page, PagesDeps } from "./page.ts";
import { secured } from "./reply.ts";

const ROWS_AT_ONCE = 1_000;

/** The whole operator log, oldest first, a line of JSON for each row: `/ops/log.ndjson`. */
export function logExportPage({ sql }: PagesDeps): Page {
  return {
    path: "/log.ndjson",
    async show({ context }) {
      const pages = textOf(sql);
      // The first page is read before anything is answered: a database that is away is a 503.
      const { value: first } = await pages.next();
      const body = ReadableStream.from(followedBy(first, pages));
      return secured(context).body(body, 200, {
        "Content-Type": "application/x-ndjson",
        "Content-Disposition": 'attachment; filename="operator-log.ndjson"',
      });
    },
  };
}

async function* followedBy<T>(first: T | undefined, rest: AsyncIterable<T>): AsyncGenerator<T> {
  if (first !== undefined) yield first;
  yield* rest;
}

async function* textOf(sql: Sql): AsyncGenerator<Uint8Array, undefined> {
  let after = 0;
  for (;;) {
    const rows = await operatorLogRows(sql, { after, limit: ROWS_AT_ONCE });
    if (rows.length === 0) return undefined;
    const lines = rows.map((row) => `${JSON.stringify({ ...row, at: instant(row.at) })}\n`);
    yield Buffer.from(lines.join(""));
    after = rows.at(-1)?.id ?? after;
  }
}
