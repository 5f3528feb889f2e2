import { isDeepStrictEqual } from "node:util";
import type { EventDayKey } from "../../actors/event-day.ts";
import {
  type DayStar,
  foldWalletDay,
  type WalletDayKey,
  type WalletDayState,
} from "../../actors/wallet-day.ts";
import { type EventTables, eventDayState } from "../../actors/whole.ts";
import { TerminalError } from "../errors.ts";
import { foldEventDay } from "../journal/event-history.ts";
import { foldMint } from "../journal/fold-mint.ts";
import { readLiveMint } from "../journal/live-mint.ts";
import { loadWalletDays } from "../journal/load.ts";
import { endOfMint, lastOfMint, readMintHistory } from "../journal/mint-history.ts";
import { findEvents } from "../reads/console-event.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type ActorName, formatActorName } from "./actor-name.ts";
import type { ActorSource, Host } from "./host.ts";
import type { MintSnapshot, MintSnapshots } from "./mint-snapshots.ts";
import type { Snapshots } from "./snapshots.ts";

/** An actor as it is shown (contract, section 7). */
export interface ShownActor {
  readonly id: string;
  readonly state: string;
  readonly context: unknown;
  /** How many stars it has accepted or counted. */
  readonly version: number;
  /** Where it came from: this process' memory, its snapshot in Redis, the journal and its claims. */
  readonly source: ActorSource;
}

export type ActorState = Pick<ShownActor, "state" | "context" | "version">;

/** Where actors are looked for; what is absent is not asked. */
export interface Resting {
  /** Of a web process: the actors in its memory. */
  readonly host?: Pick<Host, "recall">;
  readonly snapshots?: Pick<Snapshots, "read">;
  readonly mintSnapshots?: MintSnapshots;
}

/**
 * Shows an actor as it is now. An actor exists when named: one that nothing has happened to is
 * shown in its first state. An event has actors of one kind alone.
 *
 * @throws TerminalError `NOT_FOUND` where the event is of the other kind
 */
export async function showActor(sql: Sql, resting: Resting, name: ActorName): Promise<ShownActor> {
  const id = formatActorName(name);
  await refuseOtherKind(sql, name);
  if (name.type === "wallet-day") {
    const { state, source } = await findWalletDay(sql, resting, name);
    const { value, context } = state;
    return { id, state: value, context, version: context.stars.length, source };
  }
  if (name.type === "event-day") {
    return { id, ...shownEventDay(name, await foldEventDay(sql, name)), source: "journal" };
  }
  const { tables, source } = await findMint(sql, resting, name.event);
  return { id, ...shownMint(name.event, tables), source };
}

/**
 * A forever mint has no event-days, and any other event is no mint: such an actor would be made of stars
 * that another one decided, and differ from it.
 *
 * @throws TerminalError `NOT_FOUND` where the event is of the other kind
 */
export async function refuseOtherKind(sql: Sql, name: ActorName): Promise<void> {
  if (name.type === "wallet-day") return;
  const event = (await findEvents(sql, [name.event])).get(name.event);
  if (event === undefined || event.isForeverMint === (name.type === "forever-mint")) return;
  const flaw = event.isForeverMint
    ? `is a forever mint: its actor is forever-mint/${name.event}`
    : `is no forever mint: its actors are event-day/${name.event}/DAY`;
  throw new TerminalError("NOT_FOUND", `${name.event} ${flaw}`);
}

/** The wallet's day at the journal's version: from memory, from its snapshot, else folded. */
async function findWalletDay(
  sql: Sql,
  resting: Resting,
  key: WalletDayKey,
): Promise<{ readonly state: WalletDayState; readonly source: ActorSource }> {
  const folded = await foldWallet(sql, key);
  const { stars, seasonId } = folded.context;
  const remembered = resting.host?.recall(key)?.state;
  if (remembered !== undefined && isDeepStrictEqual(remembered, folded)) {
    return { state: remembered, source: "memory" };
  }
  const rested = await readRested(resting, key, stars);
  if (rested === null) return { state: folded, source: "journal" };
  return { state: foldWalletDay(key, rested, seasonId), source: "snapshot" };
}

