import { DAY_MS, type Day, dayOf } from "../../../actors/day.ts";
import type { RefusalTrail, TrailedRefusal } from "../../journal/refusal-trail.ts";
import { entityId, entityNumber } from "../../ledger/entity-id.ts";
import { type ListedStar, listStars } from "../../reads/list-stars.ts";
import type { Sql } from "../../store/postgres.ts";
import { alike } from "./markup.ts";
import { refusalWords, weightWords } from "./words.ts";

/** One decision in words, as page and stream show it. */
export interface Decision {
  /** The star's id, or the refusal's: a decision shown already is not shown again. */
  readonly id: string;
  readonly at: number;
  readonly isAccepted: boolean;
  readonly wallet: string;
  /** `<type>/<id>` */
  readonly target: string;
  /** Why it weighs what it does or was refused. */
  readonly why: string;
  readonly weight: number | null;
}

export interface DecisionFilter {
  readonly wallet?: string | undefined;
  readonly event?: string | undefined;
}

export type DecisionFeed = ReturnType<typeof decisionFeed>;

/** A page of the feed. */
const SHOWN = 50;
/** Most decisions that a stream catches up on: the newest, accepted and refused ones together. */
const SINCE_MAX = 500;
/** Watchers of one process share a reading of the last moments. */
const SHARED_MS = 900;

export function decisionFeed(sql: Sql, trail: RefusalTrail) {
  const read = async (
    filter: DecisionFilter,
    asked: { readonly since: number; readonly now: number; readonly limit: number },
  ): Promise<readonly Decision[]> => {
    const { wallet, event } = filter;
    const [accepted, refused] = await Promise.all([
      listStars(sql, {
        wallet: wallet === undefined ? undefined : entityNumber(wallet),
        event,
        between: [asked.since, asked.now],
        limit: asked.limit,
      }),
      // `after` begins with the oldest and ends at a number: of half a day and more the newest are wanted.
      asked.now - asked.since > DAY_MS / 2
        ? trail.newest(SINCE_MAX)
        : trail.after(`${Math.max(0, asked.since)}-0`),
    ]);
    const fitting = refused.filter(
      (one) =>
        (wallet === undefined || one.wallet === wallet) &&
        (event === undefined || one.target === `event/${event}`),
    );
    return [...accepted.map(acceptedWords), ...fitting.map(refusedWords)]
      .sort((one, other) => one.at - other.at)
      .slice(-asked.limit);
  };
  const shared = new Map<string, { at: number; found: Promise<readonly Decision[]> }>();
  return {
    /** The newest, newest first. */
    newest: async (filter: DecisionFilter, now: number): Promise<readonly Decision[]> =>
      (await read(filter, { since: now - DAY_MS, now, limit: SHOWN })).toReversed(),
    /**
     * What was decided since an instant, oldest first. Accepted stars come from the journal and are
     * complete up to `SINCE_MAX`; refusals from the trail, which is best effort.
     */
    since(filter: DecisionFilter, at: number, now: number): Promise<readonly Decision[]> {
      const second = Math.floor(at / 1_000) * 1_000;
      const key = JSON.stringify([filter.wallet, filter.event, second]);
      const known = shared.get(key);
      if (known !== undefined && now - known.at < SHARED_MS) return known.found;
      for (const [old, { at: readAt }] of shared) if (now - readAt >= SHARED_MS) shared.delete(old);
      const found = read(filter, { since: second, now, limit: SINCE_MAX });
      found.catch(() => shared.delete(key));
      shared.set(key, { at: now, found });
      return found;
    },
  };
}

function acceptedWords(star: ListedStar): Decision {
  return {
    id: star.id,
    at: star.at,
    isAccepted: true,
    wallet: entityId(star.wallet),
    target: `${star.type}/${star.targetId}`,
    why: weightWords(star),
    weight: star.weight,
  };
}

function refusedWords({ code, ...refused }: TrailedRefusal): Decision {
  return { ...refused, isAccepted: false, why: refusalWords(code), weight: null };
}

export interface RefusalGroup {
  readonly day: Day;
  /** `<type>/<id>` */
  readonly target: string;
  readonly code: string;
  readonly count: number;
  /** Of the newest, epoch milliseconds. */
  readonly at: number;
}

/** The newest of all wallets, in which one's are looked for. */
const SEARCHED = 500;

/** A wallet's refused stars as far as they are kept, newest first; those of a day that are alike are counted. */
export async function refusalsOf(
  trail: RefusalTrail,
  wallet: string,
): Promise<readonly RefusalGroup[]> {
  const mine = (await trail.newest(SEARCHED)).filter(({ wallet: refused }) => refused === wallet);
  const groups = alike(mine, ({ at, code, target }) => `${dayOf(at)} ${code} ${target}`);
  return groups.map(([{ at, target, code }, ...others]) => {
    return { day: dayOf(at), target, code, at, count: 1 + others.length };
  });
}
