import type { PremiumPass } from "../../actors/allowance.ts";
import { type WalletDayState, walletDay, walletDayId } from "../../actors/wallet-day.ts";
import { bounds } from "../config.ts";
import type { WalletDayFacts, WalletDayKey } from "../journal/load.ts";

/** A wallet-day actor in memory: plain data, and the passes its limit comes from. */
export interface HostedWalletDay {
  readonly state: WalletDayState;
  readonly passes: readonly PremiumPass[];
  /** True when it was read from the journal for this very call. */
  readonly fresh: boolean;
}

/**
 * The wallet-day actors of this process. An actor exists when named: first use loads it from
 * the journal, the least recently used is dropped when there are too many. What is in memory
 * may be behind another process; the journal's unique keys find that out.
 */
export interface Host {
  /** The actor, from memory or journal. */
  walletDay(key: WalletDayKey): Promise<HostedWalletDay>;
  /** The actor as the journal has it now. */
  reload(key: WalletDayKey): Promise<HostedWalletDay>;
  /** Keeps the state after a commit. */
  keep(key: WalletDayKey, hosted: Omit<HostedWalletDay, "fresh">): void;
  /** Forgets the actor: its memory cannot be trusted. */
  drop(key: WalletDayKey): void;
  /** Runs work of one wallet after all earlier work of that wallet. */
  inMailbox<T>(wallet: string, work: () => Promise<T>): Promise<T>;
}

export interface HostOptions {
  /** All loads of a tick share one select. */
  readonly load: (key: WalletDayKey) => Promise<WalletDayFacts>;
  readonly liveMax?: number;
}

export function createHost({ load, liveMax = bounds.actorsLiveMax }: HostOptions): Host {
  // A Map keeps insertion order: the first key is the least recently used.
  const live = new Map<string, Omit<HostedWalletDay, "fresh">>();
  const mailboxes = new Map<string, Promise<unknown>>();

  const keep: Host["keep"] = (key, { state, passes }) => {
    const id = walletDayId(key.wallet, key.day);
    live.delete(id);
    live.set(id, { state, passes });
    if (live.size > liveMax) {
      const [oldest] = live.keys();
      if (oldest !== undefined) live.delete(oldest);
    }
  };
  const reload = async (key: WalletDayKey): Promise<HostedWalletDay> => {
    const facts = await load(key);
    const hosted = { state: foldWalletDay(key, facts), passes: facts.passes };
    keep(key, hosted);
    return { ...hosted, fresh: true };
  };

  return {
    async walletDay(key) {
      const hosted = live.get(walletDayId(key.wallet, key.day));
      if (hosted === undefined) return reload(key);
      keep(key, hosted);
      return { ...hosted, fresh: false };
    },
    reload,
    keep,
    drop: (key) => void live.delete(walletDayId(key.wallet, key.day)),
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
