import { limitAt, type PremiumPass } from "../../actors/allowance.ts";
import { ruleOf, type Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import {
  type EventDayState,
  type EventDecision,
  type EventStar,
  eventDay,
} from "../../actors/event-day.ts";
import { type ForeverMintState, foreverMint } from "../../actors/forever-mint.ts";
import type { Holdings } from "../../actors/holdings.ts";
import { targetKey, type WalletDecision } from "../../actors/star.ts";
import { instantOf, type WalletDayState, walletDay } from "../../actors/wallet-day.ts";
import { fullBreakdown, weigh } from "../../actors/weight.ts";
import type { History, Intent } from "./histories.ts";

/** The rules under test; the properties are also run against broken ones. */
export interface Core {
  readonly walletDay: typeof walletDay;
  readonly eventDay: typeof eventDay;
  readonly foreverMint: typeof foreverMint;
  readonly limitAt: typeof limitAt;
}

export const realCore: Core = { walletDay, eventDay, foreverMint, limitAt };

/** An accepted star, as the journal keeps it. */
export interface Row {
  readonly id: string;
  readonly wallet: string;
  readonly day: Day;
  readonly slot: number;
  readonly at: number;
  readonly limit: number;
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
    const { decision, walletBefore, walletAfter, day, limit } = asked;
    const outcome = { intent, decision, walletBefore, walletAfter };
    if (decision.type === "refused") {
      outcomes.push({ ...outcome, row: null, eventBefore: null });
      continue;
    }
    world.walletDays.set(`wallet-day/${intent.wallet}/${day}`, walletAfter);
    const { wallet, target, holdings } = intent;
    const { before: eventBefore, decision: counted } = count(core, world, { ...intent, day });
    const { slot, at } = decision;
    const weight = counted === null ? weigh(fullBreakdown(holdings)) : counted.weight;
    const row = { id, wallet, day, slot, at, limit, target, holdings, weight, decision: counted };
    rows.push(row);
    outcomes.push({ ...outcome, row, eventBefore });
  }
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
  const { wallet, target, id: starId } = intent;
  for (let now = intent.now; now <= intent.now + WAIT_MS_MAX; now += 1) {
    const day = dayOf(now);
    const walletBefore =
      walletDays.get(`wallet-day/${wallet}/${day}`) ?? core.walletDay.initial({ wallet, day });
    const { limit } = core.limitAt(instantOf(walletBefore.context, now), intent.passes);
    const [walletAfter, decision] = core.walletDay.step(walletBefore, {
      type: "star",
      starId,
      target: targetKey(target.type, target.id),
      repeatable: ruleOf(target).frequency === "once",
      now,
      limit,
    });
    if (decision.type === "accepted" || decision.code !== "OTHER_DAY") {
      return { walletBefore, walletAfter, decision, day, limit };
    }
  }
  throw new Error(`no day takes ${starId}`);
}

/** Asks the event's actor, where the target has one. */
function count(
  core: Core,
  { events }: World,
  star: Pick<Row, "wallet" | "target" | "holdings" | "day">,
): { readonly before: EventState | null; readonly decision: EventDecision | null } {
  const actor = eventActor(core, star);
  if (actor === null) return { before: null, decision: null };
  const before = events.get(actor.name) ?? actor.initial();
  const [after, decision] = actor.step(before, star);
  events.set(actor.name, after);
  return { before, decision };
}

interface EventActor {
  readonly name: string;
  initial(): EventState;
  step(
    state: EventState,
    star: Pick<EventStar, "wallet" | "holdings">,
  ): readonly [EventState, EventDecision];
}

/** The actor that accounts for a target's NFTs on a day; null where none does. */
export function eventActor(
  core: Core,
  { target, day }: { readonly target: Target; readonly day: Day },
): EventActor | null {
  const rule = ruleOf(target).weight;
  const event = target.id;
  if (rule === "full") return null;
  const starOf = ({ wallet, holdings }: Pick<EventStar, "wallet" | "holdings">) =>
    ({ type: "star", wallet, holdings }) as const;
  return rule === "each NFT once per mint"
    ? {
        name: `forever-mint/${event}`,
        initial: () => core.foreverMint.initial({ event }),
        step: (state, star) => core.foreverMint.step(state as ForeverMintState, starOf(star)),
      }
    : {
        name: `event-day/${event}/${day}`,
        initial: () => core.eventDay.initial({ event, day }),
        step: (state, star) => core.eventDay.step(state as EventDayState, starOf(star)),
      };
}

/** Rebuilds every actor from the journal's rows alone. */
export function replay(core: Core, rows: readonly Row[]): Pick<World, "walletDays" | "events"> {
  const world: World = { outcomes: [], rows, walletDays: new Map(), events: new Map() };
  for (const { id, wallet, day, at, limit, target, holdings } of rows) {
    const name = `wallet-day/${wallet}/${day}`;
    const [state] = core.walletDay.step(
      world.walletDays.get(name) ?? core.walletDay.initial({ wallet, day }),
      {
        type: "star",
        starId: id,
        target: targetKey(target.type, target.id),
        repeatable: ruleOf(target).frequency === "once",
        now: at,
        limit,
      },
    );
    world.walletDays.set(name, state);
    count(core, world, { wallet, target, holdings, day });
  }
  return world;
}
