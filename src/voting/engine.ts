import { batcher } from "../batcher.ts";
import { bounds } from "../bounds.ts";
import type { FollowedClock } from "../clock.ts";
import { type ActorSource, createHost } from "../hosting/host.ts";
import type { Snapshots } from "../hosting/snapshots.ts";
import { createGroupCommit } from "../journal/group-commit.ts";
import { findKeptReplies } from "../journal/idempotency.ts";
import { isMintChecked, listClaims } from "../journal/live-claims.ts";
import { loadSlices, loadWalletDays, type SliceKey } from "../journal/load.ts";
import { type CollectionKeys, starMessage } from "../publishing/message.ts";
import { findTargets } from "../reads/targets.ts";
import type { Sql } from "../store/postgres.ts";
import { type AdmissionQuery, loadAdmissions } from "./admission.ts";
import type { CastStarDeps } from "./cast-star.ts";
import { findSessions } from "./session.ts";

/** Most loads of one tick that share a select. */
const LOADS = { keysMax: 256 };

/**
 * The claims on more NFTs are loaded by themselves, on two of the writer's connections: no other star
 * waits for them, and no session.
 */
const LARGE_FROM_SERIALS = 1_000;
const LARGE_LOADS = { keysMax: 1, callsMax: 2, waitMsMax: bounds.statementDeadlineMs };

function isLarge({ serialsA, serialsB }: SliceKey): boolean {
  return serialsA.length + serialsB.length > LARGE_FROM_SERIALS;
}

/** Loads of one tick in one select. */
function batched<Key, Found>(
  pool: Sql,
  load: (sql: Sql, keys: readonly Key[]) => Promise<readonly Found[]>,
): (key: Key) => Promise<Found> {
  return batcher((keys: readonly Key[]) => load(pool, keys), LOADS);
}

/** The voting engine: every look-up of a tick becomes one select. */
export function createEngine(options: {
  readonly sql: Sql;
  /** The pool for casting, opened as `writer`. */
  readonly writer: Sql;
  readonly clock: FollowedClock;
  readonly snapshots: Snapshots;
  readonly readHoldings: CastStarDeps["readHoldings"];
  readonly hasTaken: CastStarDeps["hasTaken"];
  /** Keys of a message's `holdings`. */
  readonly collectionKeys: CollectionKeys;
  readonly onAccepted: CastStarDeps["onAccepted"];
  readonly onContradiction: CastStarDeps["onContradiction"];
  readonly onOpen?: (source: ActorSource) => void;
  readonly onBatch?: (stars: number) => void;
  /** Points that each star earns (`XP_PER_STAR`); 1 when absent. */
  readonly xpPerStar?: number;
}) {
  const { sql, writer, clock, collectionKeys } = options;
  const groupCommit = createGroupCommit({ ...options, sql: writer, now: clock.now });
  const loadWalletDay = batched(writer, loadWalletDays);
  const loadSlice = batched(writer, loadSlices);
  const loadLargeSlice = batcher(
    (keys: readonly SliceKey[]) => loadSlices(writer, keys),
    LARGE_LOADS,
  );
  const casting: CastStarDeps = {
    ...options,
    host: createHost({ ...options, load: loadWalletDay }),
    commit: groupCommit.commit,
    isMintChecked: (mint, day) => isMintChecked(writer, mint, day),
    claimsOn: (mint, collection, serials) => listClaims(writer, { mint, collection, serials }),
    loadSlice: (key) => (isLarge(key) ? loadLargeSlice : loadSlice)(key),
    findKeptReply: batched(sql, findKeptReplies),
    admit: batcher(
      (queries: readonly AdmissionQuery[]) => loadAdmissions(writer, clock, queries),
      LOADS,
    ),
    messageOf: (star) => starMessage(star, collectionKeys),
  };
  return {
    casting,
    loadWalletDay,
    findSession: batcher((tokens: readonly string[]) => findSessions(writer, clock, tokens), LOADS),
    findTarget: batched(sql, findTargets),
    settled: groupCommit.settled,
  };
}
