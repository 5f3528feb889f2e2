import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Day } from "../../actors/day.ts";
import type { CollectionKeys, StarMessage } from "../publishing/message.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import { type Counters, noCounters, type Reading } from "./counters.ts";
import type { DayBook } from "./day-book.ts";
import { type EventAccounts, noEventAccounts } from "./event-accounts.ts";
import type { ExportSource } from "./export-source.ts";
import type { KnownMessages } from "./known-messages.ts";
import type { MintHappening } from "./mint-order.ts";
import type { Ownerships } from "./ownership.ts";
import type { ExportChain } from "./read-export.ts";
import type { Margins } from "./rebuild-weights.ts";
import { type Findings, noFindings } from "./report.ts";
import { startOfChain, type TopicChain } from "./topic-chain.ts";

/**
 * All that an audit has to remember between one message and the next; plain data, so that a
 * checkpoint is this and nothing else. Its size depends on the items, events and wallets there
 * are, on the NFTs counted on forever mints and on the stars of the days still open, not on how
 * many messages came before.
 */
export interface AuditState {
  readonly chains: TopicChain[];
  readonly counters: Counters;
  /** Days for which messages may still come. */
  readonly books: Map<Day, DayBook>;
  closedThrough: Day | null;
  readonly accounts: EventAccounts;
  /** The last facts of each forever mint: the next day's export may still place one before them. */
  readonly mints: Map<string, MintHappening[]>;
  /** Whether an event's first star was one for a forever mint: it stays what it is. */
  readonly foreverMints: Map<string, boolean>;
  /** A project by what messages call it: `project/0.0.n` → `project/id`. */
  readonly aliases: Map<string, string>;
  exportChain: ExportChain | null;
  /** False when the exports do not begin with the journal's first day. */
  hasAllExports: boolean;
  /** Wallets that have starred, and whether the mirror node knows them. */
  readonly wallets: Map<string, boolean>;
  /** Instant of the first message's star, epoch milliseconds. */
  firstAt: number | null;
  readonly checked: Checked;
  readonly margins: Margins;
  readonly findings: Findings;
}

export type Checked = { [Name in keyof typeof NOTHING]: number };

const NOTHING = {
  messages: 0,
  eventStars: 0,
  assetStars: 0,
  days: 0,
  exports: 0,
  exportedStars: 0,
  /** Stars whose messages were not there yet. */
  pendingStars: 0,
  /** Wallet-days with more stars than a wallet without a pass has: only an export shows the pass. */
  beyondFree: 0,
};

export function newAuditState(topics: readonly string[]): AuditState {
  return {
    chains: topics.map(startOfChain),
    counters: noCounters(),
    books: new Map(),
    closedThrough: null,
    accounts: noEventAccounts(),
    mints: new Map(),
    foreverMints: new Map(),
    aliases: new Map(),
    exportChain: null,
    hasAllExports: true,
    wallets: new Map(),
    firstAt: null,
    checked: { ...NOTHING },
    margins: { exact: 0, needed: 0 },
    findings: noFindings(),
  };
}

/** Raised when the state changes its shape. */
const FORMAT = "starboard-audit-6";

/** Writes the state beside the file and then puts it in its place: a crash leaves the old one. */
export function writeCheckpoint(file: string, identity: object, state: AuditState): void {
  const body = JSON.stringify({ identity, state }, withMaps);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, `${FORMAT} ${digest(body)}\n${body}\n`, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Reads a checkpoint back.
 *
 * @param identity what the audit is about: the checkpoint of anything else is of no use
 * @returns undefined when there is no such file
 * @throws Error in one line when it is damaged or of another audit
 */
export function readCheckpoint(file: string, identity: object): AuditState | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`${file} cannot be read`);
  }
  const [first = "", body = ""] = text.split("\n", 2);
  const [format, checksum] = first.split(" ");
  if (format !== FORMAT) throw new Error(`${file} is no checkpoint of this audit`);
  // The checksum covers every byte, so the content needs no further check.
  if (checksum !== digest(body)) throw new Error(`${file} is damaged`);
  const kept = JSON.parse(body, intoMaps) as { identity: object; state: AuditState };
  if (JSON.stringify(kept.identity) !== JSON.stringify(identity)) {
    throw new Error(`${file} is the checkpoint of an audit with other settings`);
  }
  return kept.state;
}

function digest(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

function withMaps(_: string, value: unknown): unknown {
  return value instanceof Map ? { $map: [...value] } : value;
}

function intoMaps(_: string, value: unknown): unknown {
  const isMap = typeof value === "object" && value !== null && "$map" in value;
  return isMap ? new Map(value.$map as [unknown, unknown][]) : value;
}

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
