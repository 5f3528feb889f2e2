/**
 * Goal: a forever mint counts what its wallets hold, each NFT once, through any order of stars
 * and losses. Method: sentences of the rules as examples, then random histories held against a
 * ledger of who holds what, with invariants recomputed from scratch after every step.
 */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { transition } from "xstate";
import { startOfDay } from "../../actors/day.ts";
import type { EventDecision, EventStarred } from "../../actors/event-day.ts";
import {
  type ForeverMintState,
  foreverMint,
  foreverMintMachine,
  type HoldingsLost,
  type LossDecision,
} from "../../actors/forever-mint.ts";
import type { Counted } from "../../actors/nft-accounting.ts";
import { type IdentifiedStar, lossSteps, mintSteps } from "../support/steps.ts";

type Happening = IdentifiedStar | HoldingsLost;

const ANN = "0.0.1001";
const BOB = "0.0.1002";
const fresh = (): ForeverMintState => foreverMint.initial({ event: "mint" });

const DAY = "2026-11-20";
const NOON = startOfDay(DAY) + 43_200_000;
const stars = mintSteps();
const losses = lossSteps();
let ids = 0;

function star(wallet: string, a: readonly number[], b: readonly number[] = []): IdentifiedStar {
  ids += 1;
  const holdings = { collectionA: a, collectionB: b, readAt: 0 };
  return { type: "star", starId: `star-${ids}`, wallet, holdings, at: NOON };
}

function lost(
  wallet: string,
  { a = [], b = [], held = [] }: { a?: number[]; b?: number[]; held?: number[] },
): HoldingsLost {
  return { type: "lost", losses: [{ wallet, lostA: a, lostB: b, heldB: held }] };
}

function all(...each: readonly HoldingsLost[]): HoldingsLost {
  return { type: "lost", losses: each.flatMap((loss) => loss.losses) };
}

function step(state: ForeverMintState, event: Happening) {
  return event.type === "star" ? stars.step(state, event) : losses.step(state, event);
}

function play(...events: readonly Happening[]): ForeverMintState {
  return events.reduce((state, event) => step(state, event)[0], fresh());
}

/** Given these events, what is decided on the loss. */
function lose(loss: HoldingsLost, ...before: readonly Happening[]): [number, LossDecision] {
  const [state, decision] = losses.step(play(...before), loss);
  return [state.context.weight, decision];
}

test("lost collection A NFTs lose their weight one by one, and become free", () => {
  const [weight, decision] = lose(lost(ANN, { a: [2, 3] }), star(ANN, [1, 2, 3]));
  assert.equal(weight, 1 + 1);
  assert.deepEqual(decision, {
    type: "released",
    weight: 2,
    releases: [{ wallet: ANN, a: [2, 3], b: null, spare: null }],
  });
  const [, bobs] = step(play(star(ANN, [1, 2, 3]), lost(ANN, { a: [2, 3] })), star(BOB, [1, 2, 3]));
  assert.deepEqual(bobs, {
    type: "counted",
    weight: 3,
    breakdown: { base: 1, collectionA: 2, collectionB: 0 },
    claims: { a: [2, 3], b: null },
  });
});

test("a sold carrier of the +5 is replaced by the lowest free B serial the wallet holds", () => {
  const before = [star(ANN, [], [4, 5, 6, 7]), star(BOB, [], [5])];
  const [weight, decision] = lose(lost(ANN, { b: [4], held: [5, 6, 7] }), ...before);
  assert.equal(weight, 12, "nothing is lost: 1 + 5 twice");
  assert.deepEqual(decision, {
    type: "released",
    weight: 0,
    releases: [{ wallet: ANN, a: [], b: 4, spare: 6 }],
  });
});

test("the loss of a carrier without a spare removes the 5, and the next star may add it again", () => {
  const [weight, decision] = lose(lost(ANN, { b: [4] }), star(ANN, [1], [4]));
  assert.equal(weight, 2);
  assert.deepEqual(decision, {
    type: "released",
    weight: 5,
    releases: [{ wallet: ANN, a: [], b: 4, spare: null }],
  });
  const back = step(play(star(ANN, [1], [4]), lost(ANN, { b: [4] })), star(ANN, [1], [9]));
  assert.equal(back[0].context.weight, 1 + 1 + 5);
});

