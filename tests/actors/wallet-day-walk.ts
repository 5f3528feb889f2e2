import { type Target, targetOf } from "../../actors/content.ts";
import { endOfDay, startOfDay } from "../../actors/day.ts";
import {
  instantOf,
  type StarCommand,
  type WalletDayContext,
  type WalletDayFact,
  type WalletDayState,
  walletDay,
  walletDayMachine,
} from "../../actors/wallet-day.ts";
import { createOracle } from "../support/oracle.ts";
import type { Expected, Walk } from "./walk.ts";

export const DAY = "2026-11-20";
const NOON = startOfDay(DAY) + 43_200_000;
const MIDNIGHT = endOfDay(DAY);
const WALLET = "0.0.1001";
const SEASON = "season";

/** Two votes a day, four with a pass: the fewest that show all. */
export const votes = { free: 2, premium: 4 };

const item = (type: Target["type"], id: string, eventKind: Target["eventKind"] = null): Target =>
  targetOf({ type, id, eventKind, ledgerId: null });
const items = [
  item("token", "1"),
  item("collection", "2"),
  item("event", "forever", "FOREVER_MINT"),
];
const instants = [NOON, NOON + 3_600_000, MIDNIGHT - 1, MIDNIGHT];
/** Where every order of facts is walked. */
const fewerInstants = [NOON, MIDNIGHT - 1];

type Event = StarCommand | WalletDayFact;

function eventsAmong(among: readonly number[]) {
  return ({ context }: WalletDayState): readonly Event[] => [
    ...[null, SEASON].map((seasonId) => ({ type: "limitSet", seasonId }) as const),
    ...among.flatMap((now) =>
      items.flatMap((target): Event[] => [
        { type: "star", target, now },
        ...(mayFollow(context, target, now)
          ? [
              {
                type: "starred",
                id: idOf(target, now),
                target: target.key,
                at: instantOf(context, now),
              } as const,
            ]
          : []),
      ]),
    ),
  ];
}

const idOf = ({ key }: Target, now: number): string => `${key} ${now}`;

/** Whether a journal can hold this star next: its unique keys and its day. */
function mayFollow(context: WalletDayContext, target: Target, now: number): boolean {
  const { stars } = context;
  const isRepeat = stars.some((star) => star.target === target.key);
  const isRepeatable = target.eventKind === "FOREVER_MINT";
  return (
    stars.length < votes.premium &&
    instantOf(context, now) < MIDNIGHT &&
    (isRepeatable || !isRepeat)
  );
}

/** The oracle's state after the facts, and its decision on the command after them. */
function expected(path: readonly Event[]): Expected {
  const oracle = createOracle([], { free: votes.premium, premium: votes.premium });
  let seasonId: string | null = null;
  for (const event of path) {
    if (event.type === "limitSet") seasonId = event.seasonId;
    if (event.type === "starred") oracle.star(intentOf(event.target, event.at));
  }
  const stars = oracle.stars.map(({ target, at }) => {
    const fact = path.find((event) => event.type === "starred" && event.at === at);
    return { id: (fact as WalletDayFact & { id: string }).id, target: target.id, at };
  });
  const limit = seasonId === null ? votes.free : votes.premium;
  const context = { wallet: WALLET, day: DAY, stars, limit, seasonId };
  const value = stars.length >= limit ? "spent" : "open";
  const state = { value, context };
  const last = path.at(-1);
  if (last?.type !== "star") return { state, decision: null };
  const now = createOracle([], { free: limit, premium: limit });
  now.stars.push(...oracle.stars);
  const verdict = now.star(intentOf(last.target.key, last.now));
  const refused = (rest: object) => ({ state, decision: { type: "refused", ...rest } });
  if (verdict.code === "ALLOWANCE_EXHAUSTED") {
    // The oracle judges by the whole wallet, the actor by its day alone.
    return instantOf(context, last.now) >= MIDNIGHT
      ? refused({ code: "OTHER_DAY" })
      : refused(verdict);
  }
  const { at, slot } = verdict.star;
  if (at >= MIDNIGHT) return refused({ code: "OTHER_DAY" });
  if (verdict.code === "ACCEPTED") {
    return { state, decision: { type: "accepted", slot, at, limit, seasonId } };
  }
  const first = stars.find((star) => star.at === at);
  return refused({ code: verdict.code, starId: first?.id });
}

function intentOf(key: string, now: number) {
  const kind = key === "event/forever" ? ("mint" as const) : ("asset" as const);
  return { wallet: WALLET, target: { id: key, kind }, now, a: [], b: [] };
}

export const walletDayWalk: Walk = {
  name: "wallet-day",
  file: "wallet-day",
  machine: walletDayMachine,
  logic: walletDay as Walk["logic"],
  input: { wallet: WALLET, day: DAY },
  events: eventsAmong(instants),
  fewerEvents: eventsAmong(fewerInstants),
  isCommand: ({ type }) => type === "star",
  memory: ({ stars, seasonId }: WalletDayContext) =>
    JSON.stringify([stars.map(({ target }) => target).sort(), stars.at(-1)?.at, seasonId]),
  expected,
};
