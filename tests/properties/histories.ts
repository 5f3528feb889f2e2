import fc from "fast-check";
import { type Target, targetOf } from "../../actors/content.ts";
import { DAY_MS } from "../../actors/day.ts";
import type { Holdings } from "../../actors/weight.ts";
import type { OracleTarget } from "../support/oracle.ts";
import type { PremiumPass } from "../support/passes.ts";

/**
 * Random histories: wallets that star, NFTs that change wallets between stars, passes that
 * begin and end, and a clock that likes to stand around midnight.
 */

/** Someone wants to star something; holdings as a mirror node would read them just then. */
export interface Intent {
  readonly wallet: string;
  readonly target: Target;
  readonly now: number;
  readonly holdings: Holdings;
}

export interface History {
  readonly intents: readonly Intent[];
  readonly passes: Readonly<Record<string, readonly PremiumPass[]>>;
}

/** 06:00 UTC of the day before a leap day: two ordinary midnights, one at a month's end. */
export const BEGINNING = Date.parse("2028-02-28T06:00:00Z");
export const WALLETS = ["0.0.1001", "0.0.1002", "0.0.1003", "0.0.1004"] as const;
const SERIALS = { A: [1, 2, 3, 4, 5, 6], B: [1, 2, 3] };

const thing = (type: Target["type"], id: string): Target =>
  targetOf({ type, id, eventKind: null, ledgerId: null });
const event = (id: string, eventKind: Target["eventKind"]): Target =>
  targetOf({ type: "event", id, eventKind, ledgerId: null });
export const TARGETS: readonly Target[] = [
  event("forever", "FOREVER_MINT"),
  event("evermore", "FOREVER_MINT"),
  event("mint", "MINT_EVENT"),
  event("hackathon", "HACKATHON"),
  event("meetup", "ECOSYSTEM_MEETUP"),
  event("other", "OTHER"),
  thing("token", "0.0.9001"),
  thing("token", "0.0.9002"),
  thing("collection", "0.0.8001"),
  // The same id as an event: what is starred is named by its type, too.
  thing("project", "mint"),
];

/** A target as the oracle knows it. */
export function oracleTarget({ type, id, eventKind }: Target): OracleTarget {
  const kind = eventKind === "FOREVER_MINT" ? "mint" : type === "event" ? "event" : "asset";
  return { id: `${type}/${id}`, kind };
}

type Move =
  | { readonly do: "star"; readonly wallet: string; readonly target: Target; readonly skew: number }
  | {
      readonly do: "burst";
      readonly wallet: string;
      readonly target: Target;
      readonly times: number;
    }
  | { readonly do: "transfer"; readonly nft: string; readonly to: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "midnight"; readonly ms: number };

const wallet = fc.constantFrom(...WALLETS);
const star = fc.record({
  do: fc.constant("star" as const),
  wallet,
  target: fc.constantFrom(...TARGETS),
  // Two processes' clocks agree to some milliseconds only.
  skew: fc.constantFrom(0, 0, 0, -1, -2, 3),
});
/** Enough stars of a day to reach the twentieth: only a forever mint takes so many. */
const burst = fc.record({
  do: fc.constant("burst" as const),
  wallet: fc.constantFrom(...WALLETS.slice(0, 2)),
  target: fc.constantFrom(...TARGETS.slice(0, 2)),
  times: fc.constantFrom(3, 8, 21),
});
const transfer = fc.record({
  do: fc.constant("transfer" as const),
  nft: fc.constantFrom(...SERIALS.A.map((n) => `A${n}`), ...SERIALS.B.map((n) => `B${n}`)),
  to: wallet,
});
const wait = fc.record({
  do: fc.constant("wait" as const),
  ms: fc.constantFrom(0, 1, 2, 1_000, 3_600_000, 7_200_000),
});
/** To just before or after the next midnight. */
const midnight = fc.record({
  do: fc.constant("midnight" as const),
  ms: fc.constantFrom(-2, -1, 0, 1),
});
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 30, arbitrary: star },
  { weight: 1, arbitrary: burst },
  { weight: 10, arbitrary: transfer },
  { weight: 4, arbitrary: wait },
  { weight: 4, arbitrary: midnight },
);

/** A season for some wallets: it begins and ends at, around or between the midnights. */
const pass = fc.record({
  // A wallet that stars in bursts has use for one.
  holder: fc.constantFrom(...WALLETS, ...WALLETS.slice(0, 2)),
  startsAt: fc.constantFrom(-DAY_MS, 0, 3_600_000, 18 * 3_600_000 - 1, 18 * 3_600_000),
  lasts: fc.constantFrom(1, 3_600_000, 18 * 3_600_000, 18 * 3_600_000 + 1, 5 * DAY_MS),
});

export const history: fc.Arbitrary<History> = fc
  .record({
    owners: fc.array(wallet, { minLength: 9, maxLength: 9 }),
    moves: fc.array(move, { maxLength: 100, size: "max" }),
    passes: fc.array(pass, { maxLength: 4, size: "max" }),
  })
  .map(({ owners, moves, passes }) => ({
    intents: unfold(owners, moves),
    passes: Object.fromEntries(
      WALLETS.map((each) => [
        each,
        passes.flatMap(({ holder, startsAt, lasts }, n): PremiumPass[] => {
          const from = BEGINNING + startsAt;
          return holder === each
            ? [{ seasonId: `season-${n}`, startsAt: from, endsAt: from + lasts }]
            : [];
        }),
      ]),
    ),
  }));

/** Follows clock and NFTs, and leaves only what voters ask for. */
function unfold(owners: readonly string[], moves: readonly Move[]): readonly Intent[] {
  const nfts = [...SERIALS.A.map((n) => `A${n}`), ...SERIALS.B.map((n) => `B${n}`)];
  const ownerOf = new Map(nfts.map((nft, n) => [nft, owners[n]]));
  const held = (by: string, of: "A" | "B") =>
    SERIALS[of].filter((serial) => ownerOf.get(`${of}${serial}`) === by);
  const intents: Intent[] = [];
  let now = BEGINNING;
  for (const each of moves) {
    if (each.do === "transfer") ownerOf.set(each.nft, each.to);
    else if (each.do === "wait") now += each.ms;
    else if (each.do === "midnight") now = nextMidnight(now + 2) + each.ms;
    else {
      const { wallet: by, target } = each;
      const [times, skew] = each.do === "burst" ? [each.times, 0] : [1, each.skew];
      const holdings = { collectionA: held(by, "A"), collectionB: held(by, "B"), readAt: now };
      const intent = { wallet: by, target, now: now + skew, holdings };
      intents.push(...Array.from({ length: times }, () => intent));
    }
  }
  return intents;
}

function nextMidnight(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}
