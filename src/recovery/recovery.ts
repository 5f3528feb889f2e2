import type { Day } from "../../actors/day.ts";
import type { ExportSource } from "../audit/export-source.ts";
import { addLine } from "../audit/report.ts";
import type { ExportSettings } from "../journal/export-settings.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { Sql } from "../store/postgres.ts";

export type RecoveryMirror = Pick<
  MirrorNode,
  "messageMemos" | "nftOwners" | "nftTransactions" | "token" | "topic" | "topicMessages"
>;

/** What is recovered, from where, and into which journal. */
export interface Recovery {
  /** As the owner of the schema; the catalogue has been imported. */
  readonly sql: Sql;
  readonly mirror: RecoveryMirror;
  readonly settings: ExportSettings & {
    readonly topics: { readonly event: string; readonly asset: string };
  };
  /** Day exports that somebody kept; null: none. */
  readonly exports: { readonly source: ExportSource; readonly days: readonly Day[] } | null;
  /** Stars of one statement, and of one page that is read. */
  readonly piece: number;
  readonly isDryRun: boolean;
  /** Writes although some stars cannot be proved. */
  readonly accepts: boolean;
  /** `total` is null while it is not known. */
  readonly onProgress: (what: string, done: number, total: number | null) => void;
}

export interface Recovered {
  /** Stars that the journal lacked. */
  readonly recovered: number;
  /** Stars that the journal had, and whose messages it did not know. */
  readonly adopted: number;
  /** Stars that break a rule beside one that was first on the ledger. */
  readonly conflicts: number;
  /** What neither messages, exports nor histories decide, one line each. */
  readonly unprovable: readonly string[];
  /** Lines of exports without a message on the ledger. */
  readonly ignored: readonly string[];
  /** Days that are final with the very bytes of the export given. */
  readonly exact: readonly Day[];
  /** Days that got stars back without their final export: their hash is a new one. */
  readonly renewed: readonly Day[];
  readonly written: boolean;
}

/** What is found on the way; lines are kept once each, and a bounded number of them. */
export class Notes {
  readonly unprovable: string[] = [];
  readonly ignored: string[] = [];

  doubt(line: string): void {
    addLine(this.unprovable, line);
  }

  ignore(line: string): void {
    addLine(this.ignored, line);
  }
}

/** Stars of one statement: some 100 ms, and a few hundred KB. */
export const PIECE = 500;
