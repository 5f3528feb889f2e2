import { isDeepStrictEqual } from "node:util";
import type { ForeverMintState } from "../../actors/forever-mint.ts";
import { walletDayVersion } from "../../actors/wallet-day.ts";
import { claimsOfEventDay, foldEventDay, totalsOfEvent } from "../journal/event-history.ts";
import { compareMint, stateOf } from "../journal/fold-mint.ts";
import { readLiveMint, readMintNow } from "../journal/live-mint.ts";
import { loadWalletDays, type WalletDayKey } from "../journal/load.ts";
import { readMintStamp } from "../journal/mint-stamp.ts";
import type { Sql } from "../store/postgres.ts";
import { type ActorName, formatActorName } from "./actor-name.ts";
import { foldWalletDay } from "./host.ts";
import type { MintSnapshots } from "./mint-snapshots.ts";
import type { Snapshots } from "./snapshots.ts";

/** An actor as it is shown (contract, section 7). */
export interface ShownActor {
  readonly id: string;
  readonly state: string;
  readonly context: unknown;
  /** How many stars it has accepted or counted. */
  readonly version: number;
  /** `snapshot`: at rest in Redis; `projection`: the live claims; `journal`: folded just now. */
  readonly source: "snapshot" | "projection" | "journal";
}

/** What a replay found. */
export interface Replay {
  readonly id: string;
  /** Whether the fold of the journal equals what is live. */
  readonly equal: boolean;
  /** One line for each difference, 20 at most. */
  readonly differences: readonly string[];
  /** The actor as the journal makes it. */
  readonly replayed: Pick<ShownActor, "state" | "context" | "version">;
}

export interface InspectDeps {
  readonly sql: Sql;
  /** Null for whoever asks the journal alone: nothing is read there, nor put there for others. */
  readonly snapshots: Snapshots | null;
  readonly mintSnapshots: MintSnapshots | null;
}

/**
 * Shows an actor as it is now. An actor exists when named: one that nothing has happened to is
 * shown in its first state.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function showActor(deps: InspectDeps, name: ActorName): Promise<ShownActor> {
  const id = formatActorName(name);
  if (name.type === "wallet-day") {
    const snapshot = (await deps.snapshots?.read(name)) ?? null;
    const { value, context } = snapshot ?? (await foldWallet(deps.sql, name));
    const version = context.stars.length;
    return { id, state: value, context, version, source: snapshot ? "snapshot" : "journal" };
  }
  if (name.type === "event-day") {
    const { state } = await foldEventDay(deps.sql, name);
    const { value, context } = state;
    return { id, state: value, context, version: context.stars, source: "journal" };
  }
  return showMint(deps, id, name.event);
}

/**
 * Weight up to which a mint is shown from its snapshot; it has no more attributions than weight.
 * Redis gives a snapshot in one piece, which keeps the process from voters for 10 ms for each
 * 1,000 attributions; the live claims come in pieces, and sooner.
 */
const SNAPSHOT_SHOWN_MAX = 3_000;

/** From its snapshot where that has the mint's own stamp, else from the live claims. */
async function showMint(
  { sql, mintSnapshots }: InspectDeps,
  id: string,
  mint: string,
): Promise<ShownActor> {
  if (mintSnapshots === null) return shownMint(id, await readMintNow(sql, mint), "projection");
  const stamp = await readMintStamp(sql, mint);
  if (stamp.weight > SNAPSHOT_SHOWN_MAX) {
    return shownMint(id, await readMintNow(sql, mint), "projection");
  }
  const snapshot = await mintSnapshots.read(mint, stamp);
  if (snapshot !== null) return shownMint(id, stateOf(mint, snapshot), "snapshot");
  const { live } = await readLiveMint(sql, mint);
  await mintSnapshots.replace(mint, live, stamp.release);
  return shownMint(id, stateOf(mint, live), "projection");
}

function shownMint(
  id: string,
  { value, context }: ForeverMintState,
  source: ShownActor["source"],
): ShownActor {
  return { id, state: value, context, version: context.stars, source };
}

/**
 * Rebuilds an actor from the journal and holds it against what is live: a wallet-day against
 * its snapshot, an event's actor against its claims and its total.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function replayActor(deps: InspectDeps, name: ActorName): Promise<Replay> {
  const id = formatActorName(name);
  if (name.type === "wallet-day") return replayWalletDay(deps, id, name);
  if (name.type === "event-day") return replayEventDay(deps, id, name);
  return replayMint(deps, id, name.event);
}

async function replayMint(deps: InspectDeps, id: string, mint: string): Promise<Replay> {
  const { release } = await readMintStamp(deps.sql, mint);
  const { folded, live, differences } = await compareMint(deps.sql, mint);
  const snapshot = (await deps.mintSnapshots?.read(mint, { ...live, release })) ?? null;
  const all =
    snapshot === null || isDeepStrictEqual(stateOf(mint, snapshot), stateOf(mint, live))
      ? differences
      : [...differences, "the snapshot has the mint's stamp and other attributions"];
  const { value, context } = stateOf(mint, folded);
  const replayed = { state: value, context, version: context.stars };
  return { id, equal: all.length === 0, differences: all, replayed };
}

async function foldWallet(sql: Sql, key: WalletDayKey) {
  const [facts] = await loadWalletDays(sql, [key]);
  return foldWalletDay(key, facts ?? { stars: [], passes: [] });
}

async function replayWalletDay(
  { sql, snapshots }: InspectDeps,
  id: string,
  key: WalletDayKey,
): Promise<Replay> {
  // The snapshot first: a star accepted in between is then in the journal only.
  const snapshot = (await snapshots?.read(key)) ?? null;
  const state = await foldWallet(sql, key);
  const version = walletDayVersion(state);
  const differences =
    snapshot === null || isDeepStrictEqual(snapshot, state)
      ? []
      : [
          `the snapshot is ${snapshot.value} with ${walletDayVersion(snapshot)} stars, ` +
            `the journal makes it ${state.value} with ${version}`,
        ];
  return {
    id,
    equal: differences.length === 0,
    differences,
    replayed: { state: state.value, context: state.context, version },
  };
}

/** Differences are shown, not poured out. */
const SHOWN_MAX = 20;

async function replayEventDay(
  { sql }: InspectDeps,
  id: string,
  key: { readonly event: string; readonly day: string },
): Promise<Replay> {
  const claims = await claimsOfEventDay(sql, key);
  const { state, contradiction } = await foldEventDay(sql, key);
  const { stored, summed } = await totalsOfEvent(sql, key.event);
  const { counted, stars } = state.context;
  const differences = [
    ...(contradiction === null ? [] : [contradiction]),
    ...differencesIn("A", counted.A, claims.A),
    ...differencesIn("B", counted.B, claims.B),
    ...(stored === summed ? [] : [`the event's total is ${stored}, its stars add up to ${summed}`]),
  ];
  return {
    id,
    equal: differences.length === 0,
    differences: differences.slice(0, SHOWN_MAX),
    replayed: { state: state.value, context: state.context, version: stars },
  };
}

function differencesIn(
  collection: "A" | "B",
  folded: Readonly<Record<number, string>>,
  live: Readonly<Record<number, string>>,
): string[] {
  const serials = new Set([...Object.keys(folded), ...Object.keys(live)].map(Number));
  return [...serials]
    .filter((serial) => folded[serial] !== live[serial])
    .map(
      (serial) =>
        `${collection} ${serial}: the journal counts it for ${folded[serial] ?? "nobody"}, ` +
        `the claims for ${live[serial] ?? "nobody"}`,
    );
}
