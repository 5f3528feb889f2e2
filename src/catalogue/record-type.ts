import { badField } from "../errors.ts";

/** What the directory holds; each type is a table of the same name. */
export const recordTypes = ["event", "token", "collection", "project"] as const;
export type RecordType = (typeof recordTypes)[number];

/** The columns of each table that people fill, but for `id`, `created_at` and `approved_at`. */
export const recordColumns = {
  event: [
    ...["title", "description", "event_type", "is_forever_mint", "source", "starts_at", "ends_at"],
    ...["host", "location", "image_url", "url", "links", "prizes"],
  ],
  token: ["symbol", "name", "icon_url", "price", "market_cap"],
  collection: ["name", "image_url", "owners", "supply"],
  project: [
    ...["slug", "name", "category", "country", "description", "logo_url", "website_url"],
    "ledger_id",
  ],
} as const;

/**
 * Reads a type as people write it: `event` or `events`.
 *
 * @throws TerminalError `INVALID_REQUEST`
 */
export function readRecordType(text: string): RecordType {
  const type = recordTypes.find((known) => text === known || text === `${known}s`);
  if (type !== undefined) return type;
  throw badField("TYPE", `TYPE must be one of ${recordTypes.join(", ")}`);
}
