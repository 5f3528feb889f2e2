import type { EventKind, TargetType } from "../../../actors/content.ts";

/** A star as `cast_stars` is given it and the journal keeps it (src/journal/star-record.ts). */
export interface StarRow {
  readonly id: string;
  readonly day: string;
  readonly wallet: number;
  readonly slot: number;
  readonly at: number;
  readonly target_type: TargetType;
  readonly target_id: string;
  readonly is_forever_mint: boolean;
  readonly voting_power: number;
  readonly weight: number;
  readonly follows: string | null;
  readonly base: number;
  readonly counted_a: number;
  readonly bonus_b: number;
  readonly held_a: readonly number[];
  readonly held_b: readonly number[];
  readonly holdings_read_at: number;
  readonly claimed_a: readonly number[];
  readonly claimed_b: number | null;
  readonly allowance_limit: number;
  readonly season_id: string | null;
  readonly releases: number | null;
  readonly not_after: number;
  readonly topic: "event" | "asset";
  readonly message: string;
  readonly idempotency?: {
    readonly key: string;
    readonly request_hash: string;
    readonly reply_head: string;
    readonly reply_tail: string;
  };
}

export interface KeyRow {
  readonly requestHash: string;
  readonly starId: string;
  readonly reply: string;
}

export interface OutboxRow {
  readonly starId: string;
  readonly topic: "event" | "asset";
  readonly message: string;
  readonly state: "pending" | "reserved" | "signed" | "sent" | "published";
  readonly topicId: string | null;
  readonly transactionId: string | null;
  readonly sequenceNumber: number | null;
  readonly consensusTimestamp: string | null;
  readonly runningHash: string | null;
  readonly leaseOwner: string | null;
  readonly leaseUntil: number;
  readonly tries: number;
  readonly nextTryAt: number;
}

export interface AttemptRow {
  readonly starId: string;
  readonly attempt: number;
  readonly topicId: string;
  readonly payer: string;
  readonly validStart: bigint;
  readonly transactionId: string;
  readonly signedBytes: Buffer | null;
  readonly validUntil: bigint | null;
  readonly sends: number;
  readonly refusals: number;
  readonly receiptStatus: string | null;
  readonly receiptSequence: number | null;
  readonly receiptHash: string | null;
  readonly absenceRounds: number;
  readonly absenceAt: number;
  /** Null while the attempt is open. */
  readonly outcome: string | null;
}

export interface ReadingRow {
  readonly sequenceNumber: number;
  readonly runningHash: string | null;
}

export interface FindingRow {
  readonly kind: string;
  readonly isOpen: boolean;
}

export interface TargetRow {
  /** Of events; a forever mint is one of kind `FOREVER_MINT`. */
  readonly eventKind: EventKind | null;
  readonly ledgerId: string | null;
}

/** A live claim: whose star counts a serial. */
export interface ClaimRow {
  readonly wallet: number;
  readonly starId: string;
  /** Since when it carries the +5 on in the place of a sold one; null where a star brought it. */
  readonly anchoredAt: number | null;
}

/** A claim on a forever mint that ended, and what was seen of its NFT (`claim_ending`). */
export interface EndRow {
  readonly collection: "A" | "B";
  readonly serial: number;
  readonly wallet: number;
  readonly star_id: string;
  readonly weight: number;
  readonly spare: number | null;
  readonly held_b: readonly number[];
  readonly counted_b: readonly number[];
  readonly listed_at: number;
}

export interface RunRow {
  readonly day: string;
  readonly state: "skipped" | "running" | "done" | "incomplete";
  readonly startedAt: number;
  readonly passes: number;
  readonly leaseOwner: string | null;
  readonly leaseUntil: number;
  readonly nextTryAt: number;
}

export interface ProgressRow {
  readonly kept: number;
  readonly deferred: readonly object[];
}

export interface Total {
  readonly weight: number;
  readonly stars: number;
  readonly releases: number;
}

/**
 * The rows of the journal that voting and publishing use, and the unique keys of migrations/ as the
 * maps' keys. A row is replaced and never changed, so that a copy of the maps is a dump.
 */