test("losing B serials that carry nothing changes nothing", () => {
  const [weight, decision] = lose(lost(ANN, { b: [5, 6], held: [4] }), star(ANN, [], [4, 5, 6]));
  assert.deepEqual([weight, decision.weight, decision.releases[0]?.b], [6, 0, null]);
});

test("a serial that one wallet loses is free for another's bonus: a swap of carriers changes no total", () => {
  const swap = all(lost(ANN, { b: [4], held: [5] }), lost(BOB, { b: [5], held: [4] }));
  const [weight, decision] = lose(swap, star(ANN, [], [4]), star(BOB, [], [5]));
  assert.deepEqual([weight, decision.weight], [12, 0]);
  assert.deepEqual(
    decision.releases.map(({ spare }) => spare),
    [5, 4],
  );
});

test("one serial carries one bonus, even if two wallets are said to hold it", () => {
  const both = all(lost(ANN, { b: [4], held: [6] }), lost(BOB, { b: [5], held: [6] }));
  const [weight] = lose(both, star(ANN, [], [4]), star(BOB, [], [5]));
  assert.equal(weight, 1 + 5 + 1);
});

test("the base 1 stays, even when the last NFT is lost", () => {
  const state = play(star(ANN, [1], [4]), lost(ANN, { a: [1], b: [4] }));
  assert.equal(state.context.weight, 1);
  assert.equal(step(state, star(ANN, []))[1].weight, 0, "it does not count again");
});

test("a wallet loses only what is attributed to it", () => {
  const [weight, decision] = lose(lost(BOB, { a: [1], b: [4] }), star(ANN, [1], [4]));
  assert.deepEqual([weight, decision.weight], [7, 0]);
});

test("an empty mint has nothing to lose and stays empty", () => {
  const [state, decision] = losses.step(fresh(), lost(ANN, { a: [1], b: [2] }));
  assert.deepEqual([state.value, state.context.weight, decision.weight], ["collecting", 0, 0]);
});

test("a star gets the decision of a star, a loss that of a loss, and nothing else moves the machine", () => {
  const state = play(star(ANN, [1]));
  assert.equal(step(state, star(ANN, [2]))[1].type, "counted");
  assert.equal(step(state, lost(ANN, { a: [1] }))[1].type, "released");
  const unknown = { type: "unknown" } as never;
  assert.throws(() => foreverMint.decide(state, unknown), /0 decisions/);
  assert.throws(() => foreverMint.evolve(state, unknown), /has no handler/);
});

/** A ledger of 3 wallets and 4 serials per collection, and what happens on it. */
type Move =
  | { readonly kind: "star" | "check"; readonly wallet: number }
  | { readonly kind: "move"; readonly of: "A" | "B"; readonly serial: number; readonly to: number };

const wallet = fc.nat({ max: 2 });
const serial = fc.integer({ min: 1, max: 4 });
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ kind: fc.constant("star" as const), wallet }),
  // 3: everyone at once.
  fc.record({ kind: fc.constant("check" as const), wallet: fc.nat({ max: 3 }) }),
  // To 3: burned.
  fc.record({
    kind: fc.constant("move" as const),
    of: fc.constantFrom("A" as const, "B" as const),
    serial,
    to: fc.nat({ max: 3 }),
  }),
);

class World {
  readonly owner = { A: new Map<number, number>(), B: new Map<number, number>() };
  mint = fresh();
  happened: Happening[] = [];

  held(of: "A" | "B", who: number): number[] {
    return [1, 2, 3, 4].filter((each) => this.owner[of].get(each) === who);
  }

  /** What the check of a wallet finds: attributed to it, and not held. */
  losses(who: number): HoldingsLost {
    const { counted } = this.mint.context;
    const gone = (of: "A" | "B") =>
      [1, 2, 3, 4].filter((each) => {
        return counted[of][each]?.wallet === name(who) && this.owner[of].get(each) !== who;
      });
    return lost(name(who), { a: gone("A"), b: gone("B"), held: this.held("B", who) });
  }

  allLosses(): HoldingsLost {
    return all(...[0, 1, 2].map((who) => this.losses(who)));
  }

  do(event: Happening): ReturnType<typeof step>[1] {
    const [next, decision] = step(this.mint, event);
    this.mint = next;
    this.happened.push(event);
    return decision;
  }

