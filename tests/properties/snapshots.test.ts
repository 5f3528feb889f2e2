/**
 * Goal: "Forged, stale, ahead, of other rules, of another schema, Redis away or flushed in the
 * middle: never a wrong decision, never a refusal that the journal does not bear out". Method:
 * processes that restart cast stars over one journal in memory, with the real host, snapshots and
 * turn, on a Redis that tampers with what it hands out; fast-check chooses the votes, the lies and
 * whose wait ends next.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { test } from "uvu";
import { createHost, type Host } from "../../src/hosting/host.ts";
import { createSnapshots } from "../../src/hosting/snapshots.ts";
import type { WalletDayQuery } from "../../src/journal/load.ts";
import type { Redis } from "../../src/store/redis.ts";
import { type CastResult, type CastStarDeps, castStar } from "../../src/voting/cast-star.ts";
import { TARGETS, WALLETS } from "./histories.ts";
import {
  commit,
  counterKey,
  EMPTY_JOURNAL,
  loadSlice,
  NOTHING_SOLD,
  walletDayFacts,
} from "./journal.ts";
import { wrongWith } from "./judge.ts";
import { SEED } from "./rules.ts";
import type { Answer } from "./schedules.ts";

const DAY = "2026-11-20";
const NOON = Date.parse(`${DAY}T12:00:00Z`);
const PROCESSES = 3;
/** No answer is cut short. */
const NO_HURRY_MS = 600_000;
/** The first wallet has a pass. */
const SEASON = { seasonId: "season", startsAt: NOON - 1_000, endsAt: NOON + 1_000 };

type Snapshot = [schema: number, rules: number, wallet: string, stars: [string, string, number][]];

/** How a stored snapshot is handed out; null as if it was not there. */
const lies: Readonly<Record<string, (stored: Snapshot, first: Snapshot) => unknown>> = {
  true: (stored) => stored,
  lost: () => null,
  rubbish: (stored) => JSON.stringify(stored).slice(0, -7),
  "of another schema": ([schema, ...rest]) => [schema - 1, ...rest],
  "of other rules": ([schema, rules, ...rest]) => [schema, rules + 1, ...rest],
  "of another wallet": ([schema, rules, , stars]) => [schema, rules, "0.0.9", stars],
  stale: (_, first) => first,
  "a star short": ([schema, rules, wallet, stars]) => [schema, rules, wallet, stars.slice(1)],
  ahead: ([schema, rules, wallet, stars]) => {
    const at = (stars.at(-1)?.[2] ?? NOON) + 1;
    return [schema, rules, wallet, [...stars, [randomUUID(), "token/0.0.9001", at]]];
  },
  "dated otherwise": (stored) => withStars(stored, ([id, target, at]) => [id, target, at - 1]),
  // At the very version that the journal names: nothing but the journal can tell these.
  "with other items": (stored) =>
    withStars(stored, ([id, target, at]) => [id, itemAfter(target), at]),
  "with other ids": (stored) => withStars(stored, ([, target, at]) => [randomUUID(), target, at]),
};
const AWAY = "away";

function withStars(
  [schema, rules, wallet, stars]: Snapshot,
  change: (star: Snapshot[3][number]) => Snapshot[3][number],
): Snapshot {
  return [schema, rules, wallet, stars.map(change)];
}

function itemAfter(target: string): string {
  const keys = TARGETS.map(({ key }) => key);
  return keys[(keys.indexOf(target) + 1) % keys.length] ?? "";
}

const wish = fc.record({
  process: fc.nat(PROCESSES - 1),
  wallet: fc.constantFrom(...WALLETS.slice(0, 2)),
  target: fc.constantFrom(...TARGETS.slice(0, 3), ...TARGETS.slice(6, 9)),
});
type Wish = typeof wish extends fc.Arbitrary<infer Each> ? Each : never;
/** Votes that race, and what happens before them. */
const round = fc.record({
  wishes: fc.array(wish, { minLength: 1, maxLength: 4, size: "max" }),
  restarts: fc.subarray([0, 1, 2]),
  isFlushed: fc.constantFrom(false, false, false, true),
});
type Round = typeof round extends fc.Arbitrary<infer Each> ? Each : never;
const rounds = fc.array(round, { minLength: 2, maxLength: 8, size: "max" });
const lieNames = fc.infiniteStream(fc.constantFrom(...Object.keys(lies), AWAY));