export class Tables {
  sessions = new Map<string, number>();
  targets = new Map<string, TargetRow>();
  seasons = new Map<string, { readonly startsAt: number; readonly endsAt: number }>();
  /** Seasons by wallet. */
  passes: ReadonlyMap<number, readonly string[]> = new Map();
  /** Months for which stars have a partition, `YYYY-MM`. */
  partitions = new Set<string>();
  stars = new Map<string, StarRow>();
  /** By wallet and day, in the order of their slots. */
  walletDays = new Map<string, readonly StarRow[]>();
  /** Live claims by event, day (none on mints), collection, serial. */
  claims = new Map<string, ClaimRow>();
  /** On mints, the collection B serial that carries a wallet's bonus. */
  carriers = new Map<string, number>();
  /** Claims that ended, with their mint and which of its releases that was. */
  ends = new Map<EndRow, { readonly mint: string; readonly release: number }>();
  /** Scheduled runs of the daily check, by id. */
  runs = new Map<string, RunRow>();
  /** How far a run is with a mint, by both ids. */
  progress = new Map<string, ProgressRow>();
  eventTotals = new Map<string, Total>();
  itemDays = new Map<string, Total>();
  keys = new Map<string, KeyRow>();
  outbox = new Map<string, OutboxRow>();
  /** What is not published of the outbox. */
  waiting = new Map<string, OutboxRow>();
  /** Star ids by the millisecond in them. */
  byInstant = new Map<number, readonly string[]>();
  /** Published stars by topic and sequence number. */
  places = new Map<string, string>();
  attempts = new Map<string, AttemptRow>();
  /** The open attempt's transaction id, by star. */
  open = new Map<string, string>();
  attemptCounts = new Map<string, number>();
  /** By payer, ascending. */
  validStarts = new Map<string, readonly bigint[]>();
  readings = new Map<string, ReadingRow>();
  findings = new Map<string, FindingRow>();
  epochs = new Map<string, number>();
  home: string | null = null;

  copy(): Tables {
    const copy = new Tables();
    for (const [name, value] of Object.entries(this)) {
      const copied =
        value instanceof Map ? new Map(value) : value instanceof Set ? new Set(value) : value;
      Object.assign(copy, { [name]: copied });
    }
    return copy;
  }

  /** The season of a wallet's pass that is in force at an instant, or null. */
  passInForce(wallet: number | null, instant: number): string | null {
    if (wallet === null) return null;
    const own = this.passes.get(wallet) ?? [];
    const isOn = (id: string): boolean => {
      const season = this.seasons.get(id);
      return season !== undefined && season.startsAt <= instant && instant < season.endsAt;
    };
    return own.find(isOn) ?? null;
  }

  keepOutbox(row: OutboxRow): void {
    if (this.outbox.get(row.starId)?.state === "published") {
      throw new Error(`star ${row.starId} is published`);
    }
    this.outbox.set(row.starId, row);
    if (row.state === "published") {
      this.waiting.delete(row.starId);
      this.places.set(placeKey(row.topicId ?? "", row.sequenceNumber ?? 0), row.starId);
    } else this.waiting.set(row.starId, row);
  }

  keepAttempt(row: AttemptRow): void {
    this.attempts.set(row.transactionId, row);
    if (row.outcome === null) this.open.set(row.starId, row.transactionId);
    else if (this.open.get(row.starId) === row.transactionId) this.open.delete(row.starId);
  }

  openAttempt(starId: string): AttemptRow | undefined {
    const id = this.open.get(starId);
    return id === undefined ? undefined : this.attempts.get(id);
  }
}

/** @throws what `write` throws, with nothing of it written */
export function allOrNothing<T>(tables: Tables, write: () => T): T {
  const before = tables.copy();
  try {
    return write();
  } catch (error) {
    Object.assign(tables, before);
    throw error;
  }
}

export function placeKey(topicId: string, sequence: number): string {
  return `${topicId}#${sequence}`;
}

export function claimKey(
  event: string,
  day: string | null,
  { collection, serial }: { readonly collection: string; readonly serial: number },
): string {
  return `${event}/${day ?? ""}/${collection}/${serial}`;
}

/** What a statement fails with, as postgres.js gives it on. */
export class StatementError extends Error {
  readonly code: string;
  readonly detail: string | undefined;
  readonly constraint_name: string | undefined;

  constructor(code: string, message: string, detail?: string, constraint?: string) {
    super(message);
    this.code = code;
    this.detail = detail;
    this.constraint_name = constraint;
  }
}
