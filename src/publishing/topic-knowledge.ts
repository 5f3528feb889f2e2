import { bounds } from "../bounds.ts";
import type { OneNode } from "../ledger/mirror/limits.ts";
import { parseTimestamp } from "../ledger/transaction-id.ts";
import {
  A_COPY,
  type EpochWitness,
  type KnownDatabase,
  lookAtDatabase,
  renewEpoch,
  settleIn,
} from "../store/database-identity.ts";
import type { Sql } from "../store/postgres.ts";
import { startedTopics } from "./confirm.ts";
import { type PublishContext, TOPIC_KINDS, type TopicKind } from "./context.ts";

/** Under which condition stars may be sent. */
export interface SendingGround {
  /** Where the topics were read to their ends: each sending is fenced by it. */
  readonly database: KnownDatabase;
  /** Stars accepted before this instant wait, epoch milliseconds; 0: none has to. */
  readonly since: number;
}

/**
 * What a publisher knows of its topics. A database may be older than what was sent from it: a
 * dump was restored, a standby promoted. So nothing is sent before each topic has been read to its
 * end in this very database, and what was sent already is adopted by that reading.
 *
 * A worker that starts knows it by where workers last settled in, and by the epoch that they kept
 * outside of the database.
 *
 * *Unread*: nothing is sent. *Copy*: the topics were read, but the database is a copy of the one
 * that workers knew, and what that one sent may still be on its way: stars accepted before the
 * copy was found wait until every transaction of that time has landed or expired. *Read*:
 * everything is sent.
 */
export type TopicKnowledge = ReturnType<typeof createTopicKnowledge>;

export interface TopicKnowledgeParts
  extends Pick<PublishContext, "clock" | "mirror" | "readToEnd" | "alerts"> {
  readonly sql: Sql;
  readonly witness: EpochWitness;
  readonly topics: Readonly<Record<TopicKind, string>>;
  readonly isReady: (kind: TopicKind) => boolean;
}

/** A transaction's whole time, and what clocks may differ by and a mirror node be behind. */
const IN_FLIGHT_NS = (BigInt(bounds.transactionValidSeconds) + 30n) * 1_000_000_000n;
const READ = { deadlineMs: 5_000, background: true } as const;

export function createTopicKnowledge(parts: TopicKnowledgeParts) {
  const { sql, witness, topics, clock, mirror, alerts } = parts;
  let database: KnownDatabase | undefined;
  const read = new Set<TopicKind>();
  let copy: { readonly since: number; settledAt?: bigint } | undefined;

  const readAll = async (kinds: readonly TopicKind[], oneNode?: OneNode): Promise<boolean> => {
    const ends = kinds.map(async (kind) => {
      const isWhole = await parts.readToEnd(topics[kind], oneNode);
      if (isWhole) read.add(kind);
      return isWhole;
    });
    return (await Promise.all(ends)).every(Boolean);
  };

  /** What came with a copy may have been sent before the topics of today were set. */
  const readEarlierTopics = async (oneNode?: OneNode): Promise<boolean> => {
    const started = await startedTopics(sql);
    const earlier = started.filter((topicId) => !Object.values(topics).includes(topicId));
    const ends = earlier.map(async (topicId) => {
      const isWhole = await parts.readToEnd(topicId, oneNode).catch(() => false);
      const detail = `older stars of a copy, final days and daily checks wait: ${topicId} cannot be read to its end`;
      if (isWhole) alerts.clear("configuration", topicId);
      else alerts.raise("configuration", detail, topicId);
      return isWhole;
    });
    return (await Promise.all(ends)).every(Boolean);
  };

  const lookWhere = async (): Promise<void> => {
    const remembered = database ?? (await witness.recall());
    await renewEpoch(sql);
    const { identity, epoch, home, isRemembered, now } = await lookAtDatabase(sql, remembered);
    // A dump of before any worker had settled in names no home: then the witness' word counts.
    const isElsewhere = (home ?? remembered?.identity ?? identity) !== identity;
    const wentBack = remembered?.identity === identity && !isRemembered;
    const isCopy = database === undefined ? isElsewhere || wentBack : !isRemembered;
    if (isCopy) {
      await settleIn(sql, A_COPY);
      read.clear();
      copy = { since: now };
      alerts.log.warn(
        { identity, home },
        "the database is a copy: what it holds is sent when the topics have been read",
      );
    } else if (home !== identity && copy === undefined) {
      // The first one here; or a worker that took this database for a copy has gone.
      await settleIn(sql, identity);
    }
    database = { identity, epoch };
    void witness.keep(database);
  };

  return {
    /** Undefined while the topic is unread. */
    of(kind: TopicKind): SendingGround | undefined {
      if (database === undefined || !read.has(kind)) return undefined;
      return { database, since: copy?.since ?? 0 };
    },
    /**
     * Looks which database this is and reads what has to be read.
     *
     * @throws RetryableError when Postgres is away, MirrorError when the mirror node is
     */
    async check(): Promise<void> {
      await lookWhere();
      await readAll(TOPIC_KINDS.filter((kind) => parts.isReady(kind) && !read.has(kind)));
      if (copy === undefined || database === undefined || read.size < TOPIC_KINDS.length) return;
      if (copy.settledAt === undefined && !(await readEarlierTopics())) return;
      // Another mirror node may not have come as far as the one that gives the block.
      const oneNode: OneNode = {};
      const block = await mirror.newestBlock({ ...READ, oneNode });
      if (block === null) return;
      const reached = parseTimestamp(block.to);
      // Counted from here: by now messages and blocks have corrected a machine's clock that was behind.
      clock.sawConsensus(reached);
      const settledAt = clock.now() + IN_FLIGHT_NS;
      // Sooner where refusals have corrected one that was ahead.
      if (copy.settledAt === undefined || settledAt < copy.settledAt) copy.settledAt = settledAt;
      if (reached < copy.settledAt) return;
      // All that was on its way has landed by now, or never will.
      if (!(await readAll(TOPIC_KINDS, oneNode)) || !(await readEarlierTopics(oneNode))) return;
      copy = undefined;
      await settleIn(sql, database.identity);
    },
  };
}
