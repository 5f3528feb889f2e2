import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { FAILPOINTS } from "../../src/failpoint.ts";
import type { PublishFailpoint } from "../../src/publishing/context.ts";
import type { SendFault } from "../support/fake-topic.ts";
import { Crash, createRig, type Fate, openRigs, type Rig } from "./rig.ts";

/**
 * Every step of publishing, in every kind of trouble, is where a process dies once, and
 * where it once sleeps so long that another takes its star over. Afterwards each star is
 * on the ledger exactly once.
 */
const test = suite("publish across crashes");
let rigs: Awaited<ReturnType<typeof openRigs>>;
test.before(async () => {
  rigs = await openRigs();
});
test.after(() => rigs.close());

const failpoints = FAILPOINTS.filter((name): name is Extract<PublishFailpoint, `pub.${string}`> =>
  name.startsWith("pub."),
);

interface Trouble {
  readonly name: string;
  readonly faults: readonly SendFault[];
  /** No receipts until the star's first id has run out. */
  readonly silent?: boolean;
  /** Seconds that this machine's clock is ahead. */
  readonly clockOff?: number;
}

const troubles: readonly Trouble[] = [
  { name: "none", faults: [] },
  { name: "the answer is lost", faults: [{ kind: "answer lost" }] },
  { name: "the message is lost", faults: [{ kind: "dropped" }, { kind: "vanished" }] },
  { name: "it fails at consensus", faults: [{ kind: "failed", status: "THROTTLED_AT_CONSENSUS" }] },
  { name: "the node is busy", faults: [{ kind: "refused", status: "BUSY" }] },
  { name: "the clock is ahead", faults: [], clockOff: 300 },
  {
    name: "no node says anything, and it is lost",
    faults: Array.from({ length: 3 }, () => ({ kind: "vanished" as const })),
    silent: true,
  },
  { name: "no node says anything, and it landed", faults: [{ kind: "answer lost" }], silent: true },
];

async function inTrouble(trouble: Trouble): Promise<Rig> {
  const rig = await createRig(rigs.sql);
  rig.ledger.sendFaults.push(...trouble.faults);
  rig.ledger.receiptsAway = trouble.silent ?? false;
  rig.clockOff = trouble.clockOff ?? 0;
  return rig;
}

/** Whatever is left to do, by processes to which nothing happens. */
async function finish(rig: Rig): Promise<void> {
  await rig.publisher().run({ steps: 6, seconds: 40 });
  rig.ledger.receiptsAway = false;
  await rig.publisher().run({ steps: 12, seconds: 40 });
}

async function assertOnce(rig: Rig, starId: string, fate: Fate): Promise<void> {
  const { state, transaction_id } = await rig.row(starId);
  const said = rig.ledger.messages.map(({ chunk }) => chunk?.transactionId);
  assert.deepEqual(said, [transaction_id], `${fate.at} #${fate.hit}`);
  assert.equal(state, "published", `${fate.at} #${fate.hit}`);
  const attempts = await rig.attempts(starId);
  assert.equal(attempts.filter(({ outcome }) => outcome === "published").length, 1);
  assert.ok(attempts.every(({ outcome }) => outcome !== null));
  assert.deepEqual(rig.alarms, []);
}

/** @returns whether the failpoint was passed so often at all */
async function crashOnce(trouble: Trouble, fate: Fate): Promise<boolean> {
  const rig = await inTrouble(trouble);
  const starId = await rig.box();
  const outcome = await rig
    .publisher(fate)
    .run({ steps: 8, seconds: 40 })
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  if (outcome !== undefined && !(outcome instanceof Crash)) throw outcome;
  await finish(rig);
  await assertOnce(rig, starId, fate);
  return outcome instanceof Crash;
}

async function sleepOnce(trouble: Trouble, at: PublishFailpoint): Promise<boolean> {
  const rig = await inTrouble(trouble);
  const starId = await rig.box();
  let wake = (): void => undefined;
  let slept = (): void => undefined;
  const isAsleep = new Promise<void>((resolve) => {
    slept = resolve;
  });
  const fate: Fate = {
    at,
    hit: 1,
    hang: () =>
      new Promise((resolve) => {
        wake = resolve;
        slept();
      }),
  };
  const sleeper = rig.publisher(fate).run({ steps: 8, seconds: 40 });
  const hangs = await Promise.race([isAsleep.then(() => true), sleeper.then(() => false)]);
  await finish(rig);
  wake();
  await sleeper;
  await finish(rig);
  await assertOnce(rig, starId, fate);
  return hangs;
}

const passed = new Set<PublishFailpoint>();

for (const trouble of troubles) {
  test(`killed at any step while the trouble is: ${trouble.name} (A3 kill9-everywhere, P6)`, async () => {
    for (const at of failpoints) {
      for (let hit = 1; await crashOnce(trouble, { at, hit }); hit++) passed.add(at);
    }
  });

  test(`asleep at any step, and overtaken, while the trouble is: ${trouble.name} (A22 stalled-worker, P6)`, async () => {
    for (const at of failpoints) await sleepOnce(trouble, at);
  });
}

test("every step was passed in some trouble", () => {
  assert.deepEqual([...passed].sort(), [...failpoints].sort());
});

test.run();
