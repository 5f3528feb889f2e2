import { instantOfStarId } from "../../../src/journal/star-id.ts";
import { parseTimestamp } from "../../../src/ledger/transaction-id.ts";
import type { Journal, Statement } from "./statement.ts";
import {
  type AttemptRow,
  type OutboxRow,
  placeKey,
  StatementError,
  type Tables,
} from "./tables.ts";

/** An element of the JSON that src/publishing/confirm.ts sends. */
interface Said {
  readonly sequence_number: number;
  readonly consensus_timestamp: string;
  readonly transaction_id: string | null;
  readonly running_hash: string;
  readonly payer: string;
  readonly bytes: string;
  readonly malformed: boolean;
  readonly unchained: boolean;
  readonly said_at: number | null;
}

interface VerdictRow {
  readonly starId: string;
  readonly verdict: string;
  readonly sequenceNumber: number | null;
  readonly lagMs: number | null;
  readonly detail: string | null;
}

const SECOND = 1_000_000_000n;
const UNLEASED = { leaseOwner: null, leaseUntil: 0 } as const;
const UNSENT = { state: "pending", topicId: null, transactionId: null } as const;

/**
 * A statement that sees and writes in one moment. What it is given has the types that its text in src asks
 * for: each casts it to those.
 */
function atOnce(
  name: string,
  phrase: string,
  run: (given: readonly never[], journal: Journal) => readonly object[],
): Statement {
  return { name, phrase, run: (given, journal) => () => run(given as readonly never[], journal) };
}

/** The statements of publishing: what they answer and write, as the SQL of src and migrations/ does. */
export const publishStatements: readonly Statement[] = [
  atOnce("lease stars", "from due where outbox.star_id = due.star_id", leaseStars),
  atOnce("release stars", "lease_until = 0, tries = tries +", releaseStars),
  atOnce(
    "release all leases",
    "update outbox set lease_owner = null, lease_until = 0 where",
    releaseAllLeases,
  ),
  atOnce("pending", "select count(*) as pending", pending),
  atOnce("reserve ids", "from reserve_transactions(", reserve),
  atOnce("store bytes", "update outbox set state = 'signed'", storeSigned),
  atOnce("count send", "set sends = sends + 1", countSend),
  atOnce("count refusal", "set refusals = refusals + 1", countRefusal),
  atOnce("store receipt", "update publish_attempt set receipt_status =", storeReceipt),
  atOnce("count absence", "absence_rounds = absence_rounds +", countAbsence),
  atOnce("count older", "select count(*) as older", countOlder),
  atOnce("give up", "set state = 'pending', topic_id = null, transaction_id = null", giveUp),
  atOnce("begin reading", "insert into topic_reading", beginReading),
  atOnce("topics read", "select topic_id as id from topic_reading", (_given, { tables }) =>
    [...tables.readings.keys()].sort().map((id) => ({ id })),
  ),
  atOnce("find reading", "from topic_reading where topic_id", findReading),
  atOnce("find starred", "select topic from outbox where topic_id", findStarred),
  atOnce("newest effect", "as took from outbox where topic_id", tookEffectAfter),
  atOnce("read topic on", "from read_topic_on(", readTopicOn),
  atOnce("confirm message", "from confirm_messages(", confirmMessage),
  atOnce("tell alarms", "insert into publishing_alarm", () => []),
  atOnce("count lost", "select count(*) as lost from publishing_finding", countLost),
  atOnce("may lack stars", 'as "mayLack"', mayLackStars),
  atOnce("accept loss", "where kind = 'lost' and resolved_at is null returning id", acceptLoss),
  atOnce("look at database", "database_identity() as identity", lookAtDatabase),
  atOnce("renew epoch", "insert into journal_epoch default values", renewEpoch),
  atOnce("settle in without stars", "insert into journal_home (identity) select", (_, journal) => {
    const { tables, identity } = journal;
    if (tables.stars.size === 0) tables.home ??= identity;
    return [];
  }),
  atOnce("settle in", "insert into journal_home (identity) values", ([identity], { tables }) => {
    tables.home = identity ?? null;
    return [];
  }),
];

