import type { PremiumPass } from "../../actors/allowance.ts";
import { type WalletDayState, walletDay } from "../../actors/wallet-day.ts";
import { bounds } from "../config.ts";
import type { WalletDayFacts, WalletDayKey } from "../journal/load.ts";
import { recentlyUsed } from "./recently-used.ts";
import { noSnapshots, type Snapshots } from "./snapshots.ts";

/** A wallet-day actor in memory: plain data, and the passes its limit comes from. */
export interface HostedWalletDay {
  readonly state: WalletDayState;
  readonly passes: readonly PremiumPass[];
  /**
   * What the state rests on. `journal`: read for this very call. `memory`: read from the
   * journal before, or committed by this process. `hint`: it began as a Redis snapshot, so it
   * may propose a star but never refuse one.
   */
  readonly basis: "journal" | "memory" | "hint";
}

/**
 * The wallet-day actors of this process. An actor exists when named: first use loads it from its
 * snapshot or the journal, the least recently used is dropped when there are too many. What is in memory
 * may be behind another process; the journal's unique keys find that out.
 */
export interface Host {
  /** The actor, from memory, snapshot or journal. */
  walletDay(key: WalletDayKey): Promise<HostedWalletDay>;
  /** The actor as the journal has it now. */
  reload(key: WalletDayKey): Promise<HostedWalletDay>;
  /** Keeps the state after a commit. */
  keep(key: WalletDayKey, hosted: HostedWalletDay): void;
  /** Forgets the actor: its memory cannot be trusted. */
  drop(key: WalletDayKey): void;
  /** Forgets all actors: the database may be another one than before. */
  dropAll(): void;
  /** How many actors are in memory. */
  count(): number;
  /** Runs work of one wallet after all earlier work of that wallet. */
  inMailbox<T>(wallet: string, work: () => Promise<T>): Promise<T>;
}

/** Of most wallets: one for all of them. */
const NO_PASSES: readonly PremiumPass[] = [];

export interface HostOptions {
  /** All loads of a tick share one select. */
  readonly load: (key: WalletDayKey) => Promise<WalletDayFacts>;
  readonly snapshots?: Snapshots;
  readonly liveMax?: number;
}

export function createHost(options: HostOptions): Host {
  const { load, snapshots = noSnapshots, liveMax = bounds.actorsLiveMax } = options;
  // By wallet: of its days only the present one is ever asked.
  const live = recentlyUsed<HostedWalletDay>(liveMax);
  const mailboxes = new Map<string, Promise<unknown>>();

  const remember = (key: WalletDayKey, hosted: HostedWalletDay): HostedWalletDay => {
    live.set(key.wallet, hosted.basis === "journal" ? { ...hosted, basis: "memory" } : hosted);
    return hosted;
  };
  const reload = async (key: WalletDayKey): Promise<HostedWalletDay> => {
    const facts = await load(key);
    return remember(key, {
      state: foldWalletDay(key, facts),
      passes: facts.passes.length === 0 ? NO_PASSES : facts.passes,
      basis: "journal",
    });
  };

  return {
    async walletDay(key) {
      const hosted = live.get(key.wallet);
      if (hosted?.state.context.day === key.day) return hosted;
      const state = await snapshots.read(key);
      return state === null ? reload(key) : remember(key, { state, passes: [], basis: "hint" });
    },
    reload,
    keep(key, hosted) {
      remember(key, hosted);
      snapshots.write(key, hosted.state);
    },
    drop: ({ wallet }) => live.delete(wallet),
    dropAll: () => live.clear(),
    count: live.size,
    inMailbox(wallet, work) {
      const before = mailboxes.get(wallet) ?? Promise.resolve();
      const turn = before.then(work, work);
      const settled = turn.catch(() => undefined);
      mailboxes.set(wallet, settled);
      void settled.then(() => {
        if (mailboxes.get(wallet) === settled) mailboxes.delete(wallet);
      });
      return turn;
    },
  };
}

/**
 * Rebuilds a wallet-day by folding its stars through the machine.
 *
 * @throws Error when the machine refuses what the journal holds: they disagree
 */
export function foldWalletDay(key: WalletDayKey, { stars }: WalletDayFacts): WalletDayState {
  let state = walletDay.initial({ wallet: key.wallet, day: key.day });
  for (const star of stars) {
    const [next, decision] = walletDay.step(state, {
      type: "star",
      starId: star.id,
      target: star.target,
      repeatable: star.repeatable,
      now: star.at,
      limit: star.limit,
    });
    if (decision.type !== "accepted" || decision.at !== star.at) {
      throw new Error(`star ${star.id} of the journal does not follow from the stars before it`);
    }
    state = next;
  }
  return state;
}
