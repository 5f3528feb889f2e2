import type { Day } from "../../actors/day.ts";
import type { CollectionKeys, StarMessage } from "../publishing/message.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import type { Reading } from "./counters.ts";
import type { ExportSource } from "./export-source.ts";
import type { KnownMessages } from "./known-messages.ts";
import type { Ownerships } from "./ownership.ts";

export interface Standards {
  readonly mirror: AuditMirror;
  readonly collections: { readonly a: string; readonly b: string };
  readonly keys: CollectionKeys;
  /** Only stars of this day are judged, and what came before it is not known; null: all. */
  readonly day: Day | null;
  /** Oldest day first. */
  readonly exports: { readonly source: ExportSource; readonly days: readonly Day[] } | null;
  /** A message may follow its star by this much. */
  readonly lateMs: number;
  /** Where to go on from, and to leave off; null: nowhere. */
  readonly stateFile: string | null;
}

/** What messages, days and exports are judged by, besides what came before them. */
export interface Judge extends Standards {
  /** What each topic is for. */
  readonly kinds: ReadonlyMap<string, StarMessage["type"]>;
  readonly excluded: ReadonlySet<string>;
  readonly ownerships: Ownerships;
  /** When the reading of the NFTs began, epoch milliseconds: what came later the next audit judges. */
  readonly ownedAt: number;
  readonly reading: Reading;
  /** Messages that the exports set apart: they are listed and never count. */
  readonly known: KnownMessages;
}
