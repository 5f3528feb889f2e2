import { voteLimit } from "../../actors/allowance.ts";
import type { EventKind, TargetType } from "../../actors/content.ts";
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import { lostWeight } from "../../actors/nft-accounting.ts";
import { rulesOn } from "../../actors/rules.ts";
import { fullBreakdown, votingPower, weigh } from "../../actors/weight.ts";
import {
  decideEventStar,
  decideLoss,
  decideMintStar,
  type EventTables,
  emptyTables,
  evolveEventDay,
  evolveMint,
} from "../../actors/whole.ts";
import type {
  ExportConflict,
  ExportLost,
  ExportRelease,
  ExportStar,
} from "../../src/journal/export-format.ts";
import { FIRST_RUNNING_HASH, runningHash } from "../../src/ledger/running-hash.ts";
import { starMessage } from "../../src/publishing/message.ts";

/** A ledger, a service and its public API, made up; everything in it may be forged by a test. */
export interface World {
  readonly topics: Record<"event" | "asset", Topic>;
  readonly accounts: Set<string>;
  /** By collection, then serial: where it has been. */
  readonly nfts: Record<string, Map<number, Move[]>>;
  readonly stars: ExportStar[];
  readonly releases: ExportRelease[];
  /** Messages that exports set apart from the stars, by day. */
  readonly apart: Map<string, (ExportConflict | ExportLost)[]>;
  readonly items: readonly Item[];
  /** Added to what the API says of an item's `totalVotes`. */
  readonly edits: Map<string, number>;
  readonly firstDay: string;
  readonly excluded: readonly string[];
  /** Days of which the exports say that stars came back. */
  readonly recovered?: readonly string[];
  /** How the setting stood at the end of days on which it was another. */
  readonly excludedOn?: ReadonlyMap<string, readonly string[]>;
}

export interface Topic {
  readonly id: string;
  messages: Message[];
}

/** One message as the mirror node gives it, before it is spelt out. */
export interface Message {
  sequence: number;
  /** `seconds.nnnnnnnnn` */
  consensus: string;
  text: string;
  hash: string;
  readonly starId: string;
}

export interface Move {
  readonly at: number;
  readonly type: string;
  readonly sender: string | null;
  readonly receiver: string | null;
}

export interface Item {
  readonly type: TargetType;
  readonly id: string;
  readonly eventKind: EventKind | null;
  readonly ledgerId: string | null;
}

export const A = "0.0.5001";
export const B = "0.0.5002";
export const KEYS = { a: "alpha", b: "beta" };
export const TREASURY = "0.0.900";
const PAYER = "0.0.2";

const item = (type: TargetType, id: string, rest: Partial<Item> = {}): Item => ({
  type,
  id,
  eventKind: null,
  ledgerId: null,
  ...rest,
});
export const ITEMS: readonly Item[] = [
  item("token", "0.0.7101"),
  item("token", "0.0.7102"),
  item("collection", "0.0.7201"),
  item("project", "bridge"),
  item("project", "wallet", { ledgerId: "0.0.7301" }),
  item("event", "meetup", { eventKind: "ECOSYSTEM_MEETUP" }),
  item("event", "hack", { eventKind: "HACKATHON" }),
  item("event", "mint", { eventKind: "FOREVER_MINT" }),
];

/** Deterministic numbers in [0, 1). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

export interface Making {
  readonly seed: number;
  /** UTC days of history, the last one being today. */
  readonly days: number;
  readonly starsPerDay: number;
  readonly wallets?: number;
  /** Whether NFTs change hands. */
  readonly moves?: boolean;
  /** Whether projects stand in messages by a ledger id. */
  readonly now?: number;
}