function isKnown({ tables, identity }: Journal, known: string, epoch: string | null): boolean {
  return known === identity && epoch !== null && tables.epochs.has(epoch);
}

/** The smallest id of a star of that instant. */
function firstStarId(at: number): string {
  const hex = at.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

type LeaseGiven = readonly [
  topic: string,
  delayMsMax: number,
  leaseMs: number,
  holder: string,
  working: readonly string[],
  since: number,
  identity: string,
  epoch: string | null,
  limit: number,
];

function leaseStars(given: readonly never[], journal: Journal): readonly object[] {
  const [topic, delayMsMax, leaseMs, holder, working, since, identity, epoch, limit] =
    given as unknown as LeaseGiven;
  const { tables } = journal;
  const now = journal.now();
  if (!isKnown(journal, identity, epoch)) return [];
  const [busy, first] = [new Set(working), firstStarId(since)];
  const holds = (until: number, longestMs: number) => until > now && until <= now + longestMs;
  const due = [...tables.waiting.values()].filter(
    (row) =>
      row.topic === topic &&
      !holds(row.nextTryAt, delayMsMax) &&
      (!holds(row.leaseUntil, leaseMs) || row.leaseOwner === holder) &&
      !busy.has(row.starId) &&
      row.starId >= first,
  );
  due.sort((one, other) => (one.starId < other.starId ? -1 : 1));
  return due.slice(0, limit).map((row) => {
    tables.keepOutbox({ ...row, leaseOwner: holder, leaseUntil: now + leaseMs });
    return starOf(row, tables.openAttempt(row.starId));
  });
}

function starOf(
  { starId, topic, message, tries }: OutboxRow,
  open: AttemptRow | undefined,
): object {
  return {
    starId,
    topic,
    message,
    tries,
    traceparent: null,
    topicId: open?.topicId ?? null,
    transactionId: open?.transactionId ?? null,
    validStart: open === undefined ? null : String(open.validStart),
    validUntil: open?.validUntil == null ? null : String(open.validUntil),
    bytes: open?.signedBytes ?? null,
    sends: open?.sends ?? null,
    refusals: open?.refusals ?? null,
    status: open?.receiptStatus ?? null,
    sequenceNumber: open?.receiptSequence ?? null,
    absenceRounds: open?.absenceRounds ?? null,
  };
}

/** One star's part of a statement that several share (src/publishing/shared-steps.ts). */
interface Step {
  readonly star_id: string;
  readonly transaction_id: string;
}

/** What a statement of shared steps is given: one object for each star, and for most the holder. */
function stepsOf<T>(given: readonly never[]): readonly [steps: readonly T[], holder: string] {
  const [text = "[]", holder = ""] = given as readonly string[];
  return [JSON.parse(text) as readonly T[], holder];
}

function releaseStars(given: readonly never[], { tables, now }: Journal): readonly object[] {
  const [stars, holder] = stepsOf<{ star_id: string; delay_ms: number; why: string | null }>(given);
  return stars.flatMap(({ star_id, delay_ms: delayMs, why }) => {
    const row = tables.waiting.get(star_id);
    if (row === undefined || row.leaseOwner !== holder) return [];
    const tries = row.tries + (why === null ? 0 : 1);
    tables.keepOutbox({ ...row, ...UNLEASED, tries, nextTryAt: now() + delayMs });
    return [{ star_id }];
  });
}

function releaseAllLeases([holder]: readonly never[], { tables }: Journal): readonly object[] {
  for (const row of [...tables.waiting.values()]) {
    if (row.leaseOwner === holder) tables.keepOutbox({ ...row, ...UNLEASED });
  }
  return [];
}

function pending(_given: readonly never[], { tables, now }: Journal): readonly object[] {
  let oldest: OutboxRow | undefined;
  for (const row of tables.waiting.values()) {
    if (oldest === undefined || row.starId < oldest.starId) oldest = row;
  }
  const age =
    oldest === undefined ? null : now() - (JSON.parse(oldest.message).timestamp as number);
  return [{ pending: tables.waiting.size, age }];
}

interface Reservation {
  readonly star_id: string;
  readonly payer: string;
  readonly topic_id: string;
  readonly not_before: string;
}

function reserve(given: readonly never[], { tables, now }: Journal): readonly object[] {
  const [stars, holder] = stepsOf<Reservation>(given);
  const own = stars
    .flatMap((star) => {
      const row = tables.waiting.get(star.star_id);
      return row?.state === "pending" && isHeld(row, holder, now()) ? [{ ...star, row }] : [];
    })
    .sort((one, other) => (one.star_id < other.star_id ? -1 : 1));
  const [first] = own;
  if (first === undefined) return [];
  const starts = tables.validStarts.get(first.payer) ?? [];
  const notBefore = own.map((star) => BigInt(star.not_before)).reduce((a, b) => (a > b ? a : b));
  const newest = starts[starts.findLastIndex((start) => start <= notBefore + SECOND - 1n)];
  const gap = 1n + BigInt(`0x${first.star_id.slice(-4)}`);
  let next = newest !== undefined && newest >= notBefore ? newest + gap : notBefore;
  return own.flatMap(({ row, payer, topic_id: topicId }) => {
    const validStart = next;
    next += 1n;
    return reserveOne(tables, row, { payer, topicId, validStart });
  });
}

function reserveOne(
  tables: Tables,
  row: OutboxRow,
  { payer, topicId, validStart }: Pick<AttemptRow, "payer" | "topicId" | "validStart">,
): readonly object[] {
  const { starId } = row;
  const starts = tables.validStarts.get(payer) ?? [];
  const place = starts.findLastIndex((start) => start <= validStart);
  if (tables.open.has(starId) || starts[place] === validStart) return [];
  if (!tables.readings.has(topicId)) throw new StatementError("23503", "no reading of the topic");
  const attempt = (tables.attemptCounts.get(starId) ?? 0) + 1;
  const nanos = String(validStart % SECOND).padStart(9, "0");
  const transactionId = `${payer}@${validStart / SECOND}.${nanos}`;
  tables.validStarts.set(payer, starts.toSpliced(place + 1, 0, validStart));
  tables.attemptCounts.set(starId, attempt);
  tables.keepAttempt({
    ...{ starId, attempt, topicId, payer, validStart, transactionId },
    ...{ signedBytes: null, validUntil: null, sends: 0, refusals: 0, outcome: null },
    ...{ receiptStatus: null, receiptSequence: null, receiptHash: null },
    ...{ absenceRounds: 0, absenceAt: 0 },
  });
  tables.keepOutbox({ ...row, state: "reserved", topicId, transactionId });
  const ids = { star_id: starId, transaction_id: transactionId };
  return [{ ...ids, valid_start: String(validStart) }];
}

function isHeld(row: OutboxRow, holder: string | undefined, now: number): boolean {
  return row.leaseOwner === holder && row.leaseUntil > now;
}

/** The waiting star, where it is in one of these states under this id and lease. */
function mine(
  { tables, now }: Journal,
  asked: {
    readonly starId: string;
    readonly transactionId: string | null;
    readonly holder: string;
    readonly states: readonly OutboxRow["state"][];
  },
): OutboxRow | undefined {
  const row = tables.waiting.get(asked.starId);
  if (row === undefined || !asked.states.includes(row.state)) return undefined;
  if (asked.transactionId !== null && row.transactionId !== asked.transactionId) return undefined;
  return isHeld(row, asked.holder, now()) ? row : undefined;
}

/** The attempt, where it is that star's and open. */
function openAttempt(
  tables: Tables,
  starId: string,
  transactionId: string,
): AttemptRow | undefined {
  const attempt = tables.attempts.get(transactionId);
  return attempt?.starId === starId && attempt.outcome === null ? attempt : undefined;
}

function storeSigned(given: readonly never[], journal: Journal): readonly object[] {
  const [stars, holder] = stepsOf<Step & { bytes: string; valid_until: string }>(given);
  return stars.flatMap(({ star_id: starId, transaction_id: transactionId, ...signed }) => {
    const row = mine(journal, { starId, transactionId, holder, states: ["reserved"] });
    if (row === undefined) return [];
    journal.tables.keepOutbox({ ...row, state: "signed" });
    const attempt = openAttempt(journal.tables, starId, transactionId);
    if (attempt === undefined) return [];
    const signedBytes = Buffer.from(signed.bytes, "base64");
    const validUntil = BigInt(signed.valid_until);
    journal.tables.keepAttempt({ ...attempt, signedBytes, validUntil });
    return [{ star_id: starId }];
  });
}

function countSend(given: readonly never[], journal: Journal): readonly object[] {
  const [stars, holder] = stepsOf<Step & { identity: string; epoch: string | null }>(given);
  return stars.flatMap(({ star_id: starId, transaction_id: transactionId, identity, epoch }) => {
    const row = mine(journal, { starId, transactionId, holder, states: ["signed", "sent"] });
    if (row === undefined || !isKnown(journal, identity, epoch)) return [];
    journal.tables.keepOutbox({ ...row, state: "sent" });
    const attempt = openAttempt(journal.tables, starId, transactionId);
    if (attempt === undefined) return [];
    const sends = attempt.sends + 1;
    journal.tables.keepAttempt({ ...attempt, sends });
    return [{ star_id: starId, sends, refusals: attempt.refusals }];
  });
}

function countRefusal(given: readonly never[], { tables }: Journal): readonly object[] {
  const [starId, transactionId, sends] = given as unknown as [string, string, number];
  const attempt = openAttempt(tables, starId, transactionId);
  if (attempt === undefined || attempt.sends < sends) return [];
  const refusals = attempt.refusals + 1;
  if (refusals > attempt.sends) throw new StatementError("23514", "more refusals than sends");
  tables.keepAttempt({ ...attempt, refusals });
  return [{ sends: attempt.sends, refusals }];
}

interface Receipt extends Step {
  readonly status: string;
  readonly sequence: number | null;
  readonly hash: string | null;
}

function storeReceipt(given: readonly never[], { tables }: Journal): readonly object[] {
  const [stars] = stepsOf<Receipt>(given);
  return stars.flatMap(({ star_id: starId, transaction_id: transactionId, ...receipt }) => {
    const attempt = openAttempt(tables, starId, transactionId);
    if (attempt === undefined || attempt.receiptStatus !== null) return [];
    const { status: receiptStatus, sequence: receiptSequence, hash: receiptHash } = receipt;
    tables.keepAttempt({ ...attempt, receiptStatus, receiptSequence, receiptHash });
    return [{ star_id: starId }];
  });
}

function countAbsence(given: readonly never[], { tables, now }: Journal): readonly object[] {
  const [apartMs, starId, transactionId] = given as unknown as [number, string, string];
  const attempt = openAttempt(tables, starId, transactionId);
  const sinceMs = now() - (attempt?.absenceAt ?? 0);
  if (attempt === undefined || (sinceMs >= 0 && sinceMs < apartMs)) return [];
  const rounds = attempt.absenceRounds + (sinceMs >= apartMs ? 1 : 0);
  tables.keepAttempt({ ...attempt, absenceAt: now(), absenceRounds: rounds });
  return [{ rounds }];
}

function countOlder(given: readonly never[], { tables }: Journal): readonly object[] {
  const [topicId, starId] = given as unknown as [string, string];
  let older = 0;
  for (const [other, id] of tables.open) {
    const attempt = tables.attempts.get(id);
    const isSent = attempt?.topicId === topicId && attempt.sends > 0;
    if (isSent && other < starId) older += 1;
  }
  return [{ older }];
}

function giveUp(given: readonly never[], journal: Journal): readonly object[] {
  const [starId, holder, , transactionId, onlyUnsent, outcome] = given as unknown as [
    string,
    string,
    string,
    string,
    boolean,
    string,
  ];
  const states = ["reserved", "signed", "sent"] as const;
  const row = mine(journal, { starId, transactionId: null, holder, states });
  const attempt = openAttempt(journal.tables, starId, transactionId);
  if (row === undefined || attempt === undefined) return [];
  if (onlyUnsent && attempt.sends !== attempt.refusals) return [];
  journal.tables.keepOutbox({ ...row, ...UNSENT });
  journal.tables.keepAttempt({ ...attempt, signedBytes: null, outcome });
  return [{ attempt: attempt.attempt }];
}

function beginReading([topicId]: readonly never[], { tables }: Journal): readonly object[] {
  const id = topicId as unknown as string;
  if (!tables.readings.has(id)) tables.readings.set(id, { sequenceNumber: 0, runningHash: null });
  return [];
}

function findReading([topicId]: readonly never[], { tables }: Journal): readonly object[] {
  const reading = tables.readings.get(topicId as unknown as string);
  if (reading === undefined) return [];
  const isAwaited = (row: OutboxRow) => row.state === "sent" && row.topicId === topicId;
  const { sequenceNumber, runningHash } = reading;
  const awaited = [...tables.waiting.values()].some(isAwaited);
  return [{ sequenceNumber, runningHash, awaited }];
}

/** The published stars of a topic in their order there. */
function publishedOn(tables: Tables, topicId: string): readonly OutboxRow[] {
  return [...tables.outbox.values()]
    .filter((row) => row.state === "published" && row.topicId === topicId)
    .sort((one, other) => (one.sequenceNumber ?? 0) - (other.sequenceNumber ?? 0));
}

function findStarred([topicId]: readonly never[], { tables }: Journal): readonly object[] {
  const first = publishedOn(tables, topicId as unknown as string)[0];
  return first === undefined ? [] : [{ topic: first.topic }];
}

function tookEffectAfter(given: readonly never[], { tables }: Journal): readonly object[] {
  const [instant, topicId] = given as unknown as [string, string];
  const last = publishedOn(tables, topicId).at(-1);
  if (last === undefined) return [];
  return [{ took: parseTimestamp(last.consensusTimestamp ?? "") > BigInt(instant) }];
}

function readTopicOn(given: readonly never[], journal: Journal): readonly object[] {
  const [topicId, after, text, last, lastNs, payer] = given as unknown as [
    string,
    number,
    string,
    number,
    string,
    string | null,
  ];
  const { tables } = journal;
  if (tables.readings.get(topicId)?.sequenceNumber !== after) return [];
  const said = JSON.parse(text) as readonly Said[];
  const runningHash = said.at(-1)?.running_hash ?? null;
  tables.readings.set(topicId, { sequenceNumber: last, runningHash });
  const confirmed = confirm(topicId, said, journal);
  const adopted = adopt({ topicId, payer }, said, journal);
  noteFindings({ topicId, payer }, said, tables);
  return [...confirmed, ...adopted, ...giveUpPassed(topicId, BigInt(lastNs), tables)];
}

function confirmMessage(given: readonly never[], journal: Journal): readonly object[] {
  const [topicId, text] = given as unknown as [string, string];
  return confirm(topicId, JSON.parse(text) as readonly Said[], journal);
}

function textOf({ bytes }: Said): string {
  return Buffer.from(bytes, "base64").toString();
}

function judgeSaid(topicId: string, said: Said, attempt: AttemptRow, message: string): string {
  const isClosed = attempt.outcome !== null;
  if (message !== textOf(said) || attempt.topicId !== topicId)
    return isClosed ? "known" : "foreign";
  if (isClosed) return attempt.outcome === "published" ? "known" : "returned";
  const { receiptStatus, receiptSequence, receiptHash } = attempt;
  const contradicts =
    receiptStatus !== null &&
    (receiptStatus !== "SUCCESS" ||
      receiptSequence !== said.sequence_number ||
      (receiptHash !== null && receiptHash !== said.running_hash));
  return contradicts ? "contradicts" : "published";
}

function confirm(
  topicId: string,
  messages: readonly Said[],
  { tables, now }: Journal,
): readonly VerdictRow[] {
  const judged = messages.flatMap((said) => {
    const attempt = tables.attempts.get(said.transaction_id ?? "");
    const row = tables.outbox.get(attempt?.starId ?? "");
    if (attempt === undefined || row === undefined) return [];
    return [{ said, attempt, row, verdict: judgeSaid(topicId, said, attempt, row.message) }];
  });
  const verdicts: VerdictRow[] = [];
  for (const { said, attempt, row, verdict } of judged) {
    const { sequence_number: sequenceNumber, transaction_id: transactionId } = said;
    const common = { starId: row.starId, verdict, sequenceNumber, lagMs: null, detail: null };
    const isOnItsWay = row.state !== "pending" && row.state !== "published";
    if (verdict === "published" && isOnItsWay) {
      publish(tables, row, { topicId, said });
      const lagMs = now() - (JSON.parse(row.message).timestamp as number);
      verdicts.push({ ...common, lagMs });
    } else if (verdict === "foreign" && row.state !== "published") {
      tables.keepOutbox({ ...row, ...UNSENT, ...UNLEASED, nextTryAt: 0 });
      verdicts.push({ ...common, detail: transactionId });
    } else continue;
    if (attempt.outcome === null) {
      tables.keepAttempt({ ...attempt, signedBytes: null, outcome: verdict });
    }
  }
  for (const { said, row, verdict } of judged) {
    if (verdict !== "contradicts" && verdict !== "returned") continue;
    const { sequence_number: sequenceNumber, transaction_id: detail } = said;
    verdicts.push({ starId: row.starId, verdict, sequenceNumber, lagMs: null, detail });
  }
  return verdicts;
}

function publish(
  tables: Tables,
  row: OutboxRow,
  { topicId, said }: { readonly topicId: string; readonly said: Said },
): void {
  tables.keepOutbox({
    ...row,
    ...UNLEASED,
    state: "published",
    topicId,
    transactionId: said.transaction_id,
    sequenceNumber: said.sequence_number,
    consensusTimestamp: said.consensus_timestamp,
    runningHash: said.running_hash,
  });
}

interface On {
  readonly topicId: string;
  readonly payer: string | null;
}

function isOurPayer(tables: Tables, payer: string, ours: string | null): boolean {
  if (payer === ours || tables.validStarts.has(payer)) return true;
  return ours === null && tables.attempts.size === 0;
}

function adopt(
  { topicId, payer }: On,
  messages: readonly Said[],
  { tables, now }: Journal,
): readonly VerdictRow[] {
  const twins = new Map<string, Said>();
  for (const said of messages) {
    const known = tables.attempts.get(said.transaction_id ?? "");
    if (said.said_at === null || said.transaction_id === null) continue;
    if (!isOurPayer(tables, said.payer, payer)) continue;
    for (const starId of tables.byInstant.get(said.said_at) ?? []) {
      const row = tables.waiting.get(starId);
      if (row === undefined || row.message !== textOf(said) || twins.has(starId)) continue;
      if (known !== undefined && (known.outcome === null || row.state === "sent")) continue;
      twins.set(starId, said);
    }
  }
  const ordered = [...twins].sort(([one], [other]) => (one < other ? -1 : 1));
  return ordered.map(([starId, said]) => {
    const row = tables.waiting.get(starId);
    if (row === undefined) throw new Error(`star ${starId} does not wait`);
    publish(tables, row, { topicId, said });
    const attempt = tables.openAttempt(starId);
    if (attempt !== undefined) {
      tables.keepAttempt({ ...attempt, signedBytes: null, outcome: "adopted" });
    }
    const { sequence_number: sequenceNumber, transaction_id: detail } = said;
    const lagMs = now() - (said.said_at ?? 0);
    return { starId, verdict: "adopted", sequenceNumber, lagMs, detail };
  });
}

function noteFindings({ topicId, payer }: On, messages: readonly Said[], tables: Tables): void {
  const note = (said: Said, kind: string): void => {
    const key = `${placeKey(topicId, said.sequence_number)} ${kind}`;
    if (!tables.findings.has(key)) tables.findings.set(key, { kind, isOpen: true });
  };
  for (const said of messages) {
    const kind = findingOf({ topicId, payer }, said, tables);
    if (kind !== null) note(said, kind);
    if (said.unchained) note(said, "broken chain");
  }
}

function findingOf({ topicId, payer }: On, said: Said, tables: Tables): string | null {
  const text = textOf(said);
  const attempt = tables.attempts.get(said.transaction_id ?? "");
  const placed = tables.outbox.get(
    tables.places.get(placeKey(topicId, said.sequence_number)) ?? "",
  );
  if (placed?.transactionId === said.transaction_id && placed.message === text) return null;
  if (attempt !== undefined) {
    if (attempt.topicId !== topicId) return "wrong topic";
    if (tables.outbox.get(attempt.starId)?.message !== text) return "wrong bytes";
    return attempt.outcome === null ? "contradiction" : "duplicate";
  }
  if (placed !== undefined) return "wrong bytes";
  if (said.malformed) return "malformed";
  const twin = (tables.byInstant.get(said.said_at ?? -1) ?? [])
    .map((starId) => tables.outbox.get(starId))
    .find((row) => row?.message === text);
  if (twin != null && twin.topicId !== null) {
    return twin.topicId === topicId ? "duplicate" : "wrong topic";
  }
  return isOurPayer(tables, said.payer, payer) ? "lost" : "foreign";
}

/** Attempts whose time was over before the newest message read: it is proved that they are not there. */
function giveUpPassed(topicId: string, lastNs: bigint, tables: Tables): readonly VerdictRow[] {
  const verdicts: VerdictRow[] = [];
  for (const [starId, transactionId] of [...tables.open]) {
    const attempt = tables.attempts.get(transactionId);
    const row = tables.waiting.get(starId);
    if (attempt?.topicId !== topicId || row?.state !== "sent") continue;
    const isPassed = attempt.validUntil !== null && attempt.validUntil < lastNs;
    if (!isPassed || attempt.sends === 0 || attempt.receiptStatus === "SUCCESS") continue;
    tables.keepOutbox({ ...row, ...UNSENT, ...UNLEASED, nextTryAt: 0 });
    tables.keepAttempt({ ...attempt, signedBytes: null, outcome: "absent" });
    const absent = { verdict: "absent", sequenceNumber: null, lagMs: null };
    verdicts.push({ starId, ...absent, detail: transactionId });
  }
  return verdicts;
}

function countLost(_given: readonly never[], { tables }: Journal): readonly object[] {
  const lost = [...tables.findings.values()].filter(
    ({ kind, isOpen }) => kind === "lost" && isOpen,
  );
  return [{ lost: lost.length }];
}

function mayLackStars(given: readonly never[], journal: Journal): readonly object[] {
  const { home } = journal.tables;
  const isCopy = home !== null && home !== journal.identity;
  const [{ lost }] = countLost(given, journal) as [{ lost: number }];
  return [{ mayLack: isCopy || lost > 0 }];
}

function acceptLoss(_given: readonly never[], { tables }: Journal): readonly object[] {
  const accepted: object[] = [];
  for (const [key, finding] of tables.findings) {
    if (finding.kind !== "lost" || !finding.isOpen) continue;
    tables.findings.set(key, { ...finding, isOpen: false });
    accepted.push({ id: accepted.length });
  }
  return accepted;
}

function lookAtDatabase(given: readonly never[], journal: Journal): readonly object[] {
  const [remembered, epoch] = given as unknown as [string, string | null];
  const { tables, now, identity } = journal;
  const newest = [...tables.epochs.keys()].at(-1) ?? null;
  const instants = [...tables.waiting.keys()].map((starId) => instantOfStarId(starId) + 1);
  const isSame = identity === remembered;
  return [
    {
      now: Math.max(now(), ...instants),
      identity,
      home: tables.home,
      epoch: newest,
      isRemembered: isSame && (epoch === null || tables.epochs.has(epoch)),
    },
  ];
}

const EPOCHS_KEPT_MS = 3_600_000;
const EPOCHS_KEPT = 1_800;

function renewEpoch(
  _given: readonly never[],
  { tables, now, newUuid }: Journal,
): readonly object[] {
  for (const [id, at] of [...tables.epochs].slice(0, -EPOCHS_KEPT - 1)) {
    if (at < now() - EPOCHS_KEPT_MS) tables.epochs.delete(id);
  }
  tables.epochs.set(newUuid(), now());
  return [];
}
