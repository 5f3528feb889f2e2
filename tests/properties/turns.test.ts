/**
 * Goal: the real turn, with its memory and its mailboxes, keeps the rules however its waits
 * end. Method: several processes with a host each take turns over one journal in memory;
 * fast-check chooses whose read, load or commit goes on next, and shrinks a failure.
 */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import type { Holdings } from "../../actors/weight.ts";
import { createHost } from "../../src/hosting/host.ts";
import { type TurnDeps, type TurnResult, takeTurn } from "../../src/hosting/turn.ts";
import type { WalletDayQuery } from "../../src/journal/load.ts";
import { NO_SNAPSHOTS } from "../support/engine.ts";
import { TARGETS, WALLETS } from "./histories.ts";
import {
  commit,
  counterKey,
  EMPTY_JOURNAL,
  type Key,
  loadSlice,
  NOTHING_SOLD,
  walletDayFacts,
} from "./journal.ts";
import { wrongWith } from "./judge.ts";
import { SEED } from "./rules.ts";
import type { Answer } from "./schedules.ts";

const DAY = "2026-11-20";
const NOON = Date.parse(`${DAY}T12:00:00Z`);

/** Votes that get in each other's way: few wallets, few targets, few NFTs, several processes. */
const wish = fc.record({
  process: fc.nat(2),
  wallet: fc.constantFrom(...WALLETS.slice(0, 2)),
  target: fc.constantFrom(...TARGETS.slice(0, 3), ...TARGETS.slice(6, 8)),
  a: fc.subarray([1, 2, 3]),
  b: fc.subarray([1, 2]),
});
type Wish = typeof wish extends fc.Arbitrary<infer Each> ? Each : never;

interface Setting {
  /** Keys that the journal lacks. */
  readonly without: readonly Key[];
  /** Most actors that a process keeps. */
  readonly liveMax: number;
}

const ALL_KEYS: Setting = { without: [], liveMax: 100 };

/** Processes over one journal; each call of theirs waits before and after it takes effect. */
function openProcesses(scheduler: fc.Scheduler, { without, liveMax }: Setting) {
  let journal = EMPTY_JOURNAL;
  let lost = 0;
  const waiting =
    <Args extends unknown[], Result>(name: string, act: (...args: Args) => Result) =>
    async (...args: Args): Promise<Result> => {
      await scheduler.schedule(Promise.resolve(), `${name} goes out`);
      const result = act(...args);
      await scheduler.schedule(Promise.resolve(), `${name} comes back`);
      return result;
    };
  const processes = Array.from({ length: 3 }, (_, n): TurnDeps => {
    const load = waiting(`load ${n}`, (query: WalletDayQuery) =>
      walletDayFacts(journal, query, null),
    );
    return {
      host: createHost({ load, snapshots: NO_SNAPSHOTS, liveMax }),
      clock: {
        now: () => NOON,
        measure: async () => undefined,
        compare: async () => undefined,
        stop: () => undefined,
      },
      ...NOTHING_SOLD,
      readHoldings: () => Promise.reject(new Error("no other wallet is read")),
      loadSlice: waiting(`slice ${n}`, (key) => loadSlice(journal, key)),
      commit: waiting(`commit ${n}`, (decided) => {
        const [written, kind] = commit(journal, decided, { today: DAY, without });
        journal = written;
        if (kind !== "stored") {
          lost += 1;
          return { kind: "returned", reason: kind };
        }
        const { target, day } = decided.star;
        return { kind, totalVotes: journal.totals[counterKey(target, day)] ?? 0 };
      }),
      findKeptReply: async () => null,
      messageOf: () => "",
      onContradiction: (error) => {
        throw error;
      },
    };
  });
  return { processes, ending: () => ({ journal, lost }) };
}

function answerOf(result: TurnResult, holdings: Holdings): Answer | null {
  if (result.kind === "replayed") return null;
  return result.kind === "accepted"
    ? { kind: "accepted", star: result.star }
    : { kind: "refused", decision: result.decision, now: NOON, holdings };
}

/** Lets votes race, and judges where they come to. */
async function race(scheduler: fc.Scheduler, votes: readonly Wish[], setting: Setting) {
  const { processes, ending } = openProcesses(scheduler, setting);
  const racing = votes.map(async ({ process, wallet, target, a, b }) => {
    const deps = processes[process];
    assert.ok(deps);
    const holdings = { collectionA: a, collectionB: b, readAt: NOON };
    const answerBy = Number.POSITIVE_INFINITY;
    const pass = { seasonId: null, readAt: 0 };
    const intent = { wallet, target, holdings, answerBy, ...pass, idempotency: null };
    return { vote: { wallet, target }, answer: answerOf(await takeTurn(deps, intent), holdings) };
  });
  const all = Promise.all(racing);
  // It is awaited below; until then a failure must not look unhandled.
  all.catch(() => undefined);
  await scheduler.waitIdle();
  const answers = await all;
  const { journal, lost } = ending();
  const fault = wrongWith({ scenario: { passes: {}, earlier: [] }, journal, answers });
  return {
    fault,
    lost,
    refused: answers.filter(({ answer }) => answer?.kind === "refused").length,
  };
}

const votes = fc.array(wish, { minLength: 2, maxLength: 14, size: "max" });

test("turns of three processes, their waits ended in any order, keep every rule (A1 two-heads, P3, P4, P5)", async () => {
  let lost = 0;
  let refused = 0;
  const property = fc.asyncProperty(fc.scheduler(), votes, async (scheduler, wished) => {
    const end = await race(scheduler, wished, ALL_KEYS);
    assert.equal(end.fault, null);
    lost += end.lost;
    refused += end.refused;
  });
  await fc.assert(property, { seed: SEED, numRuns: 400 });
  process.stdout.write(`${lost} races were lost, ${refused} stars refused\n`);
  assert.ok(lost > 500 && refused > 500, "turns that do not race prove nothing");
});

test("the same where a process forgets a wallet's day as soon as another one is used (A18 passivation)", async () => {
  const property = fc.asyncProperty(fc.scheduler(), votes, async (scheduler, wished) => {
    assert.equal((await race(scheduler, wished, { ...ALL_KEYS, liveMax: 1 })).fault, null);
  });
  await fc.assert(property, { seed: SEED, numRuns: 200 });
});

for (const key of ["slot", "claim"] satisfies Key[]) {
  test(`the same turns over a journal without its ${key} key are found out`, async () => {
    const property = fc.asyncProperty(fc.scheduler(), votes, async (scheduler, wished) => {
      assert.equal((await race(scheduler, wished, { ...ALL_KEYS, without: [key] })).fault, null);
    });
    const { failed } = await fc.check(property, { seed: SEED, numRuns: 400, endOnFailure: true });
    assert.equal(failed, true);
  });
}

test.run();
