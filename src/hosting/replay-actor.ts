import { isDeepStrictEqual } from "node:util";
import type { WalletDayInput as WalletDayKey } from "../../actors/wallet-day.ts";
import type { EventDayKey, EventTables } from "../../actors/whole.ts";
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

/**
 * Rebuilds an actor from the journal and compares it with what is live: a wallet-day with its
 * snapshot, an event's actor with its claims and its total.
 *
 * @throws TerminalError `NOT_FOUND` where the event is of the other kind
 */
export async function replayActor(sql: Sql, resting: Resting, name: ActorName): Promise<Replay> {
  const id = formatActorName(name);
  await refuseOtherKind(sql, name);
  if (name.type === "wallet-day") return replayWalletDay(sql, resting, { id, key: name });
  if (name.type === "event-day") return replayEventDay(sql, id, name);
  const { tables, rules, differences } = await replayedMint(sql, resting, name.event);
  const replayed = shownMint(name.event, tables);
  return { id, equal: differences.length === 0, differences, rules: [...rules].sort(), replayed };
}

async function replayedMint(sql: Sql, resting: Resting, mint: string) {
  const snapshot = await findMintSnapshot(sql, resting, mint);
  const compared = await compareMint(sql, mint);
  if (snapshot === null) return compared;
  await foldMint(
    mint,
    snapshot.tables,
    readMintHistory(sql, mint, { after: snapshot.seq, upTo: compared.upTo }),
  );
  if (isDeepStrictEqual(snapshot.tables, compared.tables)) return compared;
  const difference = "the snapshot and what happened since make another mint";
  return { ...compared, differences: [...compared.differences, difference] };
}

async function replayWalletDay(
  sql: Sql,
  { snapshots }: Resting,
  { id, key }: { readonly id: string; readonly key: WalletDayKey },
): Promise<Replay> {
  const state = await foldWallet(sql, key);
  const { stars } = state.context;
  const version = { used: stars.length, lastAt: stars.at(-1)?.at ?? null };
  const rested = (await snapshots?.read(key, version)) ?? null;
  const steps = await walkWalletDay(sql, key);
  const rules = [...new Set(steps.map((step) => step.rules))].sort();
  const differences = steps.flatMap(({ difference }) => difference ?? []);
  const all =
    rested === null || isDeepStrictEqual(rested, stars)
      ? differences
      : [...differences, `the snapshot has other stars at the journal's version ${stars.length}`];
  const replayed = { state: state.value, context: state.context, version: stars.length };
  return { id, equal: all.length === 0, differences: all, rules, replayed };
}

/** A few differences are enough to show. */
const SHOWN_MAX = 20;

async function replayEventDay(sql: Sql, id: string, key: EventDayKey): Promise<Replay> {
  const { tables, rules, contradiction, claims, stored, summed } = await compareEventDay(sql, key);
  const differences = [
    ...(contradiction === null ? [] : [contradiction]),
    ...differencesIn("A", tables.A, claims.A),
    ...differencesIn("B", tables.B, claims.B),
    ...(stored === summed ? [] : [`the event's total is ${stored}, its stars add up to ${summed}`]),
  ];
  return {
    id,
    equal: differences.length === 0,
    differences: differences.slice(0, SHOWN_MAX),
    rules: [...rules].sort(),
    replayed: shownEventDay(key, tables),
  };
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
