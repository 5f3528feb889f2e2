import { FREE_LIMIT, PREMIUM_LIMIT } from "../../actors/allowance.ts";
import { ruleOf } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import type { FollowedClock } from "../clock.ts";
import { bounds } from "../config.ts";
import { createHost } from "../hosting/host.ts";
import type { MintSnapshots } from "../hosting/mint-snapshots.ts";
import { recentlyUsed } from "../hosting/recently-used.ts";
import type { Snapshots } from "../hosting/snapshots.ts";
import { createGroupCommit } from "../journal/group-commit.ts";
import { findKeptReplies } from "../journal/idempotency.ts";
import { loadSlices, loadWalletDays } from "../journal/load.ts";
import type { StarRecord } from "../journal/star-record.ts";
import { starMessage } from "../publishing/message.ts";
import { findTargets } from "../reads/targets.ts";
import { batchPerTick } from "../store/batch.ts";
import type { Sql } from "../store/postgres.ts";
import { type AdmissionQuery, loadAdmissions } from "../voting/admission.ts";
import type { CastStarDeps } from "../voting/cast-star.ts";
import { findSessions } from "../voting/session.ts";

/** What the voting engine is made from. */
export interface VotingParts {
  /** The pool for reading. */
  readonly sql: Sql;
  /** The pool for casting, opened as `writer`. */
  readonly writer: Sql;
  readonly clock: FollowedClock;
  readonly readHoldings: CastStarDeps["readHoldings"];
  /** Keys of a message's `holdings`. */
  readonly collectionKeys: { readonly a: string; readonly b: string };
  readonly onAccepted: (star: StarRecord, totalVotes: number) => void;
  readonly onBatch?: (stars: number) => void;
  /** Points that each star earns (`XP_PER_STAR`); 1 when absent. */
  readonly xpPerStar?: number;
  readonly snapshots?: Snapshots;
  readonly mintSnapshots?: MintSnapshots;
}

/** Most loads of one tick that share a select. */
const LOADS_MAX = 256;

/** Puts the voting engine together: every look-up of a tick becomes one select. */
export function composeVoting(parts: VotingParts) {
  const { sql, writer, clock, collectionKeys } = parts;
  const loadWalletDay = batchPerTick(
    (keys: Parameters<typeof loadWalletDays>[1]) => loadWalletDays(writer, keys),
    LOADS_MAX,
  );
  const groupCommit = createGroupCommit({
    sql: writer,
    now: clock.now,
    ...(parts.xpPerStar !== undefined && { xpPerStar: parts.xpPerStar }),
    ...(parts.onBatch && { onBatch: parts.onBatch }),
  });
  /** Whose token it is: tells which day need not be read, nothing else. */
  const bearers = recentlyUsed<string>(bounds.actorsLiveMax);
  const load = batchPerTick(
    (queries: readonly AdmissionQuery[]) => loadAdmissions(writer, clock, queries),
    LOADS_MAX,
  );
  const admit: CastStarDeps["admit"] = async (query) => {
    const { voter } = query;
    const day = dayOf(clock.now());
    const bearer = "token" in voter ? bearers.get(voter.token) : voter.wallet;
    const known = bearer === undefined ? undefined : host.recall({ wallet: bearer, day });
    const used = known?.context.stars.length;
    // A refusal for want of votes rests on the journal. Where one is likely it is read along, at
    // some 40 µs, rather than by a statement of its own.
    const isEnough = used !== undefined && used !== FREE_LIMIT && used !== PREMIUM_LIMIT;
    const admission = await load({ ...query, day: isEnough ? null : day });
    if ("token" in voter && admission.wallet !== null && bearer === undefined) {
      bearers.set(voter.token, admission.wallet);
    }
    return admission;
  };
  const host = createHost({
    load: loadWalletDay,
    ...(parts.snapshots && { snapshots: parts.snapshots }),
  });
  const castStar: CastStarDeps = {
    host,
    clock,
    commit: groupCommit.commit,
    loadSlice: batchPerTick(
      (keys: Parameters<typeof loadSlices>[1]) => loadSlices(writer, keys),
      LOADS_MAX,
    ),
    findKeptReply: batchPerTick(
      (queries: Parameters<typeof findKeptReplies>[1]) => findKeptReplies(sql, queries),
      LOADS_MAX,
    ),
    admit,
    readHoldings: parts.readHoldings,
    messageOf: (star) => starMessage(star, collectionKeys),
    onStored({ star, claims }, totalVotes) {
      if (claims === null || ruleOf(star.target).frequency !== "once") return;
      parts.mintSnapshots?.add(star, claims, totalVotes);
    },
    onAccepted: parts.onAccepted,
  };
  const findSession = batchPerTick(
    (tokens: readonly string[]) => findSessions(sql, clock, tokens),
    LOADS_MAX,
  );
  const findTarget = batchPerTick(
    (names: Parameters<typeof findTargets>[1]) => findTargets(sql, names),
    LOADS_MAX,
  );
  return { castStar, loadWalletDay, findTarget, findSession, settled: groupCommit.settled };
}
