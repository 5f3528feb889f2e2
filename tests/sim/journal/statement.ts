import type { EndRow, StarRow, Tables } from "./tables.ts";

/** The journal in memory: tables, the database's clock, and who it is. */
export interface Journal {
  tables: Tables;
  /** The database's clock, epoch milliseconds. */
  readonly now: () => number;
  /** What `database_identity()` says. */
  identity: string;
  readonly newUuid: () => string;
  /** Called with each star that comes to stand, inside its commit. */
  onStored?: (star: StarRow, commit: Commit) => void;
  /** Called with claims of a mint that end together, inside the commit and before its star. */
  onEnded?: (mint: string, ended: readonly EndRow[]) => void;
}

/** What was true when a star came to stand. */
export interface Commit {
  /** Its counter after all of the batch. */
  readonly total: number;
  /** The passes that the statement saw. */
  readonly passes: Tables["passes"];
  readonly today: string;
}

export type Rows = readonly object[];

/** A statement of src, and what it does to the tables. */
export interface Statement {
  readonly name: string;
  /** What stands in this statement's text and in no other's. */
  readonly phrase: string;
  /** The phrase is the whole text. */
  readonly isWhole?: boolean;
  /**
   * Takes the statement's snapshot; the function that it returns writes and answers.
   *
   * @throws StatementError
   */
  readonly run: (given: readonly unknown[], journal: Journal) => () => Rows;
}
