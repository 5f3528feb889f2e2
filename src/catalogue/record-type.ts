import { TerminalError } from "../errors.ts";

/** What the directory holds; each type is a table of the same name. */
export const recordTypes = ["event", "token", "collection", "project"] as const;
export type RecordType = (typeof recordTypes)[number];

/**
 * Reads a type as people write it: `event` or `events`.
 *
 * @throws TerminalError `INVALID_REQUEST`
 */
export function readRecordType(text: string): RecordType {
  const type = recordTypes.find((known) => text === known || text === `${known}s`);
  if (type !== undefined) return type;
  throw new TerminalError("INVALID_REQUEST", `TYPE must be one of ${recordTypes.join(", ")}`, {
    field: "TYPE",
  });
}
