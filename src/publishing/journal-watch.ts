import { randomUUID } from "node:crypto";
import { RetryableError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { every } from "../service.ts";
import { type KnownDatabase, lookAtDatabase } from "../store/database-identity.ts";
import type { Sql } from "../store/postgres.ts";
import { reportAlarms, type StandingAlarm } from "./alarms.ts";
import { beginReading } from "./confirm.ts";
import { type PublishContext, wait } from "./context.ts";
import { behindDetail, countLost } from "./journal-behind.ts";
import { createLedgerClock } from "./ledger-clock.ts";
import { followTopic } from "./topic-follower.ts";

/** `behind`: the topics hold messages of stars that the journal lacks. `unread`: not compared yet. */
export type JournalState = "ok" | "behind" | "unread";

/**
 * What a web process knows of journal and topics. A wallet must not star an item twice because
 * the journal forgot the first star, so no star is accepted while the journal is behind.
 *
 * At the start, and whenever the database is another one or an older copy, each topic is read from
 * the message that this journal read last: one request a topic where nothing is missing. A mirror
 * node that is away holds stars up for ten seconds; then they are accepted, under an alarm.
 */
export type JournalWatch = ReturnType<typeof watchJournal>;

export interface JournalWatchParts {
  readonly sql: Sql;
  readonly mirror: PublishContext["mirror"];
  /** Ids of the topics; none where the settings do not name them, and then workers alone look. */
  readonly topics: readonly string[];
  /** The operator's account, where the settings name it. */
  readonly payer: string | undefined;
  readonly log: Logger;
  /** Called when the journal is no longer behind: a wallet's day may have other stars than before. */
  readonly onCaughtUp?: () => void;
  readonly lookEveryMs?: number;
  /** How long a mirror node that is away holds up stars. */
  readonly patienceMs?: number;
}

const LOOK_EVERY_MS = 1_000;
const PATIENCE_MS = 10_000;
const RETRY_AFTER_SECONDS = 30;
/** The alarm of a contradiction stands so long after the last one. */
const CONTRADICTION_STANDS_MS = 3_600_000;

/**
 * Starts watching; the state is `unread` until the first look has come to its end. A reading under way
 * when it is closed ends with the mirror node's connections.
 */
export function watchJournal(parts: JournalWatchParts) {
  const { sql, log, topics, lookEveryMs = LOOK_EVERY_MS, patienceMs = PATIENCE_MS } = parts;
  const worker = randomUUID();
  const readTopics = topicsReader(parts);
  const contradiction = rememberContradiction(() => looking.wake());
  let state: JournalState = "unread";
  let database: KnownDatabase | undefined;
  let isRead = topics.length === 0;
  let unreadSince = performance.now();
  let connectionsLost = 0;
  /** How often the database turned out to be another one, or older: what was read before does not count. */
  let timesReplaced = 0;
  let isReading = false;
  let resolveFirst = (): void => undefined;
  const firstState = new Promise<void>((resolve) => {
    resolveFirst = resolve;
  });

  const read = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    const replacedBefore = timesReplaced;
    const isWhole = await readTopics();
    isReading = false;
    isRead = isWhole && replacedBefore === timesReplaced;
    if (isRead) looking.wake();
  };
  const judge = (lost: number, wasRead: boolean): JournalState => {
    if (lost > 0) return "behind";
    return wasRead || performance.now() - unreadSince >= patienceMs ? "ok" : "unread";
  };
  const look = async (): Promise<void> => {
    const lostBefore = connectionsLost;
    const seen = await lookAtDatabase(sql, database);
    if (database !== undefined && !seen.isRemembered) {
      log.warn({ identity: seen.identity }, "another database, or an older one: reading topics");
      timesReplaced += 1;
      isRead = topics.length === 0;
      unreadSince = performance.now();
      state = "unread";
    }
    database = { identity: seen.identity, epoch: seen.epoch };
    if (!isRead) void read();
    // A reading that ends during the count may have found what the count lacks; it wakes the next look.
    const [wasRead, lost] = [isRead, await countLost(sql)];
    // Another server may have answered than the next star will meet: `lookAgain` has asked for one more look.
    if (lostBefore !== connectionsLost) return;
    if (state === "behind" && lost === 0) parts.onCaughtUp?.();
    const before = state;
    state = judge(lost, wasRead);
    if (state !== "unread") resolveFirst();
    if (state === "behind" && before !== "behind") log.error({ lost }, BEHIND);
    const alarms = alarmsOf(lost, !wasRead && state === "ok");
    await reportAlarms(sql, worker, [...alarms, ...contradiction.raised()]);
  };
  const looking = every(lookEveryMs, look, {
    firstAfterMs: 0,
    onFailure: (error) => log.debug({ err: error }, "the database was not looked at"),
  });

  return {
    /** Resolves when the state is something else than `unread` for the first time. */
    firstState,
    get state() {
      return state;
    },
    /**
     * Asked before each star: a look at one variable.
     *
     * @throws RetryableError `JOURNAL_BEHIND`, or `UNAVAILABLE` while the topics are unread
     */
    admitStar(): void {
      if (state !== "ok") throw refusalIn(state);
    },
    /** A connection was lost, and the next one may lead to another server. */
    lookAgain(): void {
      connectionsLost += 1;
      if (state === "ok") state = "unread";
      looking.wake();
    },
    /** Raises the alarm that machine and journal contradict each other. Never throws and never waits. */
    contradicted: contradiction.note,
    close: () => looking.close().then(() => contradiction.end(sql, worker)),
  };
}