  play(each: Move): void {
    if (each.kind === "move") this.owner[each.of].set(each.serial, each.to);
    if (each.kind === "star")
      this.do(star(name(each.wallet), this.held("A", each.wallet), this.held("B", each.wallet)));
    if (each.kind === "check")
      this.do(each.wallet === 3 ? this.allLosses() : this.losses(each.wallet));
  }
}

const name = (who: number): string => `0.0.${1001 + who}`;

/** The total, from what is attributed alone. */
function recount({ wallets, counted }: ForeverMintState["context"]): number {
  const of = (collection: "A" | "B") => Object.keys(counted[collection]).length;
  return Object.keys(wallets).length + of("A") + 5 * of("B");
}

function carriers(counted: Counted): string[] {
  return Object.values(counted.B).map(({ wallet }) => wallet);
}

const histories = fc.array(move, { minLength: 1, maxLength: 60 });

test("after any history the total is one per wallet, one per A and five per B attributed", () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const world = new World();
      for (const each of moves) {
        world.play(each);
        const { context } = world.mint;
        assert.equal(context.weight, recount(context));
        assert.equal(new Set(carriers(context.counted)).size, carriers(context.counted).length);
      }
    }),
    { numRuns: 300 },
  );
});

test("after stars and checks of everyone, each NFT held by a voter counts once, for its holder", () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const world = new World();
      for (const each of moves) world.play(each);
      world.do(world.allLosses());
      for (const who of [0, 1, 2])
        world.do(star(name(who), world.held("A", who), world.held("B", who)));
      const { counted, weight } = world.mint.context;
      for (const each of [1, 2, 3, 4]) {
        const who = world.owner.A.get(each);
        assert.equal(
          counted.A[each]?.wallet,
          who === undefined || who === 3 ? undefined : name(who),
        );
      }
      const power = (who: number) =>
        1 + world.held("A", who).length + (world.held("B", who).length > 0 ? 5 : 0);
      assert.equal(weight, power(0) + power(1) + power(2), "no wallet carries less than it holds");
    }),
    { numRuns: 300 },
  );
});

test("a check of everyone removes the +5 only from wallets that hold no collection B NFT any more", () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const world = new World();
      for (const each of moves) world.play(each);
      const before = carriers(world.mint.context.counted);
      world.do(world.allLosses());
      const stillHolding = [0, 1, 2].filter((who) => world.held("B", who).length > 0).map(name);
      assert.deepEqual(
        carriers(world.mint.context.counted).sort(),
        before.filter((who) => stillHolding.includes(who)).sort(),
      );
    }),
    { numRuns: 300 },
  );
});

test("a check changes nothing the second time, and a star after it brings back only what is held", () => {
  fc.assert(
    fc.property(histories, wallet, (moves, who) => {
      const world = new World();
      for (const each of moves) world.play(each);
      const losses = world.allLosses();
      world.do(losses);
      const after = world.mint;
      const again = world.do(losses);
      assert.equal(again.weight, 0);
      assert.deepEqual(world.mint, after, "the same losses given twice take away once");
      assert.equal(world.do(world.allLosses()).weight, 0, "nothing is left to find");
      world.do(star(name(who), world.held("A", who), world.held("B", who)));
      const restarred = world.mint.context;
      const second = world.do(star(name(who), world.held("A", who), world.held("B", who)));
      assert.equal(second.weight, 0, "starring again adds nothing that has counted");
      assert.deepEqual(world.mint.context.counted, restarred.counted);
    }),
    { numRuns: 300 },
  );
});

/** The part of a mint that one event is about. */
function sliceFor({ context }: ForeverMintState, event: Happening): ForeverMintState {
  const parts =
    event.type === "star"
      ? [{ ...event, a: event.holdings.collectionA, b: event.holdings.collectionB }]
      : event.losses.map((loss) => ({ ...loss, a: loss.lostA, b: [...loss.lostB, ...loss.heldB] }));
  const wallets = parts.map((part) => part.wallet);
  const keep = (from: Counted["A"], serials: readonly number[], own: boolean) =>
    Object.fromEntries(
      Object.entries(from).filter(
        ([each, holder]) =>
          serials.includes(Number(each)) || (own && wallets.includes(holder.wallet)),
      ),
    );
  const { A, B } = context.counted;
  return {
    value: "collecting",
    context: {
      event: context.event,
      weight: 0,
      stars: 0,
      wallets: Object.fromEntries(
        Object.entries(context.wallets).filter(([each]) => wallets.includes(each)),
      ),
      counted: {
        A: keep(
          A,
          parts.flatMap(({ a }) => a),
          false,
        ),
        B: keep(
          B,
          parts.flatMap(({ b }) => b),
          true,
        ),
      },
    },
  };
}