/** Makes a true history: every rule kept, every message published, every check made. */
export function makeWorld(making: Making): World {
  const { seed, days, starsPerDay, wallets: count = 12, moves = true, now = Date.now() } = making;
  const random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const wallets = Array.from({ length: count }, (_, index) => `0.0.${1_000 + index}`);
  const today = startOfDay(dayOf(now));
  const begin = today - (days - 1) * DAY_MS;
  const world: World = {
    topics: { event: { id: "0.0.8001", messages: [] }, asset: { id: "0.0.8002", messages: [] } },
    accounts: new Set([...wallets, TREASURY]),
    nfts: { [A]: new Map(), [B]: new Map() },
    stars: [],
    releases: [],
    apart: new Map(),
    items: ITEMS,
    edits: new Map(),
    firstDay: dayOf(begin),
    excluded: [TREASURY],
  };
  const held = new Map<string, Record<string, Set<number>>>();
  const holding = (wallet: string) => {
    const known = held.get(wallet) ?? { [A]: new Set<number>(), [B]: new Set<number>() };
    held.set(wallet, known);
    return known;
  };
  const mintedAt = begin - 10 * DAY_MS;
  for (const [collection, supply] of [
    [A, count * 2],
    [B, count],
  ] as const) {
    for (let serial = 1; serial <= supply; serial++) {
      const owner = pick(wallets);
      holding(owner)[collection]?.add(serial);
      world.nfts[collection]?.set(serial, [
        { at: mintedAt, type: "TOKENMINT", sender: null, receiver: TREASURY },
        { at: mintedAt + 1_000, type: "CRYPTOTRANSFER", sender: TREASURY, receiver: owner },
      ]);
    }
  }
  const service = openService(world);
  for (let day = 0; day < days; day++) {
    const start = begin + day * DAY_MS;
    if (day > 0) service.check(start + 2_000, holding);
    // Stars keep a distance from now, so that the API's reading is not in doubt.
    const end = Math.min(start + DAY_MS, now - 60_000);
    const step = Math.max(1, Math.floor((end - start - 120_000) / starsPerDay));
    for (let at = start + 90_000, n = 0; n < starsPerDay && at < end; at += step, n++) {
      if (moves && random() < 0.08) {
        const [from, to] = [pick(wallets), pick(wallets)];
        const collection = random() < 0.7 ? A : B;
        const [serial] = holding(from)[collection] ?? [];
        if (serial !== undefined && from !== to) {
          holding(from)[collection]?.delete(serial);
          holding(to)[collection]?.add(serial);
          const move = { at: at - 80, type: "CRYPTOTRANSFER", sender: from, receiver: to };
          world.nfts[collection]?.get(serial)?.push(move);
        }
      }
      const wallet = pick(wallets);
      const mine = holding(wallet);
      const rising = (set: Set<number> | undefined) => [...(set ?? [])].sort((x, y) => x - y);
      service.star(wallet, pick(ITEMS), at, { a: rising(mine[A]), b: rising(mine[B]) });
    }
  }
  publish(world, random);
  return world;
}

interface Held {
  readonly a: readonly number[];
  readonly b: readonly number[];
}

function tablesOf(actors: Map<string, EventTables>, name: string): EventTables {
  const tables = actors.get(name) ?? emptyTables();
  actors.set(name, tables);
  return tables;
}

/** The service's rules, by its own machines. */
function openService(world: World) {
  const starred = new Set<string>();
  const used = new Map<string, number>();
  const eventDays = new Map<string, EventTables>();
  const mints = new Map<string, EventTables>();
  let order = 0;
  return {
    star(wallet: string, target: Item, at: number, { a, b }: Held): void {
      const day = dayOf(at);
      const slot = (used.get(`${wallet} ${day}`) ?? 0) + 1;
      const key = `${wallet} ${day} ${target.type}/${target.id}`;
      const isMint = target.eventKind === "FOREVER_MINT";
      const limit = voteLimit(day, null);
      if (slot > limit || (starred.has(key) && !isMint)) return;
      starred.add(key);
      used.set(`${wallet} ${day}`, slot);
      const holdings = { collectionA: a, collectionB: b, readAt: at - 20 };
      const rules = rulesOn(day);
      const intent = { type: "star", wallet, holdings, at } as const;
      let breakdown = fullBreakdown(holdings, rules);
      let counted: ExportStar["counted"] = null;
      if (target.type === "event") {
        const tables = isMint
          ? tablesOf(mints, target.id)
          : tablesOf(eventDays, `${target.id}/${day}`);
        const decision = isMint
          ? decideMintStar(target.id, tables, intent)
          : decideEventStar({ event: target.id, day }, tables, intent);
        const { weight, claims } = decision;
        const fact = {
          type: "starred",
          starId: idOf(order + 1),
          wallet,
          at,
          weight,
          claims,
        } as const;
        if (isMint) evolveMint(target.id, tables, fact);
        else evolveEventDay({ event: target.id, day }, tables, fact);
        breakdown = decision.breakdown;
        counted = { collectionA: [...decision.claims.a], collectionB: decision.claims.b };
      }
      order += 1;
      const power = votingPower(holdings, rules);
      world.stars.push({
        kind: "star",
        seq: order,
        id: idOf(order),
        wallet,
        at: new Date(at).toISOString(),
        slot,
        limit,
        seasonId: null,
        rules: rules.version,
        target: { type: target.type, id: target.id, eventType: target.eventKind },
        scope: target.type !== "event" ? "none" : isMint ? "forever-mint" : "event-day",
        mintOrder: isMint ? order : null,
        votingPower: power,
        weight: weigh(breakdown),
        breakdown,
        counted,
        held: { collectionA: [...a], collectionB: [...b], readAt: new Date(at - 20).toISOString() },
        topic: target.type === "event" ? "event" : "asset",
        message: starMessage({ wallet, at, target, votingPower: power, holdings }, KEYS),
        publication: UNPUBLISHED,
      });
    },
    /** The daily check, made at `at`. */
    check(at: number, holding: (wallet: string) => Record<string, Set<number>>): void {
      for (const [mint, tables] of mints) {
        const wallets = [...new Set([...tables.A.values(), ...tables.B.values()])].map(
          (attribution) => attribution.wallet,
        );
        const losses = [...new Set(wallets)].flatMap((wallet) => {
          const lost = (counted: EventTables["A"], collection: string) =>
            [...counted]
              .filter(
                ([serial, held]) =>
                  held.wallet === wallet && !holding(wallet)[collection]?.has(serial),
              )
              .map(([serial]) => serial)
              .sort((x, y) => x - y);
          const heldB = [...(holding(wallet)[B] ?? [])].sort((x, y) => x - y);
          const [lostA, lostB] = [lost(tables.A, A), lost(tables.B, B)];
          return lostA.length + lostB.length === 0 ? [] : [{ wallet, lostA, lostB, heldB }];
        });
        if (losses.length === 0) continue;
        const decision = decideLoss(mint, tables, { type: "lost", losses });
        const before = new Map(tables.B);
        evolveMint(mint, tables, decision);
        order += 1;
        for (const { wallet, a, b, spare } of decision.releases) {
          const heldB = losses.find((loss) => loss.wallet === wallet)?.heldB ?? [];
          const ended = [
            ...a.map((serial) => ({
              collection: "A" as const,
              serial,
              weight: 1,
              spare: null,
              heldB: [],
            })),
            ...(b === null
              ? []
              : [
                  {
                    collection: "B" as const,
                    serial: b,
                    weight: lostWeight([{ wallet, a: [], b, spare }], (each) => before.get(each)),
                    spare,
                    heldB,
                  },
                ]),
          ];
          for (const { collection, serial, ...end } of ended) {
            world.releases.push({
              kind: "release",
              mint,
              mintOrder: order,
              runId: idOf(1),
              checkDay: dayOf(at),
              collection,
              serial,
              wallet,
              starId: idOf(1),
              ...end,
              owner: world.nfts[collection === "A" ? A : B]?.get(serial)?.at(-1)?.receiver ?? null,
              deleted: false,
              listedAt: new Date(at).toISOString(),
              readAt: new Date(at).toISOString(),
              releasedAt: new Date(at + 100).toISOString(),
            });
          }
        }
      }
    },
  };
}

