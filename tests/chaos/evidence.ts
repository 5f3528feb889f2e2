import { readFileSync } from "node:fs";
import type { Sql } from "postgres";

/**
 * What the checker judges by, and how it is read: the clients' own history, the tables of the
 * journal, and the topics as the mirror node shows them. This file and `check.ts` import nothing of
 * the product.
 */
export interface Evidence {
  readonly history: readonly HistoryLine[];
  readonly journal: Journal;
  readonly topics: Readonly<Record<TopicKind, readonly string[]>>;
}

export type TopicKind = "event" | "asset";

/**
 * A line of the history. A call is one star that a client wants, named by its Idempotency-Key; it
 * makes one attempt or several, and each of them ends in one way.
 */
export type HistoryLine = Invoke | Acknowledged | Failed | Unknown | Restored;

export interface Invoke {
  readonly is: "invoke";
  readonly attempt: string;
  readonly key: string;
  readonly wallet: string;
  /** `type/id`. */
  readonly target: string;
}

/** A 201. */
export interface Acknowledged {
  readonly is: "ok";
  readonly attempt: string;
  readonly star: string;
  readonly day: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly weight: number;
  /** SHA-256 of the reply. */
  readonly body: string;
}

/** A refusal that spends nothing. */
export interface Failed {
  readonly is: "fail";
  readonly attempt: string;
  readonly status: number;
  readonly code: string;
}

/** No answer, or a 503: the star may stand in the journal or not. */
export interface Unknown {
  readonly is: "unknown";
  readonly attempt: string;
  readonly why: string;
}

/** The journal went back to an older dump; these stars of it had no message on a topic yet. */
export interface Restored {
  readonly is: "restore";
  readonly unpublished: readonly string[];
}

/** The journal's tables. Instants are epoch milliseconds. */
export interface Journal {
  readonly stars: readonly StarRow[];
  readonly outbox: readonly OutboxRow[];
  readonly events: ReadonlyMap<string, { readonly kind: string; readonly isForeverMint: boolean }>;
  /** Of projects, where they have one. */
  readonly ledgerIds: ReadonlyMap<string, string>;
  readonly passes: readonly {
    readonly wallet: number;
    readonly from: number;
    readonly to: number;
  }[];
  /** Claims that the daily check ended. */
  readonly releases: readonly {
    readonly event: string;
    readonly collection: "A" | "B";
    readonly serial: number;
    readonly weight: number;
    readonly spare: number | null;
  }[];
  readonly totals: readonly { readonly item: string; readonly weight: number }[];
  readonly keys: readonly { readonly key: string; readonly star: string }[];
}

export interface StarRow {
  readonly id: string;
  readonly wallet: number;
  readonly slot: number;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly at: number;
  readonly type: string;
  readonly target: string;
  readonly votingPower: number;
  readonly weight: number;
  readonly heldA: readonly number[];
  readonly heldB: readonly number[];
  readonly claimedA: readonly number[];
  readonly claimedB: number | null;
  /** Set aside by a recovery: the item was starred twice. */
  readonly isConflict: boolean;
}

export interface OutboxRow {
  readonly star: string;
  readonly topic: TopicKind;
  readonly message: string;
  readonly state: string;
  readonly sequence: number | null;
}

/** Reads a history; a line that breaks off at the end was never written. */
export function readHistory(file: string): readonly HistoryLine[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as HistoryLine);
}

/** Reads the journal; `sql` gives bigints as numbers and dates as text. */
export async function readJournal(sql: Sql<{ bigint: number; date: string }>): Promise<Journal> {
  const columns = sql`id, wallet, slot, day, at, target_type as type, target_id as target,
    voting_power as "votingPower", weight, held_a as "heldA", held_b as "heldB",
    claimed_a as "claimedA", claimed_b as "claimedB"`;
  const events = await sql<{ id: string; kind: string; mint: boolean }[]>`
    select id, event_type as kind, is_forever_mint as mint from event`;
  const projects = await sql<{ id: string; ledger: string }[]>`
    select id, ledger_id as ledger from project where ledger_id is not null`;
  return {
    stars: await sql<StarRow[]>`
      select ${columns}, false as "isConflict" from star
      union all select ${columns}, true from star_conflict`,
    outbox: await sql<OutboxRow[]>`
      select star_id as star, topic, message, state, sequence_number as sequence from outbox`,
    events: new Map(events.map(({ id, kind, mint }) => [id, { kind, isForeverMint: mint }])),
    ledgerIds: new Map(projects.map(({ id, ledger }) => [id, ledger])),
    passes: await sql<Journal["passes"][number][]>`
      select wallet, starts_at as from, ends_at as to from premium_pass
      join season on season.id = season_id`,
    releases: await sql<Journal["releases"][number][]>`
      select event_id as event, collection, serial, weight, spare from claim_release`,
    totals: await sql<Journal["totals"][number][]>`
      select 'event/' || event_id as item, weight from event_total
      union all select concat_ws('/', target_type, target_id, day), weight from item_day`,
    keys: await sql<Journal["keys"][number][]>`
      select key, star_id as star from idempotency_key`,
  };
}

/** All messages of a topic, in their order, read from a mirror node. */
export async function readTopic(mirrorUrl: string, topic: string): Promise<readonly string[]> {
  const texts: string[] = [];
  for (;;) {
    const url = `${mirrorUrl}/api/v1/topics/${topic}/messages?limit=100&sequencenumber=gte:${texts.length + 1}`;
    const { messages } = (await (await fetch(url)).json()) as {
      messages: readonly { sequence_number: number; message: string }[];
    };
    if (messages.length === 0) return texts;
    for (const { sequence_number: sequence, message } of messages) {
      if (sequence !== texts.length + 1) throw new Error(`${topic}: a gap before #${sequence}`);
      texts.push(Buffer.from(message, "base64").toString());
    }
  }
}
