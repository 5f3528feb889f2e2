import type { TargetRow } from "./journal/tables.ts";

/** What every world has: topics, collections, and things to star. */
export const TOPICS = { event: "0.0.7001", asset: "0.0.7002" } as const;
export const COLLECTIONS = { A: "0.0.5001", B: "0.0.5002" } as const;
/** Twenty seconds before a midnight, a day before a leap day. */
export const BEGINNING = Date.parse("2028-02-27T23:59:40Z");
export const DAY_MS = 86_400_000;

const asset = { eventKind: null, ledgerId: null };
const event = (eventKind: NonNullable<TargetRow["eventKind"]>) => ({ eventKind, ledgerId: null });

/** What can be starred, by type and id. */
export const TARGETS: ReadonlyMap<string, TargetRow> = new Map<string, TargetRow>([
  ["event/forever", event("FOREVER_MINT")],
  ["event/evermore", event("FOREVER_MINT")],
  ["event/drop", event("MINT_EVENT")],
  ["event/hackathon", event("HACKATHON")],
  ["event/meetup", event("ECOSYSTEM_MEETUP")],
  ["event/other", event("OTHER")],
  ["token/0.0.9001", asset],
  ["token/0.0.9002", asset],
  ["token/0.0.9003", asset],
  ["collection/0.0.8001", asset],
  ["collection/0.0.8002", asset],
  // The same id as an event: what is starred is named by its type, too.
  ["project/drop", asset],
  ["project/exchange", { eventKind: null, ledgerId: "0.0.9100" }],
]);
export const TARGET_KEYS = [...TARGETS.keys()];

/** The session of a wallet. */
export function tokenOf(wallet: number): string {
  return `token of ${wallet}`;
}
