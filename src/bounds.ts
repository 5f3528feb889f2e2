const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Bounds of the service that several places know, each with its reason beside it. */
export const bounds = {
  /** A voter waits 3 s for a star at most (design, section 7): 2.5 s for the mirror node … */
  holdingsDeadlineMs: 2_500,
  /** … and one Postgres answer; its own statement_timeout fires a little earlier. */
  statementDeadlineMs: 2_000,
  statementTimeoutMs: 1_800,
  /** With the check of the key before it this stays below 2 s, the longest a reader waits. */
  readDeadlineMs: 950,
  /** A limit may not cost a request more than this when Redis hangs. */
  limitDeadlineMs: 250,
  /** After a lost answer: one look whether the commit happened, still within the 3 s. */
  lookUpDeadlineMs: 700,
  starDeadlineMs: 3_000,
  /** A full page is 100 rows: 1,000 pages are 100,000 NFTs, more than most collections have. */
  mirrorPagesMax: 1_000,
  /** Of a collection that must be known whole: a million NFTs, burned ones included, in 20 minutes at 100 ms an answer. */
  collectionPagesMax: 10_000,
  /** 100 messages of 1 KiB are a fifth. A hostile answer of 4 MiB takes a second to parse, for all voters. */
  mirrorBodyBytesMax: 1024 * 1024,
  /** Both collections of 60 stars: 600 stars a second at 100 ms an answer. */
  mirrorRequestsInFlightMax: 120,
  /** Work in the background leaves the mirror node to the stars. */
  mirrorBackgroundInFlightMax: 8,
  /** Best trade of round trips against latency measured for one commit. */
  commitBatchMax: 128,
  commitFlightsMax: 2,
  /** At ~7,000 stars/s this is half a second of work; beyond it, refuse at once. */
  turnsWaitingMax: 4_096,
  /** ~1 KB each: 20,000 warm wallet-days are 20 MB. */
  actorsLiveMax: 20_000,
  /** Snapshots that wait for Redis; beyond them new ones are given up. */
  snapshotsWaitingMax: 10_000,
  challengeLifetimeMs: 5 * MINUTE,
  sessionLifetimeMs: 24 * HOUR,
  /** A person's devices, with room to spare. */
  sessionsPerWalletMax: 20,
  /** Contract: idempotency keys are kept at least 48 h. */
  idempotencyKeptMs: 72 * HOUR,
  requestBodyBytesMax: 4 * 1024,
  /** The ledger takes 1,024 bytes per message and chunk. */
  messageBytesMax: 1_024,
  /** Publisher: "20 is plenty" (500 sequential submits a second were measured). */
  publishInFlightMax: 20,
  publishBatchMax: 200,
  /** A worker that died holds its rows this long; a live one renews nothing. */
  publishLeaseMs: 10 * SECOND,
  /** A star of many whose fate is open is asked for this seldom; no star is released for longer. */
  publishDelayMsMax: 10 * MINUTE,
  /** Finds what a lost wake-up left behind. */
  sweepEveryMs: 5 * SECOND,
  /** A transaction stays valid this long after its start (network maximum 180). */
  transactionValidSeconds: 120,
  /** 0.0008 USD per message; a tenth of an HBAR leaves room for any rate. */
  transactionFeeMaxTinybars: 10_000_000,
  /** How long a draining process lets requests in flight finish. */
  drainMs: 10 * SECOND,
  /** Partitions are made a month ahead, so an hour is often. */
  housekeepingEveryMs: HOUR,
  postgresConnectionsMax: 12,
} as const;