/** A Redis that holds the snapshots of a day and lies about them. */
function lyingRedis(nextLie: () => string, handedOut: (lie: string) => void) {
  const written = new Map<string, string[]>();
  const answer = (wallet: string): string | null => {
    const texts = written.get(wallet);
    if (texts === undefined) return null;
    const name = nextLie();
    if (name === AWAY) throw new Error("Redis is away");
    handedOut(name);
    const [stored, first] = [texts.at(-1), texts[0]].map((text) => JSON.parse(text ?? "null"));
    const lie = lies[name]?.(stored, first) ?? null;
    return lie === null || typeof lie === "string" ? lie : JSON.stringify(lie);
  };
  const redis = {
    isReady: true,
    hSet: async (_: string, values: readonly (readonly [string, string])[]) => {
      for (const [wallet, text] of values) {
        written.set(wallet, [...(written.get(wallet) ?? []), text]);
      }
    },
    pExpireAt: async () => 1,
    hmGet: async (_: string, wallets: readonly string[]) => wallets.map(answer),
  };
  // The commands that snapshots use, and no others.
  return { redis: redis as unknown as Redis, flush: () => written.clear() };
}

interface Given {
  readonly scheduler: fc.Scheduler;
  readonly nextLie: () => string;
  /** What is made of each process' host. */
  readonly hostAs: (host: Host) => Host;
  readonly seen: Map<string, number>;
}

function openProcesses({ scheduler, nextLie, hostAs, seen }: Given) {
  let journal = EMPTY_JOURNAL;
  const contradictions: Error[] = [];
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const { redis, flush } = lyingRedis(nextLie, count);
  const seasonOf = (wallet: string) => (wallet === WALLETS[0] ? SEASON.seasonId : null);
  const waiting =
    <Args extends unknown[], Result>(name: string, act: (...args: Args) => Result) =>
    async (...args: Args): Promise<Result> => {
      await scheduler.schedule(Promise.resolve(), `${name} goes out`);
      const result = act(...args);
      await scheduler.schedule(Promise.resolve(), `${name} comes back`);
      return result;
    };
  const open = (n: number): CastStarDeps => {
    const snapshots = createSnapshots(redis);
    const load = waiting(`load ${n}`, (query: WalletDayQuery) =>
      walletDayFacts(journal, query, seasonOf(query.wallet)),
    );
    return {
      host: hostAs(createHost({ load, snapshots, onOpen: (source) => count(`from ${source}`) })),
      clock: {
        now: () => NOON,
        measure: async () => undefined,
        compare: async () => undefined,
        stop: () => undefined,
      },
      admit: waiting(`admit ${n}`, ({ voter, target: { type, id }, day }) => {
        const wallet = "wallet" in voter ? voter.wallet : "";
        const seasonId = seasonOf(wallet);
        const { stars } = walletDayFacts(journal, { wallet, day }, seasonId);
        const target = TARGETS.find((each) => each.type === type && each.id === id) ?? null;
        const version = { used: stars.length, lastAt: stars.at(-1)?.at ?? null };
        return { wallet, target, kept: null, seasonId, readAt: 0, day, version };
      }),
      ...NOTHING_SOLD,
      readHoldings: waiting(`holdings ${n}`, () => HOLDINGS),
      loadSlice: waiting(`slice ${n}`, (key) => loadSlice(journal, key)),
      commit: waiting(`commit ${n}`, (decided) => {
        const seasonId = seasonOf(decided.star.wallet);
        const [after, kind] = commit(journal, decided, { today: DAY, seasonId });
        journal = after;
        if (kind !== "stored") return { kind: "returned", reason: kind };
        const { target, day } = decided.star;
        return { kind, totalVotes: journal.totals[counterKey(target, day)] ?? 0 };
      }),
      findKeptReply: async () => null,
      messageOf: () => "",
      onAccepted: () => undefined,
      onContradiction: (error) => contradictions.push(error),
    };
  };
  return { open, flush, ending: () => ({ journal, contradictions }), count };
}

