import { dayOf, startOfDay } from "../../actors/day.ts";
import type { EventStarred } from "../../actors/event-day.ts";
import {
  type BonusLost,
  type MintWalletContext,
  type MintWalletStar,
  type MintWalletState,
  mintWallet,
  mintWalletMachine,
} from "../../actors/mint-wallet.ts";
import type { Expected, Walk } from "./walk.ts";

const WALLET = "0.0.1001";
const NOONS = ["2026-11-20", "2026-11-21", "2026-11-22"].map((day) => startOfDay(day) + 43_200_000);

type Event = MintWalletStar | EventStarred | BonusLost;

const other = { wallet: "0.0.1002", starId: null, at: null };
const scopes = [
  { A: {}, B: {} },
  { A: { 1: other }, B: { 1: other } },
];
const holdings = [
  { collectionA: [], collectionB: [] },
  { collectionA: [1, 2], collectionB: [1] },
  { collectionA: [2], collectionB: [1, 2] },
];
const commands: readonly MintWalletStar[] = NOONS.flatMap((at) =>
  scopes.flatMap((counted) =>
    holdings.map((held) => ({
      type: "star",
      wallet: WALLET,
      holdings: { ...held, readAt: at },
      at,
      counted,
    })),
  ),
);

/** The journal holds one bonus of a wallet at most, and only a bonus that exists is lost. */
function events({ value }: MintWalletState): readonly Event[] {
  const facts = NOONS.flatMap((at) =>
    (value === "carrying" ? [null] : [null, 9]).map((b): EventStarred => {
      const claims = { a: [], b };
      return { type: "starred", starId: "star", wallet: WALLET, at, weight: 0, claims };
    }),
  );
  const isLost = value === "carrying" ? [{ type: "bonusLost" } as const] : [];
  return [...commands, ...facts, ...isLost];
}

/** The wallet's place on the mint by the sentences of the specification, in three variables. */
function expected(path: readonly Event[]): Expected {
  let hasCounted = false;
  let carries = false;
  let votedOn: string | null = null;
  for (const event of path) {
    if (event.type === "bonusLost") carries = false;
    if (event.type !== "starred") continue;
    hasCounted = true;
    carries ||= event.claims.b !== null;
    votedOn = dayOf(event.at);
  }
  const value = carries ? "carrying" : hasCounted ? "counted" : "unstarred";
  const state = { value, context: { votedOn } };
  const last = path.at(-1);
  if (last?.type !== "star") return { state, decision: null };
  const { collectionA, collectionB } = last.holdings;
  const a = collectionA.filter((serial) => !(serial in last.counted.A));
  const b = carries ? null : (collectionB.find((serial) => !(serial in last.counted.B)) ?? null);
  const base = hasCounted ? 0 : 1;
  const breakdown = { base, collectionA: a.length, collectionB: b === null ? 0 : 5 };
  const weight = base + a.length + breakdown.collectionB;
  return { state, decision: { type: "counted", weight, breakdown, claims: { a, b } } };
}

export const mintWalletWalk: Walk = {
  name: "mint-wallet",
  file: "mint-wallet",
  machine: mintWalletMachine,
  logic: mintWallet as Walk["logic"],
  input: undefined,
  events,
  fewerEvents: events,
  isCommand: ({ type }) => type === "star",
  memory: ({ votedOn }: MintWalletContext) => String(votedOn),
  expected,
};