test("a slice decides the same as the whole, stars and losses alike", () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const world = new World();
      for (const each of moves) world.play(each);
      let whole = fresh();
      for (const event of world.happened) {
        const [next, decision] = step(whole, event);
        const [slice, sliced] = step(sliceFor(whole, event), event);
        assert.deepEqual(sliced, decision);
        const change = slice.context.weight;
        assert.equal(change, next.context.weight - whole.context.weight);
        whole = next;
      }
    }),
    { numRuns: 200 },
  );
});

test("a wallet's losses in one event or one by one end the same attributions", () => {
  fc.assert(
    fc.property(histories, wallet, (moves, who) => {
      const world = new World();
      for (const each of moves) world.play(each);
      const [loss] = world.losses(who).losses;
      assert.ok(loss);
      const singly = [
        ...loss.lostA.map((each) => lost(loss.wallet, { a: [each], held: [...loss.heldB] })),
        ...loss.lostB.map((each) => lost(loss.wallet, { b: [each], held: [...loss.heldB] })),
      ].reduce((state, event) => step(state, event)[0], world.mint);
      world.do(world.losses(who));
      assert.deepEqual(singly, world.mint);
    }),
    { numRuns: 200 },
  );
});

test("a star's date is that of the wallet's last vote, whatever it adds", () => {
  const dates = (...events: readonly Happening[]) =>
    Object.fromEntries(
      Object.entries(play(...events).context.wallets).map(([wallet, { value, context }]) => [
        wallet,
        `${value} ${context.votedOn}`,
      ]),
    );
  const later = (event: IdentifiedStar) => ({ ...event, at: startOfDay("2026-11-23") });
  const first = [star(ANN, [1], [4]), star(BOB, [2])];
  assert.deepEqual(dates(...first), { [ANN]: `carrying ${DAY}`, [BOB]: `counted ${DAY}` });
  assert.deepEqual(dates(...first, later(star(ANN, [1], [4])), later(star(BOB, [2], [5]))), {
    [ANN]: "carrying 2026-11-23",
    [BOB]: "carrying 2026-11-23",
  });
  // A loss is no vote: it changes the wallet's state and not the date.
  const loss = lost(ANN, { b: [4] });
  assert.deepEqual(dates(...first, later(star(BOB, [2])), loss), {
    [ANN]: `counted ${DAY}`,
    [BOB]: "counted 2026-11-23",
  });
});

test("commands and facts act as in XState's own transition, after any history (A25 model)", () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const world = new World();
      for (const each of moves) world.play(each);
      let mine = fresh();
      const theirs = (event: Parameters<typeof transition<typeof foreverMintMachine>>[2]) => {
        const from = foreverMintMachine.resolveState({ ...mine });
        const [{ value, context }, actions] = transition(foreverMintMachine, from, event);
        const emitted = actions.flatMap(({ type, params }) =>
          String(type) === "xstate.emit" ? [(params as { event: unknown }).event] : [],
        );
        return { moved: { value, context }, emitted };
      };
      for (const event of world.happened) {
        const [next, decision] = step(mine, event);
        const decided = theirs(event);
        assert.deepEqual(decided.emitted, [decision]);
        assert.deepEqual(decided.moved, mine, "a command moves nothing");
        const taken = theirs(factOf(event, decision));
        assert.deepEqual([taken.moved, taken.emitted], [next, []]);
        mine = next;
      }
    }),
    { numRuns: 60 },
  );
});

/** What the journal would say of a decision. */
function factOf(
  event: Happening,
  decision: EventDecision | LossDecision,
): EventStarred | LossDecision {
  if (event.type === "lost" || decision.type === "released") return decision as LossDecision;
  const { starId, wallet, at } = event;
  const { weight, claims } = decision;
  return { type: "starred", starId, wallet, at, weight, claims };
}

test.run();
