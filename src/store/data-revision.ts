/** What the public API shows, by what can change it: `season` is seasons and what is earned in them. */
export type DataKind = "event" | "token" | "collection" | "project" | "season";

/**
 * How often each kind has changed, as one snapshot of the database saw it, and which start of
 * the server counted (see `read_revision` in migrations/). Two equal counts of one kind saw equal data.
 */
export type DataRevision = Readonly<Partial<Record<DataKind | "server", string>>>;

/** Reads what `data_revision()` says. */
export function parseRevision(text: string): DataRevision {
  return JSON.parse(text);
}

/** The part of a revision that concerns some kinds; equal while nothing of them has changed. */
export function revisionOf(revision: DataRevision, kinds: readonly DataKind[]): string {
  return [revision.server, ...kinds.map((kind) => revision[kind])].join("/");
}
