import { startOfDay } from "../../actors/day.ts";
import {
  type EventDecision,
  type EventStar,
  type EventStarred,
  eventDay,
  eventDayMachine,
} from "../../actors/event-day.ts";
import {
  type ForeverMintState,
  foreverMint,
  foreverMintCheck,
  foreverMintMachine,
  type HoldingsLost,
  type LossDecision,
} from "../../actors/forever-mint.ts";
import type { Attribution } from "../../actors/nft-accounting.ts";
import { createOracle, type OracleStar } from "../support/oracle.ts";
import type { Expected, Walk } from "./walk.ts";

const DAY = "2026-11-20";
const NOON = startOfDay(DAY) + 43_200_000;
/** Wallets that star for the first time: an ordinary event lets a wallet star once. */
const STARS_MAX = 4;

/** A fact with the holdings that its star brought: the oracle weighs them, the machine does not see them. */
type Starred = EventStarred & Pick<EventStar, "holdings">;
type Released = LossDecision & { readonly by: HoldingsLost };
type Event = EventStar | HoldingsLost | Starred | Released;

/** Two wallets between which serials move: each event is a wallet with what it holds just then. */
const holdings = [
  { collectionA: [], collectionB: [] },
  { collectionA: [1, 2], collectionB: [1] },
  { collectionA: [2, 3], collectionB: [1, 2] },
  { collectionA: [1, 2, 3], collectionB: [2] },
];
const stars: readonly EventStar[] = ["0.0.1001", "0.0.1002"].flatMap((wallet) =>
  holdings.map((held) => ({ type: "star", wallet, holdings: { ...held, readAt: NOON }, at: NOON })),
);
/** One wallet lost some of its NFTs and holds another of collection B, or lost them all. */
const losses: readonly HoldingsLost[] = [
  { wallet: "0.0.1001", lostA: [1], lostB: [1], heldB: [2] },
  { wallet: "0.0.1001", lostA: [1, 2, 3], lostB: [1, 2], heldB: [] },
].map((loss) => ({ type: "lost", losses: [loss] }));

type Oracle = ReturnType<typeof createOracle>;
type OnOracle = OracleStar & { nfts: readonly string[] };

/** The oracle after the facts of a path. */
function playFacts(kind: "event" | "mint", path: readonly Event[]): Oracle {
  const oracle = createOracle([], { free: 99, premium: 99 });
  for (const event of path) {
    if (event.type === "starred") askOracle(oracle, kind, event);
    if (event.type === "released") for (const loss of event.by.losses) releaseFrom(oracle, loss);
  }
  return oracle;
}

function askOracle(oracle: Oracle, kind: "event" | "mint", star: EventStar | Starred): OracleStar {
  const { collectionA: a, collectionB: b } = star.holdings;
  const now = NOON + oracle.stars.length;
  // On an ordinary event each star is another wallet's.
  const wallet = kind === "mint" ? star.wallet : `${star.wallet} ${oracle.stars.length}`;
  const verdict = oracle.star({ wallet, target: { id: "e", kind }, now, a, b });
  if (verdict.code !== "ACCEPTED") throw new Error(verdict.code);
  return verdict.star;
}

/** Takes lost serials from the stars that counted them; a spare stands in for a lost carrier. */
function releaseFrom(
  { stars: all }: Oracle,
  { wallet, lostA, lostB, heldB }: HoldingsLost["losses"][number],
) {
  const own = all.filter((star) => star.wallet === wallet);
  const has = (nft: string) => own.some(({ nfts }) => nfts.includes(nft));
  const a = lostA.filter((serial) => has(`A${serial}`));
  const b = lostB.find((serial) => has(`B${serial}`)) ?? null;
  const isFree = (serial: number) => !all.some(({ nfts }) => nfts.includes(`B${serial}`));
  const spare = b === null ? null : (heldB.find(isFree) ?? null);
  for (const star of own as OnOracle[]) {
    star.nfts = star.nfts
      .filter((nft) => !a.some((serial) => nft === `A${serial}`))
      .flatMap((nft) => (nft !== `B${b}` ? [nft] : spare === null ? [] : [`B${spare}`]));
  }
  const weight = a.length + (b !== null && spare === null ? 5 : 0);
  return { type: "released", weight, releases: [{ wallet, a, b, spare }] };
}

