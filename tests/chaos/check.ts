import type { Acknowledged, Evidence, HistoryLine, Invoke, Journal, StarRow } from "./evidence.ts";

/**
 * What can be wrong with what a service did.
 *
 * - `lost`: an acknowledged star that the journal lacks
 * - `phantom`: a star that no client asked for, or a message that is no star's
 * - `double`: more stars than calls, or a star's message twice on its topic
 * - `over allowance`: more votes than five, or twenty with a pass, of a wallet on a UTC day
 * - `repeat`: an item starred twice by a wallet on a UTC day
 * - `nft`: an NFT that counted twice for an event on a day, or for a forever mint while it counts
 * - `topic`: a star without its message, with other bytes, or at another place than the outbox says
 * - `twins`: attempts of one call that got different replies
 * - `day`: a star dated to another UTC day than its instant's
 * - `untrue`: a star that differs between the journal and the client's reply
 * - `total`: a counter that is not the sum of its stars, or a voting power not that of its holdings
 */
export interface Violation {
  readonly kind:
    | "lost"
    | "phantom"
    | "double"
    | "over allowance"
    | "repeat"
    | "nft"
    | "topic"
    | "twins"
    | "day"
    | "untrue"
    | "total";
  readonly what: string;
}

/** The verdict on a history. */
export interface Verdict {
  readonly violations: readonly Violation[];
  /** Acknowledged stars. */
  readonly acknowledged: number;
  /** Of these, stars that a restore lost before they had a message. */
  readonly givenUp: number;
}

const DAY_MS = 86_400_000;
const FREE = 5;
const PREMIUM = 20;
/** The names of the collections inside a message's `holdings`. */
const KEYS = { a: "alpha", b: "beta" };

/** Judges a whole history against journal and topics. Shares no code with what it judges. */
export function judge({ history, journal, topics }: Evidence): Verdict {
  const calls = callsOf(history);
  const messages = compareTopics(journal, topics);
  const judged = judgeAcknowledged(calls, journal, { history, topics });
  return {
    violations: [
      ...judged.violations,
      ...judgeCalls(calls, journal),
      ...judgeDays(journal),
      ...judgeNfts(journal),
      ...judgeTotals(journal),
      ...messages,
    ],
    acknowledged: judged.acknowledged,
    givenUp: judged.givenUp,
  };
}

interface Call {
  readonly invoke: Invoke;
  readonly replies: Acknowledged[];
  /** Whether any attempt may have been stored without a reply. */
  isUnknown: boolean;
}

