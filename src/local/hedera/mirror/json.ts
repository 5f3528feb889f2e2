import { randomUUID } from "node:crypto";

/** Unguessable, so that no text of a message can pass for a number. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/** JSON in which bigints are plain numbers: the mirror node writes int64 so, of any size. */
export function toJson(body: unknown): string {
  const text = JSON.stringify(body, (_, value) =>
    typeof value === "bigint" ? `${MARK}${value}` : value,
  );
  return text.replace(MARKED, "$1");
}
