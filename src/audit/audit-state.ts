import type { Day } from "../../actors/day.ts";
import { type Counters, noCounters } from "./counters.ts";
import type { DayBook } from "./day-book.ts";
import { type EventAccounts, noEventAccounts } from "./event-accounts.ts";
import type { MintHappening } from "./mint-order.ts";
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
