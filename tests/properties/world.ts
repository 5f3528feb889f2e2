import { type Target, targetKey } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import {
  type EventDayState,
  type EventDecision,
  type EventStarred,
  eventDay,
} from "../../actors/event-day.ts";
import { type ForeverMintState, foreverMint, foreverMintCheck } from "../../actors/forever-mint.ts";
import { rulesOn } from "../../actors/rules.ts";
import {
  type DayStar,
  instantOf,
  type WalletDayKey,
  type WalletDayState,
  type WalletDecision,
  walletDay,
} from "../../actors/wallet-day.ts";
import { fullBreakdown, type Holdings, weigh } from "../../actors/weight.ts";
import { type PremiumPass, seasonAt } from "../support/passes.ts";
import type { History, Intent } from "./histories.ts";

/** The rules under test; the properties are also run against broken ones. */
export interface Core {
  readonly walletDay: typeof walletDay;
  readonly eventDay: typeof eventDay;
  readonly foreverMint: typeof foreverMint;
  readonly foreverMintCheck: typeof foreverMintCheck;
  readonly seasonAt: typeof seasonAt;
}

export const realCore: Core = { walletDay, eventDay, foreverMint, foreverMintCheck, seasonAt };

/** An accepted star, as the journal keeps it. */
export interface Row {
  readonly id: string;
  readonly wallet: string;
  readonly day: Day;
  readonly slot: number;
  readonly at: number;
  readonly limit: number;
  readonly seasonId: string | null;
  readonly target: Target;
  readonly holdings: Holdings;
  readonly weight: number;
  /** What the event's actor decided; null where NFTs are not accounted. */
  readonly decision: EventDecision | null;
}

export type EventState = EventDayState | ForeverMintState;

/** What one intent came to. */
export interface Outcome {
  readonly intent: Intent;
  readonly decision: WalletDecision;
  /** Null when refused. */
  readonly row: Row | null;
  /** The event's actor just before, where one was asked. */
  readonly eventBefore: EventState | null;
  readonly walletBefore: WalletDayState;
  readonly walletAfter: WalletDayState;
}

export interface World {
  readonly outcomes: readonly Outcome[];
  readonly rows: readonly Row[];
  /** Actors by their public names. */
  readonly walletDays: Map<string, WalletDayState>;
  readonly events: Map<string, EventState>;
}

/** Plays a history through the machines: one process, nothing races, every actor whole. */
export function play(core: Core, { intents, passes }: History): World {
  const outcomes: Outcome[] = [];
  const rows: Row[] = [];
  const world: World = { outcomes, rows, walletDays: new Map(), events: new Map() };
  for (const [n, intent] of intents.entries()) {
    const id = `star-${n}`;
    const asked = ask(core, world, { ...intent, id, passes: passes[intent.wallet] ?? [] });
    const { decision, walletBefore, walletAfter, day } = asked;
    const outcome = { intent, decision, walletBefore, walletAfter };
    if (decision.type === "refused") {
      outcomes.push({ ...outcome, row: null, eventBefore: null });
      continue;
    }
    world.walletDays.set(`wallet-day/${intent.wallet}/${day}`, walletAfter);
    const { wallet, target, holdings } = intent;
    const { slot, at, limit, seasonId } = decision;
    const star = { id, wallet, day, slot, at, limit, seasonId, target, holdings };
    const { before: eventBefore, decision: counted } = count(core, world, star);
    const weight = counted?.weight ?? weigh(fullBreakdown(holdings, rulesOn(day)));
    const row = { ...star, weight, decision: counted };
    rows.push(row);
    outcomes.push({ ...outcome, row, eventBefore });
  }
  return world;
}

const played = new WeakMap<Core, WeakMap<History, World>>();

/** As `play`; the same histories meet every property, so each is played once per core. */
export function playOnce(core: Core, given: History): World {
  const worlds = played.get(core) ?? new WeakMap<History, World>();
  played.set(core, worlds);
  const world = worlds.get(given) ?? play(core, given);
  worlds.set(given, world);
  return world;
}

/** A day must take the star within this many milliseconds of waiting. */
const WAIT_MS_MAX = 64;

/** Asks the wallet-day actor; when the star's instant slips over midnight, the next one. */
function ask(
  core: Core,
  { walletDays }: World,
  intent: Intent & { readonly id: string; readonly passes: readonly PremiumPass[] },
) {
  const { wallet, target, id } = intent;
  for (let now = intent.now; now <= intent.now + WAIT_MS_MAX; now += 1) {
    const day = dayOf(now);
    const known =
      walletDays.get(`wallet-day/${wallet}/${day}`) ?? core.walletDay.initial({ wallet, day });
    const seasonId = core.seasonAt(instantOf(known.context, now), intent.passes);
    const walletBefore = underPass(core, known, seasonId);
    const decision = core.walletDay.decide(walletBefore, { type: "star", target, now });
    if (decision.type === "accepted") {
      const { at } = decision;
      const fact = { type: "starred", id, target: target.key, at } as const;
      const walletAfter = core.walletDay.evolve(walletBefore, fact);
      return { walletBefore, walletAfter, decision, day };
    }
    if (decision.code !== "OTHER_DAY") {
      return { walletBefore, walletAfter: walletBefore, decision, day };
    }
  }
  throw new Error(`no day takes ${id}`);
}