/** By Idempotency-Key. An attempt without an end is unknown: the client itself may have died. */
function callsOf(history: readonly HistoryLine[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>();
  const open = new Map<string, Call>();
  for (const line of history) {
    if (line.is === "restore") continue;
    if (line.is === "invoke") {
      const call = calls.get(line.key) ?? { invoke: line, replies: [], isUnknown: false };
      calls.set(line.key, call);
      open.set(line.attempt, call);
      continue;
    }
    const call = open.get(line.attempt);
    if (call === undefined) continue;
    if (line.is === "ok") call.replies.push(line);
    if (line.is === "unknown") call.isUnknown = true;
    open.delete(line.attempt);
  }
  for (const call of open.values()) call.isUnknown = true;
  return calls;
}

function judgeAcknowledged(
  calls: ReadonlyMap<string, Call>,
  journal: Journal,
  { history, topics }: Pick<Evidence, "history" | "topics">,
) {
  const violations: Violation[] = [];
  const rows = new Map(journal.stars.map((row) => [row.id, row]));
  const boundTo = new Map(journal.keys.map(({ key, star }) => [key, star]));
  const unpublished = new Set(
    history.flatMap((line) => (line.is === "restore" ? line.unpublished : [])),
  );
  const onTopics = new Set([...topics.event, ...topics.asset].map(walletAndInstant));
  const stars = new Map<string, { readonly reply: Acknowledged; readonly invoke: Invoke }>();
  for (const [key, { replies, invoke }] of calls) {
    const [first] = replies;
    if (first === undefined) continue;
    for (const reply of replies) stars.set(reply.star, { reply, invoke });
    const differs = replies.find(({ star, body }) => star !== first.star || body !== first.body);
    if (differs) violations.push({ kind: "twins", what: `${key}: ${first.star}, ${differs.star}` });
    const bound = boundTo.get(key);
    if (bound !== undefined && bound !== first.star) {
      violations.push({ kind: "twins", what: `${key}: ${first.star}, journal ${bound}` });
    }
  }
  let givenUp = 0;
  for (const [id, { reply, invoke }] of stars) {
    const row = rows.get(id);
    if (row === undefined) {
      // It left no trace to recover it from; one that did must be back.
      const isGone = unpublished.has(id) && !onTopics.has(`${invoke.wallet} ${reply.at}`);
      if (isGone) givenUp += 1;
      else violations.push({ kind: "lost", what: `${id} of ${invoke.wallet}, ${invoke.target}` });
      continue;
    }
    const said = [invoke.wallet, invoke.target, reply.at, reply.day, reply.weight];
    const stands = [`0.0.${row.wallet}`, `${row.type}/${row.target}`, row.at, row.day, row.weight];
    if (said.join() !== stands.join()) {
      violations.push({ kind: "untrue", what: `${id}: answered ${said}, stands ${stands}` });
    }
  }
  return { violations, acknowledged: stars.size, givenUp };
}

function walletAndInstant(message: string): string {
  const { wallet, timestamp } = JSON.parse(message) as { wallet: string; timestamp: number };
  return `${wallet} ${timestamp}`;
}

/** No star without a call, and no more stars than calls that may have been stored. */
function judgeCalls(calls: ReadonlyMap<string, Call>, { stars }: Journal): Violation[] {
  const asked = new Map<string, number>();
  const known = new Set<string>();
  for (const { invoke, replies, isUnknown } of calls.values()) {
    for (const { star } of replies) known.add(star);
    const place = `${invoke.wallet} ${invoke.target}`;
    const mayStand = replies.length === 0 && isUnknown ? 1 : 0;
    asked.set(place, (asked.get(place) ?? 0) + mayStand);
  }
  const violations: Violation[] = [];
  for (const row of stars) {
    if (known.has(row.id)) continue;
    const place = `0.0.${row.wallet} ${row.type}/${row.target}`;
    const left = asked.get(place);
    if (left !== undefined && left > 0) asked.set(place, left - 1);
    else
      violations.push({
        kind: left === undefined ? "phantom" : "double",
        what: `${row.id}: ${place}`,
      });
  }
  return violations;
}

/** Days, allowances, and once per item and day. */
function judgeDays({ stars, events, passes }: Journal): Violation[] {
  const violations: Violation[] = [];
  const passesOf = groupBy(passes, ({ wallet }) => wallet);
  for (const row of stars) {
    if (row.day !== new Date(Math.floor(row.at / DAY_MS) * DAY_MS).toISOString().slice(0, 10)) {
      violations.push({ kind: "day", what: `${row.id}: ${row.at} on ${row.day}` });
    }
    if (row.isConflict) violations.push({ kind: "repeat", what: `${row.id} was set aside` });
  }
  for (const [place, rows] of groupBy(stars, ({ wallet, day }) => `${wallet} ${day}`)) {
    const inOrder = [...rows].filter(({ isConflict }) => !isConflict).sort((a, b) => a.at - b.at);
    for (const [index, { id, at, wallet }] of inOrder.entries()) {
      const isPremium =
        passesOf.get(wallet)?.some(({ from, to }) => from <= at && at < to) ?? false;
      const limit = isPremium ? PREMIUM : FREE;
      if (index + 1 > limit) {
        violations.push({
          kind: "over allowance",
          what: `${place}: ${id} is no. ${index + 1} of ${limit}`,
        });
      }
    }
    const slots = inOrder.map(({ slot }) => slot).sort((a, b) => a - b);
    if (slots.some((slot, index) => slot !== index + 1)) {
      violations.push({ kind: "over allowance", what: `${place}: places ${slots.join()}` });
    }
    const once = inOrder.filter(({ type, target }) => !isOnMint({ type, target }, events));
    for (const [item, same] of groupBy(once, ({ type, target }) => `${type}/${target}`)) {
      if (same.length > 1) violations.push({ kind: "repeat", what: `${place}: ${item}` });
    }
  }
  return violations;
}

function isOnMint(star: Pick<StarRow, "type" | "target">, events: Journal["events"]): boolean {
  return star.type === "event" && (events.get(star.target)?.isForeverMint ?? false);
}

/** Each NFT once per event and day; on a forever mint once for each time that it became free. */
function judgeNfts({ stars, events, releases }: Journal): Violation[] {
  const counted = new Map<string, number>();
  const add = (place: string, by: number): void =>
    void counted.set(place, (counted.get(place) ?? 0) + by);
  for (const row of stars) {
    if (row.type !== "event" || row.isConflict) continue;
    const scope = isOnMint(row, events) ? row.target : `${row.target} on ${row.day}`;
    for (const serial of row.claimedA) add(`${scope}: A ${serial}`, 1);
    if (row.claimedB !== null) add(`${scope}: B ${row.claimedB}`, 1);
  }
  for (const { event, collection, serial, spare } of releases) {
    add(`${event}: ${collection} ${serial}`, -1);
    if (spare !== null) add(`${event}: B ${spare}`, 1);
  }
  return [...counted]
    .filter(([, times]) => times > 1)
    .map(([place, times]) => ({ kind: "nft", what: `${place} counted ${times} times` }));
}

function judgeTotals({ stars, releases, totals }: Journal): Violation[] {
  const violations: Violation[] = [];
  const sums = new Map<string, number>();
  for (const row of stars) {
    const power = 1 + row.heldA.length + (row.heldB.length > 0 ? 5 : 0);
    if (row.votingPower !== power || (row.type !== "event" && row.weight !== power)) {
      violations.push({ kind: "total", what: `${row.id}: power ${row.votingPower} for ${power}` });
    }
    if (row.isConflict) continue;
    const item = `${row.type}/${row.target}${row.type === "event" ? "" : `/${row.day}`}`;
    sums.set(item, (sums.get(item) ?? 0) + row.weight);
  }
  for (const { event, weight } of releases) {
    sums.set(`event/${event}`, (sums.get(`event/${event}`) ?? 0) - weight);
  }
  for (const { item, weight } of totals) {
    if (weight !== (sums.get(item) ?? 0)) {
      violations.push({ kind: "total", what: `${item}: ${weight} for ${sums.get(item) ?? 0}` });
    }
    sums.delete(item);
  }
  for (const [item, sum] of sums) {
    if (sum !== 0) violations.push({ kind: "total", what: `${item}: none for ${sum}` });
  }
  return violations;
}

/** Each star has exactly one message, with the bytes that its row says, where the outbox says. */
function compareTopics(journal: Journal, topics: Evidence["topics"]): Violation[] {
  const violations: Violation[] = [];
  const outbox = new Map(journal.outbox.map((row) => [row.star, row]));
  const times = { event: new Map<string, number>(), asset: new Map<string, number>() };
  for (const kind of ["event", "asset"] as const) {
    for (const text of topics[kind]) times[kind].set(text, (times[kind].get(text) ?? 0) + 1);
  }
  for (const row of journal.stars) {
    const kind = row.type === "event" ? "event" : "asset";
    const expected = messageOf(row, journal);
    const count = times[kind].get(expected) ?? 0;
    const box = outbox.get(row.id);
    if (count > 1) violations.push({ kind: "double", what: `${count} messages of ${row.id}` });
    if (count === 0)
      violations.push({ kind: "topic", what: `no message of ${row.id}: ${box?.state}` });
    if (
      box === undefined ||
      box.topic !== kind ||
      box.message !== expected ||
      box.state !== "published" ||
      topics[kind][(box.sequence ?? 0) - 1] !== expected
    ) {
      violations.push({
        kind: "topic",
        what: `${row.id}: ${box?.state} #${box?.sequence} ${box?.message}`,
      });
    }
    times[kind].delete(expected);
  }
  for (const kind of ["event", "asset"] as const) {
    for (const text of times[kind].keys()) violations.push({ kind: "phantom", what: text });
  }
  return violations;
}

/** A star's message by the specification: its fields in its order, compact. */
function messageOf(row: StarRow, { events, ledgerIds }: Journal): string {
  const wallet = `0.0.${row.wallet}`;
  if (row.type === "event") {
    const event = events.get(row.target);
    return JSON.stringify({
      type: "event_vote",
      version: 1,
      wallet,
      event_id: row.target,
      event_type: event?.isForeverMint ? "FOREVER_MINT" : event?.kind,
      vote: "up",
      timestamp: row.at,
    });
  }
  return JSON.stringify({
    type: "asset_vote",
    version: 1,
    wallet,
    target_id: row.type === "project" ? (ledgerIds.get(row.target) ?? row.target) : row.target,
    target_type: row.type,
    vote: "up",
    voting_power: row.votingPower,
    holdings: { [KEYS.a]: row.heldA.length, [KEYS.b]: row.heldB.length },
    timestamp: row.at,
  });
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
