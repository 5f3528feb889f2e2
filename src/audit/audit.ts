import { setTimeout as pause } from "node:timers/promises";
import { bulkhead } from "cockatiel";
import { startOfDay } from "../../actors/day.ts";
import { ENTITY_NUMBER_MAX, entityNumber, isEntityId } from "../ledger/entity-id.ts";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { msOf } from "../ledger/transaction-id.ts";
import { type CollectionKeys, parseStarMessage } from "../publishing/message.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import {
  type AuditState,
  type Judge,
  newAuditState,
  readCheckpoint,
  type Standards,
  writeCheckpoint,
} from "./audit-state.ts";
import { closeDaysBefore } from "./close-day.ts";
import { type Conclusion, conclude } from "./conclude.ts";
import { settleRecent } from "./counters.ts";
import { ProvisionalChanged } from "./export-source.ts";
import { judgeMessage } from "./judge-message.ts";
import { readKnown } from "./known-messages.ts";
import { readOwnerships } from "./read-ownership.ts";
import { readRankings } from "./read-rankings.ts";
import { LAG_MS } from "./rebuild-weights.ts";
import { endOfTopic, replayTopics } from "./replay-topic.ts";
import { openBoard } from "./season-board.ts";

export interface AuditOptions extends Standards {
  readonly topics: {
    readonly event: readonly string[];
    readonly asset: readonly string[];
    /** Those of earlier settings: one that the mirror node does not know is read as an empty one. */
    readonly earlier?: readonly string[];
  };
  readonly excluded: readonly string[];
  readonly api: { readonly url: string; readonly key: string } | null;
  /** How long to wait for messages of stars that rankings already show. */
  readonly settleMs: number;
  readonly now: () => number;
  /** `total` is null while it is not known. */
  readonly onProgress: (what: string, done: number, total: number | null) => void;
}

/** So many messages take seconds to read again. */
const CHECKPOINT_EVERY = 10_000;
const SETTLE_EVERY_MS = 1_000;
/** A service that restarts cuts a download once. */
const TRIES_MAX = 3;

/**
 * Audits. In this order: the ends of the topics (what is there the rankings must show), the
 * rankings, the ends again, who held which NFT, then every message, one after the other; at last
 * everything is compared with the rankings. What they showed is on the ledger by then, or comes
 * within the time that messages take.
 *
 * @throws MirrorError when the mirror node cannot be read; Error in one line for anything else
 *   that keeps the audit from being made
 */
export async function runAudit(options: AuditOptions): Promise<Conclusion> {
  const topics = [...options.topics.event, ...options.topics.asset];
  const before = await readEnds(options, topics);
  const rankings = options.api ? await readRankings(options.api.url, options.api.key) : null;
  const identity = identityOf(options, topics);
  const kept = options.stateFile ? readCheckpoint(options.stateFile, identity) : undefined;
  const state = kept ?? newAuditState(topics);
  const reading = rankings
    ? { ...rankings.reading, ends: before }
    : { from: options.now(), until: options.now(), ends: null };
  settleRecent(state.counters, reading);
  openBoard(state.accounts.board, rankings?.leaderboard?.season ?? null);
  const save = (): void => {
    if (options.stateFile !== null) writeCheckpoint(options.stateFile, identity, state);
  };
  const known = options.exports
    ? await readKnown(options.exports.source, options.exports.days)
    : new Map();
  const startedAt = options.now();
  for (;;) {
    const ends = await readEnds(options, topics);
    await findFirst(options, state);
    const ownedAt = options.now();
    const first = options.day === null ? (state.firstAt ?? ownedAt) : startOfDay(options.day);
    const ownerships = await readOwnerships({
      ...options,
      since: first - LAG_MS,
      onProgress: (nfts) => options.onProgress("NFTs", nfts, null),
    });
    const judge = judgeOf(options, { ownerships, ownedAt, reading, known });
    const missing = await replay(options, { state, ends, judge, save });
    save();
    const conclusion = await concludeAgain(() => conclude(state, judge, { missing, rankings }));
    const hasTime = options.now() - startedAt < options.settleMs;
    if (!conclusion.isAhead || !hasTime) return conclusion;
    await pause(SETTLE_EVERY_MS);
  }
}

/** Concludes again where an export changed before its day was final: nothing is kept of a conclusion. */
async function concludeAgain(work: () => Promise<Conclusion>): Promise<Conclusion> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES_MAX || !(error instanceof ProvisionalChanged)) throw error;
    }
  }
}