/** The limit is set before each decision where another pass is in force than before. */
export function underPass(
  core: Core,
  state: WalletDayState,
  seasonId: string | null,
): WalletDayState {
  if (state.context.seasonId === seasonId) return state;
  return core.walletDay.evolve(state, { type: "limitSet", seasonId });
}

/** Decides at the event's actor, where the target has one, and gives it the fact of the star. */
function count(
  core: Core,
  { events }: World,
  star: Omit<Row, "weight" | "decision">,
): { readonly before: EventState | null; readonly decision: EventDecision | null } {
  const actor = eventActor(core, star);
  if (actor === null) return { before: null, decision: null };
  const before = events.get(actor.name) ?? actor.initial();
  const decision = actor.decide(before, star);
  const { weight, claims } = decision;
  events.set(actor.name, actor.evolve(before, starred({ ...star, weight, claims })));
  return { before, decision };
}

function starred({
  id: starId,
  wallet,
  at,
  weight,
  claims,
}: Pick<Row, "id" | "wallet" | "at"> & Pick<EventStarred, "weight" | "claims">): EventStarred {
  return { type: "starred", starId, wallet, at, weight, claims };
}

interface EventActor {
  readonly name: string;
  initial(): EventState;
  decide(state: EventState, star: Pick<Row, "wallet" | "holdings" | "at">): EventDecision;
  evolve(state: EventState, fact: EventStarred): EventState;
}

/** The actor that accounts for a target's NFTs on a day; null where none does. */
export function eventActor(
  core: Core,
  { target, day }: { readonly target: Target; readonly day: Day },
): EventActor | null {
  const { scope } = target.rule;
  const event = target.id;
  if (scope === "none") return null;
  const starOf = ({ wallet, holdings, at }: Pick<Row, "wallet" | "holdings" | "at">) =>
    ({ type: "star", wallet, holdings, at }) as const;
  return scope === "forever-mint"
    ? {
        name: `forever-mint/${event}`,
        initial: () => core.foreverMint.initial({ event }),
        decide: (state, star) => core.foreverMint.decide(state as ForeverMintState, starOf(star)),
        evolve: (state, fact) => core.foreverMint.evolve(state as ForeverMintState, fact),
      }
    : {
        name: `event-day/${event}/${day}`,
        initial: () => core.eventDay.initial({ event, day }),
        decide: (state, star) => core.eventDay.decide(state as EventDayState, starOf(star)),
        evolve: (state, fact) => core.eventDay.evolve(state as EventDayState, fact),
      };
}

/** Folds a wallet's day as the host does: its stars first, the pass in force last. */
export function fold(
  core: Core,
  key: WalletDayKey,
  { stars, seasonId }: { readonly stars: readonly DayStar[]; readonly seasonId: string | null },
): WalletDayState {
  let state = core.walletDay.initial(key);
  for (const star of stars) state = core.walletDay.evolve(state, { type: "starred", ...star });
  return underPass(core, state, seasonId);
}

/** Rebuilds every actor from the journal's rows alone: nothing is decided again. */
export function replay(core: Core, rows: readonly Row[]): Pick<World, "walletDays" | "events"> {
  const walletDays = new Map<string, WalletDayState>();
  const events = new Map<string, EventState>();
  for (const row of rows) {
    const { wallet, day, seasonId } = row;
    const own = rows.filter((other) => other.wallet === wallet && other.day === day);
    if (own.at(-1) === row) {
      const stars = own.map(dayStarOf);
      walletDays.set(
        `wallet-day/${wallet}/${day}`,
        fold(core, { wallet, day }, { stars, seasonId }),
      );
    }
    const actor = eventActor(core, row);
    if (actor === null || row.decision === null) continue;
    const before = events.get(actor.name) ?? actor.initial();
    const { weight, claims } = row.decision;
    events.set(actor.name, actor.evolve(before, starred({ ...row, weight, claims })));
  }
  return { walletDays, events };
}

/** A row as its wallet's day keeps it. */
export function dayStarOf({ id, at, target }: Pick<Row, "id" | "at" | "target">): DayStar {
  return { id, at, target: targetKey(target.type, target.id) };
}