function refusalIn(state: "behind" | "unread"): RetryableError {
  return state === "unread"
    ? new RetryableError("UNAVAILABLE", "the topics are being compared with the journal")
    : new RetryableError("JOURNAL_BEHIND", "the journal is behind", RETRY_AFTER_SECONDS);
}

/** The last contradiction of machine and journal, as an alarm that stands for an hour. */
function rememberContradiction(onNoted: () => void) {
  let last: (StandingAlarm & { readonly endsAt: number }) | undefined;
  return {
    note({ message }: Error): void {
      const now = performance.now();
      last = {
        reason: "machine-contradiction",
        subject: "",
        detail: message.slice(0, 500),
        since: last?.since ?? now,
        endsAt: now + CONTRADICTION_STANDS_MS,
      };
      onNoted();
    },
    raised(): readonly StandingAlarm[] {
      if (last !== undefined && performance.now() >= last.endsAt) last = undefined;
      return last === undefined ? [] : [last];
    },
    /** What the process that stops has raised goes with it. */
    async end(sql: Sql, worker: string): Promise<void> {
      if (last !== undefined) await reportAlarms(sql, worker, []).catch(() => undefined);
    },
  };
}

const BEHIND = "the journal lacks stars that are on its topics: no star is accepted";
const UNREAD = "stars are accepted though the topics could not be compared with the journal";

function alarmsOf(lost: number, isUnread: boolean): readonly StandingAlarm[] {
  const since = performance.now();
  const alarm = (reason: string, detail: string) => ({ reason, subject: "", detail, since });
  return [
    ...(lost > 0 ? [alarm("journal-behind", behindDetail(lost))] : []),
    ...(isUnread ? [alarm("topics-unread", UNREAD)] : []),
  ];
}

/** @returns what reads every topic to its end, and says whether each was read whole, without a gap */
function topicsReader(parts: JournalWatchParts): () => Promise<boolean> {
  const { sql, log, topics } = parts;
  if (topics.length === 0) {
    log.warn("EVENT_VOTES_TOPIC_ID and ASSET_VOTES_TOPIC_ID are not set: only workers compare");
  }
  const clock = createLedgerClock();
  const followers = topics.map((topicId) => ({
    topicId,
    follower: followTopic({
      ...parts,
      topicId,
      clock,
      wait,
      failpoint: () => undefined,
      onVerdict: ({ starId, verdict }) => log.debug({ starId }, verdict),
      onFailure: () => undefined,
    }),
  }));
  return async () => {
    const ends = followers.map(async ({ topicId, follower }) => {
      await beginReading(sql, topicId);
      return follower.readToEnd();
    });
    return Promise.all(ends).then(
      (wholes) => wholes.every(Boolean),
      (error: unknown) => {
        log.debug({ err: error }, "the topics were not read");
        return false;
      },
    );
  };
}
