import type { Day } from "../../actors/day.ts";
import { type EventDayState, eventDay } from "../../actors/event-day.ts";
import type { ForeverMintState } from "../../actors/forever-mint.ts";
import type { WalletDecision } from "../../actors/star.ts";
import { type WalletDayState, walletDay } from "../../actors/wallet-day.ts";
import { foldEventDay } from "../journal/event-history.ts";
import { foldForeverMint, stateOf } from "../journal/fold-mint.ts";
import { loadWalletDays, type WalletDayKey } from "../journal/load.ts";
import { type MintHappening, readMintHistory } from "../journal/mint-history.ts";
import type { Sql } from "../store/postgres.ts";

/** One step of a wallet's day: what the actor was told, what it decided, where that led. */
export interface WalletDayStep {
  readonly starId: string;
  /** `<type>/<id>` */
  readonly target: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly limit: number;
  readonly decision: WalletDecision;
  readonly state: WalletDayState;
}

/**
 * Walks a wallet's day star by star through the pure machine; 20 steps at most.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function walkWalletDay(
  sql: Sql,
  key: WalletDayKey,
): Promise<readonly WalletDayStep[]> {
  const [facts] = await loadWalletDays(sql, [key]);
  let state = walletDay.initial(key);
  return (facts?.stars ?? []).map(({ id, target, at, limit, repeatable }) => {
    const told = { type: "star", starId: id, target, repeatable, now: at, limit } as const;
    const [next, decision] = walletDay.step(state, told);
    state = next;
    return { starId: id, target, at, limit, decision, state };
  });
}

/** An event's day as it stood after its first `steps` stars. */
export async function eventDayAfter(
  sql: Sql,
  key: { readonly event: string; readonly day: Day },
  steps: number,
): Promise<EventDayState> {
  if (steps === 0) return eventDay.initial(key);
  return (await foldEventDay(sql, key, steps)).state;
}

/**
 * A forever mint as it stood after the first `steps` of its stars and releases.
 *
 * @throws Error when the machine decides otherwise than was written down
 */
export async function foreverMintAfter(
  sql: Sql,
  mint: string,
  steps: number,
): Promise<ForeverMintState> {
  return stateOf(mint, await foldForeverMint(mint, first(readMintHistory(sql, mint), steps)));
}

async function* first(
  pages: AsyncIterable<readonly MintHappening[]>,
  steps: number,
): AsyncGenerator<readonly MintHappening[]> {
  let left = steps;
  for await (const page of pages) {
    if (left <= 0) return;
    yield page.slice(0, left);
    left -= page.length;
  }
}