function judgeOf(
  options: AuditOptions,
  learnt: Pick<Judge, "ownerships" | "ownedAt" | "reading" | "known">,
): Judge {
  const { topics, exports, day } = options;
  const kinds = new Map([
    ...topics.event.map((topic) => [topic, "event_vote"] as const),
    ...topics.asset.map((topic) => [topic, "asset_vote"] as const),
  ]);
  const days = exports?.days.filter((each) => day === null || each === day) ?? [];
  return {
    ...options,
    ...learnt,
    kinds,
    excluded: new Set(options.excluded),
    exports: exports && { ...exports, days },
  };
}

async function readEnds(
  { mirror, topics: { earlier } }: Pick<AuditOptions, "mirror" | "topics">,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  for (const topic of topics) {
    const mayBeUnknown = earlier?.includes(topic) === true;
    ends.set(topic, await endOfTopic(mirror, topic, { mayBeUnknown }));
  }
  return ends;
}

/** Finds the instant before which no wallet's NFTs matter. */
async function findFirst({ mirror, lateMs }: AuditOptions, state: AuditState): Promise<void> {
  if (state.firstAt !== null) return;
  for (const { topic } of state.chains) {
    const [first] = (await mirror.topicMessages(topic, {})).messages;
    if (first === undefined) continue;
    const at = msOf(first.consensusTimestamp) - lateMs;
    state.firstAt = Math.min(state.firstAt ?? at, at);
  }
}

interface Replay {
  readonly state: AuditState;
  readonly ends: ReadonlyMap<string, number>;
  readonly judge: Judge;
  readonly save: () => void;
}

/** @returns the last sequence number of each topic of which the mirror node left messages out */
async function replay(
  options: AuditOptions,
  { state, ends, judge, save }: Replay,
): Promise<ReadonlyMap<string, number>> {
  const { mirror, onProgress } = options;
  const ranges = state.chains.map(({ topic, sequenceNumber }) => ({
    topic,
    after: sequenceNumber,
    last: ends.get(topic) ?? 0,
  }));
  const total =
    state.checked.messages + ranges.reduce((sum, { after, last }) => sum + last - after, 0);
  let saved = state.checked.messages;
  const batches = replayTopics(mirror, ranges);
  for (;;) {
    const { done, value: batch } = await batches.next();
    if (done) return batch;
    await newWalletsOf(mirror, { state, keys: options.keys }, batch);
    for (const message of batch) {
      await closeDaysBefore(judge, state, msOf(message.consensusTimestamp));
      judgeMessage(judge, state, message);
    }
    onProgress("messages", state.checked.messages, total);
    if (state.checked.messages - saved < CHECKPOINT_EVERY) continue;
    saved = state.checked.messages;
    save();
  }
}

function identityOf(options: AuditOptions, topics: readonly string[]): object {
  const { collections, keys, excluded, day, lateMs, exports } = options;
  return {
    topics,
    collections: [collections.a, collections.b],
    keys: [keys.a, keys.b],
    // Each export names those of its day, and they change.
    excluded: exports === null ? [...excluded].sort() : null,
    day,
    withExport: exports !== null,
    lateMs,
  };
}

/** Hides the time that answers take; the mirror keeps to its rate by itself. */
const LOOKUPS_AT_ONCE = 8;

/** Looks up the wallets of a batch that have not been met before. @throws MirrorError */
export async function newWalletsOf(
  mirror: Pick<AuditMirror, "account">,
  { state, keys }: { readonly state: AuditState; readonly keys: CollectionKeys },
  batch: readonly MirrorTopicMessage[],
): Promise<void> {
  const wallets = batch.flatMap(({ bytes }) => parseStarMessage(bytes, keys)?.wallet ?? []);
  const unmet = [...new Set(wallets)].filter(
    (wallet) => !state.wallets.has(wallet) && isEntityId(wallet),
  );
  const lane = bulkhead(LOOKUPS_AT_ONCE, Number.POSITIVE_INFINITY);
  const lookUp = async (wallet: string): Promise<void> => {
    // Deleted ones were there, and still are.
    const isPossible = entityNumber(wallet) <= ENTITY_NUMBER_MAX;
    state.wallets.set(wallet, isPossible && (await mirror.account(wallet)) !== null);
  };
  await Promise.all(unmet.map((wallet) => lane.execute(() => lookUp(wallet))));
}