export const UNPUBLISHED: ExportStar["publication"] = {
  state: "stored",
  topicId: null,
  transactionId: null,
  sequenceNumber: null,
  consensusTimestamp: null,
  runningHash: null,
};

function idOf(number: number): string {
  return `018f3f6e-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

/** Publishes every star a second or three after it was cast, some in another order. */
function publish(world: World, random: () => number): void {
  let nanos = 0;
  for (const name of ["event", "asset"] as const) {
    const topic = world.topics[name];
    topic.messages = world.stars
      .filter((star) => star.topic === name)
      .map((star) => {
        nanos = (nanos + 1) % 1_000_000;
        return { star, ms: Date.parse(star.at) + 1_000 + Math.floor(random() * 2_000), nanos };
      })
      .sort((one, other) => one.ms - other.ms || one.nanos - other.nanos)
      .map(({ star, ms, nanos: part }, index) => ({
        sequence: index + 1,
        consensus: `${Math.floor(ms / 1_000)}.${String((ms % 1_000) * 1_000_000 + part).padStart(9, "0")}`,
        text: star.message,
        hash: "",
        starId: star.id,
      }));
    rechain(topic);
    tell(world, topic);
  }
}

/** Hashes a topic anew, as a mirror node that forges everything would. */
export function rechain(topic: Topic): void {
  let previous: Uint8Array = FIRST_RUNNING_HASH;
  for (const message of topic.messages) {
    const { sequence: sequenceNumber, consensus: consensusTimestamp } = message;
    const given = { previous, payer: PAYER, topic: topic.id, consensusTimestamp, sequenceNumber };
    const next = runningHash({ ...given, message: Buffer.from(message.text) });
    message.hash = next.toString("base64");
    previous = next;
  }
}

/** Writes into the stars where their messages stand. */
export function tell(world: World, topic: Topic): void {
  const stars = new Map(world.stars.map((star, index) => [star.id, index] as const));
  for (const message of topic.messages) {
    const index = stars.get(message.starId);
    const star = index === undefined ? undefined : world.stars[index];
    if (index === undefined || star === undefined) continue;
    world.stars[index] = {
      ...star,
      publication: {
        state: "published",
        topicId: topic.id,
        transactionId: `${PAYER}@${message.consensus}`,
        sequenceNumber: message.sequence,
        consensusTimestamp: message.consensus,
        runningHash: message.hash,
      },
    };
  }
}

export { PAYER };