const HOLDINGS = { collectionA: [1, 2], collectionB: [1], readAt: NOON };

/** Plays the rounds, and says what is wrong with their end. */
async function play(given: Given, all: readonly Round[]) {
  const { open, flush, ending, count } = openProcesses(given);
  const processes = Array.from({ length: PROCESSES }, (_, n) => open(n));
  const results: { vote: Pick<Wish, "wallet" | "target">; result: CastResult }[] = [];
  for (const { wishes, restarts, isFlushed } of all) {
    for (const n of restarts) processes[n] = open(n);
    if (isFlushed) flush();
    const racing = wishes.map(async ({ process, wallet, target }) => {
      const deps = processes[process];
      assert.ok(deps);
      const answerBy = performance.now() + NO_HURRY_MS;
      const cast = { voter: { wallet }, target, idempotencyKey: null, answerBy };
      results.push({ vote: { wallet, target }, result: await castStar(deps, cast) });
    });
    // Those beside one that fails end too: one left waiting would keep the process up.
    await given.scheduler.waitFor(Promise.allSettled(racing));
    await Promise.all(racing);
    // What is waiting for Redis goes out: the next round finds it there.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
  const { journal, contradictions } = ending();
  const answers = results.map(({ vote, result }) => {
    const answer = answerOf(result, journal.stars);
    count(answer?.kind === "refused" ? answer.decision.code : "accepted");
    return { vote, answer };
  });
  const passes = { [WALLETS[0]]: [SEASON] };
  const fault = wrongWith({ scenario: { passes, earlier: [] }, journal, answers });
  return fault ?? (contradictions.length > 0 ? "machine and journal contradict each other" : null);
}

function answerOf(
  result: CastResult,
  stars: ReturnType<ReturnType<typeof openProcesses>["ending"]>["journal"]["stars"],
): Answer | null {
  if (result.kind === "refused") {
    return { kind: "refused", decision: result.decision, now: NOON, holdings: HOLDINGS };
  }
  const { star } = JSON.parse(result.body) as { star: { id: string; weight: number } };
  const stored = stars.find((each) => each.star.id === star.id)?.star;
  return stored === undefined
    ? null
    : { kind: "accepted", star: { ...stored, weight: star.weight } };
}

const propertyWith = (hostAs: Given["hostAs"], seen: Given["seen"]) =>
  fc.asyncProperty(fc.scheduler(), lieNames, rounds, async (scheduler, names, all) => {
    const nextLie = () => names.next().value ?? "lost";
    assert.equal(await play({ scheduler, nextLie, hostAs, seen }, all), null);
  });

test("with any snapshots, no decision is wrong and the journal agrees with every refusal", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    propertyWith((host) => host, seen),
    { seed: SEED, numRuns: 300 },
  );
  const expected = [
    ...Object.keys(lies),
    ...["from memory", "from snapshot", "from journal"],
    ...["accepted", "ALREADY_STARRED", "ALLOWANCE_EXHAUSTED"],
  ];
  for (const what of expected) process.stdout.write(`${seen.get(what) ?? 0} × ${what}\n`);
  const rare = expected.filter((what) => (seen.get(what) ?? 0) < 10);
  assert.deepEqual(rare, [], "a lie that seldom occurs proves nothing");
});

test("a host that takes a snapshot for the journal is found out", async () => {
  const trusting = (host: Host): Host => ({
    ...host,
    open: async (...args) => ({ ...(await host.open(...args)), isProved: true }),
  });
  const { failed } = await fc.check(propertyWith(trusting, new Map()), {
    seed: SEED,
    numRuns: 300,
    endOnFailure: true,
  });
  assert.equal(failed, true);
});

test("a turn that refuses by a snapshot alone is found out", async () => {
  const forgetful = (host: Host): Host => ({
    ...host,
    async reload(key, notBefore) {
      const known = host.recall(key);
      return known === undefined
        ? host.reload(key, notBefore)
        : { ...known, readAt: 0, seasonThen: null };
    },
  });
  const { failed } = await fc.check(propertyWith(forgetful, new Map()), {
    seed: SEED,
    numRuns: 300,
    endOnFailure: true,
  });
  assert.equal(failed, true);
});

test.run();
