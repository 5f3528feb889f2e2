import {
  type EventDayKey,
  type EventDayState,
  type EventDecision,
  type EventStar,
  type EventStarred,
  eventDay,
} from "./event-day.ts";
import {
  type ForeverMintState,
  foreverMint,
  foreverMintCheck,
  type HoldingsLost,
  type LossDecision,
  type MintReleased,
} from "./forever-mint.ts";
import type { MintWalletState } from "./mint-wallet.ts";
import type { Attribution } from "./nft-accounting.ts";

/**
 * Event actors kept whole, for folds and audits. Commands and facts go through the machine on the
 * slice they are about, because copying a mint of 100,000 wallets for each of its stars would take
 * quadratic time.
 */

/** What an event's actor holds: plain data that grows in place. */
export interface EventTables {
  weight: number;
  stars: number;
  readonly A: Map<number, Attribution>;
  readonly B: Map<number, Attribution>;
  /** On a forever mint: where each wallet stands. */
  readonly wallets: Map<string, MintWalletState>;
}

/** An actor that nothing has happened to. */
export function emptyTables(): EventTables {
  return { weight: 0, stars: 0, A: new Map(), B: new Map(), wallets: new Map() };
}

/** Decides a star of an event's day; changes nothing. */
export function decideEventStar(
  key: EventDayKey,
  tables: EventTables,
  star: EventStar,
): EventDecision {
  return eventDay.decide(eventDaySlice(key, tables, aboutStar(star)), star);
}

/** Takes a star into an event's day. */
export function evolveEventDay(key: EventDayKey, tables: EventTables, fact: EventStarred): void {
  const about = aboutStarred(fact);
  const { context } = eventDay.evolve(eventDaySlice(key, tables, about), fact);
  put(tables, about, { ...context, wallets: {} });
}

/** Decides a star of a forever mint; changes nothing. */
export function decideMintStar(event: string, tables: EventTables, star: EventStar): EventDecision {
  return foreverMint.decide(mintSlice(event, tables, aboutStar(star)), star);
}

/** Decides what a forever mint releases; changes nothing. */
export function decideLoss(event: string, tables: EventTables, lost: HoldingsLost): LossDecision {
  return foreverMintCheck.decide(mintSlice(event, tables, aboutLost(lost)), lost);
}

/** Takes a star or a release into a forever mint. */
export function evolveMint(
  event: string,
  tables: EventTables,
  fact: EventStarred | MintReleased,
): void {
  const about = fact.type === "starred" ? aboutStarred(fact) : aboutReleased(fact);
  put(tables, about, foreverMint.evolve(mintSlice(event, tables, about), fact).context);
}

/** The whole actor of an event's day as plain data. */
export function eventDayState(key: EventDayKey, tables: EventTables): EventDayState {
  return eventDaySlice(key, tables, everything(tables));
}

/** The entries that a command or a fact is about. */
interface About {
  readonly A: Iterable<number>;
  readonly B: Iterable<number>;
  readonly wallets: Iterable<string>;
}

function everything({ A, B, wallets }: EventTables): About {
  return { A: A.keys(), B: B.keys(), wallets: wallets.keys() };
}

function aboutStar({ wallet, holdings }: EventStar): About {
  return { A: holdings.collectionA, B: holdings.collectionB, wallets: [wallet] };
}

function aboutStarred({ wallet, claims }: EventStarred): About {
  return { A: claims.a, B: claims.b === null ? [] : [claims.b], wallets: [wallet] };
}

function aboutLost({ losses }: HoldingsLost): About {
  return {
    A: losses.flatMap(({ lostA }) => lostA),
    B: losses.flatMap(({ lostB, heldB }) => [...lostB, ...heldB]),
    wallets: [],
  };
}

function aboutReleased({ releases }: MintReleased): About {
  return {
    A: releases.flatMap(({ a }) => a),
    B: releases.flatMap(({ b, spare }) => [b ?? [], spare ?? []].flat()),
    wallets: releases.map(({ wallet }) => wallet),
  };
}

function eventDaySlice(
  { event, day }: EventDayKey,
  tables: EventTables,
  { A, B }: About,
): EventDayState {
  const { weight, stars } = tables;
  const counted = { A: take(tables.A, A), B: take(tables.B, B) };
  return { value: "counting", context: { event, day, weight, stars, counted } };
}

function mintSlice(event: string, tables: EventTables, about: About): ForeverMintState {
  const { weight, stars } = tables;
  const counted = { A: take(tables.A, about.A), B: take(tables.B, about.B) };
  const wallets = take(tables.wallets, about.wallets);
  return { value: "collecting", context: { event, weight, stars, wallets, counted } };
}

function take<K extends string | number, V>(
  table: ReadonlyMap<K, V>,
  keys: Iterable<K>,
): Record<K, V> {
  const taken = {} as Record<K, V>;
  for (const key of keys) {
    const value = table.get(key);
    if (value !== undefined) taken[key] = value;
  }
  return taken;
}

function put(
  tables: EventTables,
  about: About,
  { weight, stars, counted, wallets }: Omit<ForeverMintState["context"], "event">,
): void {
  tables.weight = weight;
  tables.stars = stars;
  replace(tables.A, about.A, counted.A);
  replace(tables.B, about.B, counted.B);
  replace(tables.wallets, about.wallets, wallets);
}

function replace<K extends string | number, V>(
  table: Map<K, V>,
  keys: Iterable<K>,
  next: Readonly<Record<K, V>>,
): void {
  for (const key of keys) {
    const value = next[key];
    if (value === undefined) table.delete(key);
    else table.set(key, value);
  }
}