function decisionOf({ weight, base, nfts }: OracleStar) {
  const serials = (of: string) =>
    nfts.filter((nft) => nft.startsWith(of)).map((nft) => Number(nft.slice(1)));
  const a = serials("A");
  const b = serials("B")[0] ?? null;
  const breakdown = { base, collectionA: a.length, collectionB: b === null ? 0 : 5 };
  return { type: "counted", weight, breakdown, claims: { a, b } };
}

/** The context that the oracle's stars make. */
function contextOf(kind: "event" | "mint", { stars: all }: Oracle, wallets: readonly string[]) {
  const counted = { A: {} as Record<number, Attribution>, B: {} as Record<number, Attribution> };
  const standings: Record<string, unknown> = {};
  let weight = 0;
  for (const [n, { nfts, base }] of all.entries()) {
    const wallet = wallets[n] ?? "";
    for (const nft of nfts) {
      counted[nft[0] as "A" | "B"][Number(nft.slice(1))] = {
        wallet,
        starId: `star-${n + 1}`,
        at: NOON,
      };
    }
    weight += base + nfts.reduce((sum, nft) => sum + (nft.startsWith("B") ? 5 : 1), 0);
    standings[wallet] = null;
  }
  for (const wallet of Object.keys(standings)) {
    const carries = Object.values(counted.B).some((by) => by.wallet === wallet);
    standings[wallet] = { value: carries ? "carrying" : "counted", context: { votedOn: DAY } };
  }
  const totals = { event: "e", weight, stars: all.length, counted };
  return kind === "mint" ? { ...totals, wallets: standings } : { ...totals, day: DAY };
}

function expectedOn(kind: "event" | "mint") {
  return (path: readonly Event[]): Expected => {
    const oracle = playFacts(kind, path);
    const wallets = path.flatMap((event) => (event.type === "starred" ? [event.wallet] : []));
    const context = contextOf(kind, oracle, wallets);
    const state = { value: kind === "mint" ? "collecting" : "counting", context };
    const last = path.at(-1);
    if (last?.type === "star")
      return { state, decision: decisionOf(askOracle(oracle, kind, last)) };
    if (last?.type !== "lost") return { state, decision: null };
    const [loss] = last.losses;
    return { state, decision: loss === undefined ? null : releaseFrom(oracle, loss) };
  };
}

/** Commands, and the facts that follow where each is accepted. */
function starEvents<S extends { readonly context: { readonly stars: number } }>(
  state: S,
  decide: (state: S, star: EventStar) => EventDecision,
): readonly Event[] {
  return stars.flatMap((star): Event[] => {
    const { weight, claims } = decide(state, star);
    const { wallet, at, holdings: held } = star;
    const starId = `star-${state.context.stars + 1}`;
    return [star, { type: "starred", starId, wallet, at, weight, claims, holdings: held }];
  });
}

const isCommand: Walk["isCommand"] = ({ type }) => type === "star" || type === "lost";
const memory: Walk["memory"] = ({
  weight,
  stars: count,
  counted,
  wallets,
}: ForeverMintState["context"]) => JSON.stringify([weight, count, counted, wallets]);

const dayEvents = (state: Parameters<typeof eventDay.decide>[0]): readonly Event[] =>
  state.context.stars < STARS_MAX ? starEvents(state, eventDay.decide) : [];

export const eventDayWalk: Walk = {
  name: "event-day",
  file: "event-day",
  machine: eventDayMachine,
  logic: eventDay as Walk["logic"],
  input: { event: "e", day: DAY },
  events: dayEvents,
  fewerEvents: dayEvents,
  isCommand,
  memory,
  expected: expectedOn("event"),
};

export function mintWalk(
  name: string,
  { stars: starsMax, withChecks }: { readonly stars: number; readonly withChecks: boolean },
): Walk {
  const events = (state: ForeverMintState): readonly Event[] => [
    ...(state.context.stars < starsMax ? starEvents(state, foreverMint.decide) : []),
    ...losses.flatMap((lost): Event[] =>
      withChecks ? [lost, { ...foreverMintCheck.decide(state, lost), by: lost }] : [],
    ),
  ];
  return {
    name,
    file: "forever-mint",
    machine: foreverMintMachine,
    logic: foreverMint as Walk["logic"],
    input: { event: "e" },
    events,
    fewerEvents: events,
    isCommand,
    memory,
    expected: expectedOn("mint"),
  };
}
