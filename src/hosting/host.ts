import type { PremiumPass } from "../../actors/allowance.ts";
import { type WalletDayState, walletDay } from "../../actors/wallet-day.ts";
import { bounds } from "../config.ts";
import type { WalletDayFacts, WalletDayKey } from "../journal/load.ts";
import { recentlyUsed } from "./recently-used.ts";
import type { Snapshots } from "./snapshots.ts";

/** What decides on a wallet's day: its actor, plain data, and the passes its limit comes from. */
export interface HostedWalletDay {
  readonly state: WalletDayState;
  readonly passes: readonly PremiumPass[];
}

/**
 * The wallet-day actors of this process. An actor exists when named: what the journal tells of
 * it is folded on first use, those not used for long are forgotten when there are too many.
 * What is in memory may be behind another process; the journal's unique keys find that out.
 */
export interface Host {
  /** The actor as it is in memory; undefined when it is not. */
  recall(key: WalletDayKey): WalletDayState | undefined;
  /** Takes in what the journal told in passing, unless memory is further. */
  adopt(key: WalletDayKey, facts: WalletDayFacts): WalletDayState;
  /** The actor as the journal has it now. */
  reload(key: WalletDayKey): Promise<HostedWalletDay>;
  /** Keeps the state after a commit. */
  keep(key: WalletDayKey, state: WalletDayState): void;
  /** Forgets the actor: its memory cannot be trusted. */
  drop(key: WalletDayKey): void;
  /** Forgets all actors: the database may be another one than before. */
  dropAll(): void;
  /** How many actors are in memory. */
  count(): number;
  /** Runs work of one wallet after all earlier work of that wallet. */
  inMailbox<T>(wallet: string, work: () => Promise<T>): Promise<T>;
}

export interface HostOptions {
  /** All loads of a tick share one select. */
  readonly load: (key: WalletDayKey) => Promise<WalletDayFacts>;
  /** Where actors are laid down for others to look at; deciding reads none of it. */
  readonly snapshots?: Pick<Snapshots, "write">;
  readonly liveMax?: number;
}

export function createHost(options: HostOptions): Host {
  const { load, snapshots, liveMax = bounds.actorsLiveMax } = options;
  // By wallet: of its days only the present one is ever asked.
  const live = recentlyUsed<WalletDayState>(liveMax);
  const mailboxes = new Map<string, Promise<unknown>>();

  const recall = ({ wallet, day }: WalletDayKey): WalletDayState | undefined => {
    const state = live.get(wallet);
    return state?.context.day === day ? state : undefined;
  };
  return {
    recall,
    adopt(key, facts) {
      const known = recall(key);
      // Read earlier than what a star left behind meanwhile.
      if (known !== undefined && known.context.stars.length >= facts.stars.length) return known;
      const state = foldWalletDay(key, facts);
      live.set(key.wallet, state);
      return state;
    },
    async reload(key) {
      const facts = await load(key);
      const state = foldWalletDay(key, facts);
      live.set(key.wallet, state);
      return { state, passes: facts.passes };
    },
    keep(key, state) {
      live.set(key.wallet, state);
      snapshots?.write(key, state);
    },
    drop: ({ wallet }) => live.delete(wallet),
    dropAll: live.clear,
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
