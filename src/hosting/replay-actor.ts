import { isDeepStrictEqual } from "node:util";
import type { EventDayKey } from "../../actors/event-day.ts";
import type { WalletDayKey } from "../../actors/wallet-day.ts";
import type { EventTables } from "../../actors/whole.ts";
import { compareEventDay } from "../journal/event-history.ts";
import { compareMint, foldMint } from "../journal/fold-mint.ts";
import { readMintHistory } from "../journal/mint-history.ts";
import { walkWalletDay } from "../journal/wallet-day-history.ts";
import type { Sql } from "../store/postgres.ts";
import { type ActorName, formatActorName } from "./actor-name.ts";
import {
  type ActorState,
  findMintSnapshot,
  foldWallet,
  type Resting,
  readRested,
  refuseOtherKind,
  shownEventDay,
  shownMint,
} from "./show-actor.ts";

export interface Replay {
  readonly id: string;
  /** Whether the fold of the journal equals what is live. */
  readonly equal: boolean;
  /** One line for each difference, 20 at most. */
  readonly differences: readonly string[];
  /** Versions of the rules that the actor's stars were decided under, ascending. */
  readonly rules: readonly number[];
  /** The actor as the journal makes it. */
  readonly replayed: ActorState;
}

/** A few differences are enough to show. */
const SHOWN_MAX = 20;

/**
 * Rebuilds an actor from the journal and compares it with what is live: a wallet-day with its
 * snapshot, an event's actor with its claims and its total.
 *
 * @throws TerminalError `NOT_FOUND` where the event is of the other kind
 */
export async function replayActor(sql: Sql, resting: Resting, name: ActorName): Promise<Replay> {
  await refuseOtherKind(sql, name);
  const { differences, rules, replayed } = await compare(sql, resting, name);
  return {
    id: formatActorName(name),
    equal: differences.length === 0,
    differences,
    rules: [...rules].sort((one, other) => one - other),
    replayed,
  };
}

interface Compared extends Pick<Replay, "differences" | "replayed"> {
  readonly rules: ReadonlySet<number>;
}

function compare(sql: Sql, resting: Resting, name: ActorName): Promise<Compared> {
  if (name.type === "wallet-day") return replayWalletDay(sql, resting, name);
  return name.type === "event-day"
    ? replayEventDay(sql, name)
    : replayMint(sql, resting, name.event);
}

async function replayMint(sql: Sql, resting: Resting, mint: string): Promise<Compared> {
  const snapshot = await findMintSnapshot(sql, resting, mint);
  const { tables, rules, differences, upTo } = await compareMint(sql, mint);
  const compared = { rules, differences, replayed: shownMint(mint, tables) };
  if (snapshot === null) return compared;
  await foldMint(mint, snapshot.tables, readMintHistory(sql, mint, { after: snapshot.seq, upTo }));
  if (isDeepStrictEqual(snapshot.tables, tables)) return compared;
  const difference = "the snapshot and what happened since make another mint";
  return { ...compared, differences: [...differences, difference] };
}

async function replayWalletDay(sql: Sql, resting: Resting, key: WalletDayKey): Promise<Compared> {
  const { value: state, context } = await foldWallet(sql, key);
  const { stars } = context;
  const rested = await readRested(resting, key, stars);
  const steps = await walkWalletDay(sql, key);
  const differences = steps.flatMap(({ difference }) => difference ?? []);
  if (rested !== null && !isDeepStrictEqual(rested, stars)) {
    differences.push(`the snapshot has other stars at the journal's version ${stars.length}`);
  }
  const rules = new Set(steps.map((step) => step.rules));
  return { differences, rules, replayed: { state, context, version: stars.length } };
}

async function replayEventDay(sql: Sql, key: EventDayKey): Promise<Compared> {
  const { tables, rules, contradiction, claims, stored, summed } = await compareEventDay(sql, key);
  const differences = [
    ...(contradiction === null ? [] : [contradiction]),
    ...differencesIn("A", tables.A, claims.A),
    ...differencesIn("B", tables.B, claims.B),
    ...(stored === summed ? [] : [`the event's total is ${stored}, its stars add up to ${summed}`]),
  ];
  const shown = differences.slice(0, SHOWN_MAX);
  return { differences: shown, rules, replayed: shownEventDay(key, tables) };
}

function differencesIn(
  collection: "A" | "B",
  folded: EventTables["A"],
  live: Readonly<Record<number, string>>,
): string[] {
  return [...new Set([...folded.keys(), ...Object.keys(live).map(Number)])]
    .filter((serial) => folded.get(serial)?.wallet !== live[serial])
    .map(
      (serial) =>
        `${collection} ${serial}: the journal counts it for ${folded.get(serial)?.wallet ?? "none"}, ` +
        `the claims for ${live[serial] ?? "none"}`,
    );
}
