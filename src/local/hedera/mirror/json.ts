import { randomUUID } from "node:crypto";

/** Unguessable, so that no text of a message can pass for a number. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/** JSON in which bigints are plain numbers: the mirror node writes int64 so, whatever their size. */
export function toJson(body: unknown): string {
  const text = JSON.stringify(body, (_, value) =>
    typeof value === "bigint" ? `${MARK}${value}` : value,
  );
  return text.replace(MARKED, "$1");
}

/** An int64 as Postgres gave it, as text; null stays null. */
export function int64(text: string): bigint;
export function int64(text: string | null): bigint | null;
export function int64(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
