import * as assert from "node:assert/strict";
import { dayOf } from "../../actors/day.ts";
import type { ForeverMintState, LossDecision } from "../../actors/forever-mint.ts";
import { lossSteps, mintSteps } from "../support/steps.ts";
import type { History } from "./histories.ts";
import type { Core } from "./world.ts";

/**
 * A forever mint with its daily check, a second time: who carries what, in plain maps. The serials
 * a wallet no longer holds are taken away before some of its stars.
 */
interface Ledger {
  readonly A: Map<number, string>;
  readonly B: Map<number, string>;
  readonly votedOn: Map<string, string>;
}

/** Plays a history's stars on one mint, with a check of the wallet before every second one. */
export function assertMintKeepsLedger(core: Core, { intents }: History): void {
  const stars = mintSteps(core.foreverMint);
  const losses = lossSteps(core.foreverMintCheck);
  const ledger: Ledger = { A: new Map(), B: new Map(), votedOn: new Map() };
  let mint = stars.initial({ event: "mint" });
  for (const [n, { wallet, holdings, now: at }] of intents.entries()) {
    if (n % 2 === 1) {
      const lostA = lostBy(ledger.A, wallet, holdings.collectionA);
      const lostB = lostBy(ledger.B, wallet, holdings.collectionB);
      const loss = { wallet, lostA, lostB, heldB: holdings.collectionB };
      const lost = { type: "lost", losses: [loss] } as const;
      const [after, decision] = losses.step(mint, lost);
      release(ledger, decision, loss);
      mint = after;
      assertIsLedger(mint, ledger);
    }
    const star = { type: "star", starId: `star-${n}`, wallet, holdings, at } as const;
    const [after, { weight }] = stars.step(mint, star);
    assert.equal(weight, add(ledger, star));
    mint = after;
    assertIsLedger(mint, ledger);
  }
}

function lostBy(table: Ledger["A"], wallet: string, held: readonly number[]): number[] {
  return [...table]
    .filter(([serial, by]) => by === wallet && !held.includes(serial))
    .map(([serial]) => serial);
}

/** What a star must weigh; the ledger has it afterwards. */
function add(
  { A, B, votedOn }: Ledger,
  {
    wallet,
    holdings,
    at,
  }: Pick<History["intents"][number], "wallet" | "holdings"> & { at: number },
): number {
  const base = votedOn.has(wallet) ? 0 : 1;
  const freshA = holdings.collectionA.filter((serial) => !A.has(serial));
  const freeB = holdings.collectionB.find((serial) => !B.has(serial));
  const carries = [...B.values()].includes(wallet);
  for (const serial of freshA) A.set(serial, wallet);
  if (!carries && freeB !== undefined) B.set(freeB, wallet);
  votedOn.set(wallet, dayOf(at));
  return base + freshA.length + (!carries && freeB !== undefined ? 5 : 0);
}

/** What a loss must release. */
function release(
  { A, B }: Ledger,
  decision: LossDecision,
  {
    wallet,
    lostA,
    lostB,
    heldB,
  }: { wallet: string } & Record<"lostA" | "lostB", number[]> & {
      heldB: readonly number[];
    },
): void {
  for (const serial of lostA) A.delete(serial);
  for (const serial of lostB) B.delete(serial);
  const spare = lostB.length === 0 ? undefined : heldB.find((serial) => !B.has(serial));
  if (spare !== undefined) B.set(spare, wallet);
  const bonus = lostB.length > 0 && spare === undefined ? 5 : 0;
  assert.equal(decision.weight, lostA.length + bonus);
  const expected = { wallet, a: lostA, b: lostB[0] ?? null, spare: spare ?? null };
  assert.deepEqual(decision.releases, [expected]);
}

function assertIsLedger({ context }: ForeverMintState, { A, B, votedOn }: Ledger): void {
  assert.equal(context.weight, votedOn.size + A.size + 5 * B.size);
  for (const of of ["A", "B"] as const) {
    const counted = Object.entries(context.counted[of]).map(([n, { wallet }]) => [
      Number(n),
      wallet,
    ]);
    assert.deepEqual(new Map(counted as [number, string][]), of === "A" ? A : B);
  }
  const standing = Object.entries(context.wallets).map(
    ([
      wallet,
      {
        value,
        context: { votedOn: on },
      },
    ]) => [wallet, `${value} ${on}`],
  );
  const carriers = [...B.values()];
  const expected = [...votedOn].map(([wallet, day]) => [
    wallet,
    `${carriers.includes(wallet) ? "carrying" : "counted"} ${day}`,
  ]);
  assert.deepEqual(Object.fromEntries(standing), Object.fromEntries(expected));
}