/** The day's stars as its snapshot has them at the version of the journal's; null without one. */
export async function readRested(
  { snapshots }: Resting,
  key: WalletDayKey,
  stars: readonly DayStar[],
): Promise<readonly DayStar[] | null> {
  const last = stars.at(-1);
  if (snapshots === undefined || last === undefined) return null;
  return snapshots.read(key, { used: stars.length, lastAt: last.at });
}

/** Most stars folded on top of a snapshot. Beyond it, reading the live claims is faster, and makes a new one. */
const FOLDED_MAX = 1_000;

/** The mint from its snapshot and what happened since, else from its live claims. */
async function findMint(
  sql: Sql,
  resting: Resting,
  mint: string,
): Promise<{ readonly tables: EventTables; readonly source: ActorSource }> {
  const snapshot = await findMintSnapshot(sql, resting, mint);
  const { stars, weight, upTo: end } = await readMintVersion(sql, mint);
  if (snapshot !== null && stars - snapshot.tables.stars <= FOLDED_MAX) {
    const { tables, seq } = snapshot;
    await foldMint(mint, tables, readMintHistory(sql, mint, { after: seq, upTo: end }));
    if (tables.stars === stars && tables.weight === weight) return { tables, source: "snapshot" };
  }
  const { live, upTo, last } = await readLiveMint(sql, mint);
  await resting.mintSnapshots?.write(mint, { seq: upTo, last, tables: live });
  return { tables: live, source: "journal" };
}

/** The mint's snapshot, where it is of this journal: an older copy and a recovery make another history. */
export async function findMintSnapshot(
  sql: Sql,
  { mintSnapshots }: Resting,
  mint: string,
): Promise<MintSnapshot | null> {
  const snapshot = (await mintSnapshots?.read(mint)) ?? null;
  if (snapshot === null) return null;
  const { seq, last, tables } = snapshot;
  const [row] = await runStatement(sql<[{ stars: number; last: string }]>`
    select count(*) as stars, ${lastOfMint(sql, mint, seq)} as last
    from mint_star where event_id = ${mint} and seq <= ${seq}`);
  return row.stars === tables.stars && row.last === last ? snapshot : null;
}

/** Enough to see whether a copy of a mint is up to date, and where its history ends then. */
async function readMintVersion(sql: Sql, mint: string) {
  const [row] = await runStatement(sql<{ stars: number; weight: number; upTo: number }[]>`
    select stars, weight, ${endOfMint(sql, mint)} as "upTo" from event_total where event_id = ${mint}`);
  return row ?? { stars: 0, weight: 0, upTo: 0 };
}

/** An event's day as it is shown: of what has counted, each serial's wallet alone. */
export function shownEventDay(key: EventDayKey, tables: EventTables): ActorState {
  const { value, context } = eventDayState(key, tables);
  const counted = holdersOf(tables);
  return { state: value, context: { ...context, counted }, version: tables.stars };
}

/** A mint as it is shown: each wallet's state, and of what counts each serial's wallet alone. */
export function shownMint(event: string, tables: EventTables): ActorState {
  const { weight, stars } = tables;
  const wallets = Object.fromEntries(
    [...tables.wallets].map(([wallet, { value, context }]) => [
      wallet,
      { state: value, votedOn: context.votedOn },
    ]),
  );
  const context = { event, weight, stars, wallets, counted: holdersOf(tables) };
  return { state: "collecting", context, version: stars };
}

function holdersOf(tables: EventTables): Record<"A" | "B", Record<number, string>> {
  const of = (counted: EventTables["A"]) =>
    Object.fromEntries([...counted].map(([serial, { wallet }]) => [serial, wallet]));
  return { A: of(tables.A), B: of(tables.B) };
}

/** The wallet's day as the journal makes it, under the pass in force. */
export async function foldWallet(sql: Sql, key: WalletDayKey): Promise<WalletDayState> {
  const [facts] = await loadWalletDays(sql, [{ ...key, notBefore: 0 }]);
  return foldWalletDay(key, facts?.stars ?? [], facts?.seasonId ?? null);
}
