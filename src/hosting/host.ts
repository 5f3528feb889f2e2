import {
  foldWalletDay,
  underPass,
  type WalletDayKey,
  type WalletDayState,
} from "../../actors/wallet-day.ts";
import { bounds } from "../bounds.ts";
import {
  type DayVersion,
  isAt,
  type WalletDayFacts,
  type WalletDayQuery,
} from "../journal/load.ts";
import { recentlyUsed } from "./recently-used.ts";
import type { Snapshots } from "./snapshots.ts";

export type ActorSource = "memory" | "snapshot" | "journal";

/** A wallet-day actor that may decide: plain data under the pass in force now. */
export interface HostedWalletDay {
  readonly state: WalletDayState;
  /**
   * Whether every star of it comes from the journal or was stored by this process. One that rests
   * on a snapshot may accept, which the journal checks; a refusal of it is asked of the journal.
   */
  readonly isProved: boolean;
}

/** An actor under a pass that was just read. */
export interface LoadedWalletDay extends HostedWalletDay {
  /** When the pass was read, epoch ms by the database's clock. */
  readonly readAt: number;
  /**
   * The season of the pass that was in force at the instant a reload was asked for, as the journal
   * knows it now; absent where nothing was reloaded.
   */
  readonly seasonThen?: string | null;
}

/**
 * The wallet-day actors of this process. An actor exists when named: it is taken from memory, or
 * restored from its snapshot, or folded from the journal, at the version that the journal names.
 * Those not used for long are forgotten when there are too many.
 */
export type Host = ReturnType<typeof createHost>;

/** How far a wallet's day is in the journal, and the pass in force; both were read with the request. */
interface JournalVersion {
  readonly version: DayVersion;
  /** The season of the wallet's pass in force; null without one. */
  readonly seasonId: string | null;
}

export interface HostOptions {
  readonly load: (query: WalletDayQuery) => Promise<WalletDayFacts>;
  readonly snapshots: Pick<Snapshots, "read" | "write">;
  /** Called with where each opened actor comes from. */
  readonly onOpen?: (source: ActorSource) => void;
  readonly liveMax?: number;
}

export function createHost({
  load,
  snapshots,
  onOpen = () => undefined,
  liveMax = bounds.actorsLiveMax,
}: HostOptions) {
  // By wallet: of its days only the present one is ever asked.
  const live = recentlyUsed<HostedWalletDay>(liveMax);
  const mailboxes = new Map<string, Promise<unknown>>();

  const recall = ({ wallet, day }: WalletDayKey): HostedWalletDay | undefined => {
    const hosted = live.get(wallet);
    return hosted?.state.context.day === day ? hosted : undefined;
  };
  const remember = (hosted: HostedWalletDay): HostedWalletDay => {
    live.set(hosted.state.context.wallet, hosted);
    return hosted;
  };
  const reload = async (key: WalletDayKey, notBefore = 0): Promise<LoadedWalletDay> => {
    const { wallet, day } = key;
    const { stars, seasonId, seasonThen, readAt } = await load({ wallet, day, notBefore });
    const state = foldWalletDay(key, stars, seasonId);
    remember({ state, isProved: true });
    return { state, isProved: true, readAt, seasonThen };
  };
  const opened = (source: ActorSource, hosted: HostedWalletDay): HostedWalletDay => {
    onOpen(source);
    return hosted;
  };
  return {
    /** The actor as it is in memory; undefined when it is not. */
    recall,
    /** The actor as the journal has it now. */
    reload,
    /** The actor at the journal's version, or at a later one that this process has stored since. */
    async open(key: WalletDayKey, { version, seasonId }: JournalVersion): Promise<HostedWalletDay> {
      const known = recall(key);
      if (known !== undefined && isAt(version, known.state.context.stars)) {
        const state = underPass(known.state, seasonId);
        return opened("memory", state === known.state ? known : remember({ ...known, state }));
      }
      if (version.used === 0) {
        const state = foldWalletDay(key, [], seasonId);
        return opened("journal", remember({ state, isProved: true }));
      }
      const stars = await snapshots.read(key, version);
      if (stars === null) return opened("journal", await reload(key));
      const state = foldWalletDay(key, stars, seasonId);
      return opened("snapshot", remember({ state, isProved: false }));
    },
    /** Keeps the actor after a commit. */
    keep(key: WalletDayKey, hosted: HostedWalletDay): void {
      remember(hosted);
      snapshots.write(key, hosted.state);
    },
    /** Forgets the actor: its memory cannot be trusted. */
    drop: ({ wallet }: WalletDayKey): void => live.delete(wallet),
    /** Forgets all actors: the database may be another one than before. */
    dropAll: live.clear,
    count: live.size,
    /** Runs work of one wallet after all earlier work of that wallet. */
    inMailbox<T>(wallet: string, work: () => Promise<T>): Promise<T> {
      const turn = (mailboxes.get(wallet) ?? Promise.resolve()).then(work);
      const settled = turn.catch(() => undefined);
      mailboxes.set(wallet, settled);
      void settled.then(() => {
        if (mailboxes.get(wallet) === settled) mailboxes.delete(wallet);
      });
      return turn;
    },
  };
}
