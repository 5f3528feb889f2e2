import type { MirrorTopicMessage } from "../../src/ledger/mirror/schemas.ts";
import { createOracle, type OraclePass, type OracleTarget } from "../support/oracle.ts";
import type { Commit, Journal } from "./journal/statement.ts";
import type { EndRow, StarRow, Tables, TargetRow } from "./journal/tables.ts";

/** A promise that was broken; its text names the promise as docs/ does. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** A defect of the service: what promises cannot be held with. */
export function defect(what: string, error: unknown): Violation {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Violation(`defect: ${what}: ${detail}`);
}

/** A reply to a client. */
export type Reply =
  | { readonly kind: "accepted" | "replayed"; readonly body: string }
  | { readonly kind: "repeat"; readonly starId: string }
  | { readonly kind: "exhausted"; readonly limit: number; readonly used: number };

/** A request for a star, as its client knows it. */
export interface Asked {
  readonly wallet: number;
  readonly target: { readonly type: string; readonly id: string };
  readonly key: string | null;
  /** By the world's time. */
  readonly at: number;
  /** When the process that is asked last read the database's clock; undefined: not yet. */
  readonly clockReadAt: number | undefined;
}

/** A star that stands, and what was true at its commit. */
interface Standing {
  readonly row: StarRow;
  readonly passes: Tables["passes"];
  readonly total: number;
  /** What ends had taken off its mint by then. */
  readonly endedBefore: number;
  /** By the world's time. */
  readonly storedAt: number;
}

/** Claims on a mint that ended together. */
interface Ended {
  readonly mint: string;
  readonly ends: readonly EndRow[];
}

interface Reading {
  /** When the process that asked had the answer, by the world's time. */
  readonly answeredAt: number;
  readonly serials: string;
}

export interface JudgeParts {
  readonly journal: Journal;
  readonly now: () => number;
  readonly targets: ReadonlyMap<string, TargetRow>;
  readonly topics: Readonly<Record<"event" | "asset", string>>;
  /** Who has an NFT, as the mirror node shows it, and since when by the world's time. */
  readonly ownerOf: (
    collection: "A" | "B",
    serial: number,
  ) => { readonly owner: number | null; readonly since: number };
  readonly fail: (violation: Violation) => void;
}

const DAY_MS = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Longer than a request takes. */
const REQUEST_MS = 4_000;
/** A statement of a request reaches the database so soon, or never. */
const ON_ITS_WAY_MS = 10_000;
/** Every process that runs, and reaches the database, has noticed by then that its clock jumped. */
const CLOCK_KNOWN_MS = 15_000;
/** The database's clock is set back by so much at most: a statement on its way may commit as much later. */
const SET_BACK_MS = 30_000;

/**
 * Holds what the service did against the promises, at every commit, every message and every
 * answer. It shares no rule with the service: the rules are those of the oracle.
 */
export class Judge {
  readonly #parts: JudgeParts;
  /** In the order of their commits. */
  #standing = new Map<string, Standing>();
  /** The same, and what ended between them. */
  #history: (Standing | Ended)[] = [];
  readonly #ever = new Map<string, StarRow>();
  #oracle = createOracle([]);
  #passes: OraclePass[] = [];
  readonly #acknowledged = new Set<string>();
  readonly #replies = new Map<string, { readonly target: string; readonly body: string }>();
  readonly #readings = new Map<number, Reading[]>();
  /** Messages by text. */
  readonly #messages = new Map<string, number>();
  readonly #byMessage = new Map<string, StarRow>();
  /** Requests by wallet and target, and stars that came of them. */
  readonly #requests = new Map<string, number>();
  /** Those that a statement on its way may come of. */
  readonly #asked = new Map<string, readonly Asked[]>();
  /** What ends have taken off each mint. */
  readonly #endedWeight = new Map<string, number>();
  /** By the world's time: when the database's clock jumped last, all know of it, and the journal went back. */
  #clockJumpedAt = Number.NEGATIVE_INFINITY;
  #clockKnownAt = Number.NEGATIVE_INFINITY;
  #wentBackAt = Number.NEGATIVE_INFINITY;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
    this.#renewOracle();
    parts.journal.onStored = (row, { total, passes, today }) =>
      this.#stored(row, { total, passes, today });
    parts.journal.onEnded = (mint, ends) => this.#ended({ mint, ends });
  }

  get stars(): number {
    return this.#standing.size;
  }

  /** Says which promise is broken; the run ends with the first. */
  #deny(promise: string, what: string): void {
    this.#parts.fail(new Violation(`${promise}: ${what}`));
  }

  #renewOracle(): void {
    this.#passes = [];
    this.#oracle = createOracle(this.#passes);
  }

  #stored(row: StarRow, commit: Commit): void {
    const { id, wallet, day, at } = row;
    if (this.#ever.has(id)) {
      this.#deny("P1", `star ${id} is stored twice`);
      return;
    }
    if (day !== commit.today || day !== dayOf(at)) {
      this.#deny("P10", `star ${id} of ${day}, at ${at}, is stored on ${commit.today}`);
    }
    const off = this.#parts.journal.now() - at;
    const isClockKnown = this.#parts.now() > this.#clockKnownAt;
    const request = `${wallet} ${row.target_type}/${row.target_id}`;
    const isDated = isClockKnown || this.#isDatedKnowingly(request);
    if (isDated && Math.abs(off) > REQUEST_MS && !this.#followsAt(row)) {
      this.#deny("P10", `star ${id} is ${off} ms old`);
    }
    const requests = (this.#requests.get(request) ?? 0) - 1;
    this.#requests.set(request, requests);
    if (requests < 0) this.#deny("P2", `${request}: more stars than requests`);
    if (this.#byMessage.has(row.message))
      this.#deny("P6", `two stars with the text ${row.message}`);
    this.#ever.set(id, row);
    this.#byMessage.set(row.message, row);
    const storedAt = this.#parts.now();
    const { passes, total } = commit;
    const endedBefore = this.#endedWeightOf(row.target_id);
    const standing = { row, passes, total, endedBefore, storedAt };
    this.#standing.set(id, standing);
    this.#history.push(standing);
    this.#askOracle(standing);
    const serials = JSON.stringify([row.held_a, row.held_b]);
    const since = storedAt - REQUEST_MS - (isClockKnown ? 0 : SET_BACK_MS);
    if (!this.#isRead(row, { request, serials, since }))
      this.#deny("P12", `star ${id} holds what no mirror node said: ${serials}`);
  }

  /** Nothing is kept between stars: a request uses a reading that is under way when it comes, or a later one. */
  #isRead(
    { wallet }: StarRow,
    given: { readonly request: string; readonly serials: string; readonly since: number },
  ): boolean {
    const { request, serials, since } = given;
    const asked = (this.#asked.get(request) ?? []).map(({ at }) => at).filter((at) => at >= since);
    const first = Math.min(...asked);
    const readings = this.#readings.get(wallet) ?? [];
    return readings.some((read) => read.serials === serials && read.answeredAt >= first);
  }

  /** Whether all processes that were asked for it of late had read the clock since its last jump. */
  #isDatedKnowingly(request: string): boolean {
    const recent = this.#recent(request);
    const isKnown = ({ at, clockReadAt = 0 }: Asked): boolean =>
      Math.min(at, clockReadAt) > this.#clockJumpedAt;
    return recent.length > 0 && recent.every(isKnown);
  }

  #recent(request: string): readonly Asked[] {
    const since = this.#parts.now() - ON_ITS_WAY_MS;
    return (this.#asked.get(request) ?? []).filter(({ at }) => at > since);
  }

  /** After the clock went back, a wallet's stars follow its last one, a millisecond each. */
  #followsAt({ wallet, at }: StarRow): boolean {
    return [...this.#standing.values()].some(
      ({ row }) => row.wallet === wallet && row.at === at - 1,
    );
  }

  /** The same star again by the specification's own words: allowed, numbered, dated and weighed so. */
  #askOracle({ row, passes, total }: Standing): void {
    const { id, wallet, at, slot, weight, allowance_limit: limit } = row;
    const { seasons } = this.#parts.journal.tables;
    const own = (passes.get(wallet) ?? []).flatMap((season) => {
      const span = seasons.get(season);
      return span === undefined
        ? []
        : [{ wallet: String(wallet), from: span.startsAt, to: span.endsAt }];
    });
    this.#passes.splice(0, this.#passes.length, ...own);
    const target = this.#oracleTarget(row);
    const intent = { wallet: String(wallet), target, now: at, a: row.held_a, b: row.held_b };
    const verdict = this.#oracle.star(intent);
    if (verdict.code === "ALREADY_STARRED") {
      this.#deny("P4", `star ${id} is a repeat`);
      return;
    }
    if (verdict.code !== "ACCEPTED") {
      this.#deny("P3", `star ${id} is over the allowance`);
      return;
    }
    const { star } = verdict;
    if (star.at !== at || star.day * DAY_MS !== Date.parse(`${row.day}T00:00:00Z`)) {
      this.#deny("P10", `star ${id} at ${at} had to be at ${star.at}`);
    }
    if (star.slot !== slot || star.limit !== limit) {
      this.#deny("P3", `star ${id} is ${slot} of ${limit}, not ${star.slot} of ${star.limit}`);
    }
    const nfts = [...row.claimed_a.map((serial) => `A${serial}`), ...bonusOf(row)].join();
    const isCounted = row.target_type === "event";
    if (star.weight !== weight || (isCounted && nfts !== star.nfts.join())) {
      this.#deny("P5", `star ${id} weighs ${weight} (${nfts}), not ${star.weight} (${star.nfts})`);
    }
    // Each star of a batch gets the total after all of it.
    if (total < this.#oracle.counter(target, at)) {
      this.#deny("P8", `the counter of ${target.id} is ${total}`);
    }
  }

  #oracleTarget({ target_type: type, target_id: id }: StarRow): OracleTarget {
    const isMint = this.#parts.targets.get(`${type}/${id}`)?.eventKind === "FOREVER_MINT";
    return { id: `${type}/${id}`, kind: isMint ? "mint" : type === "event" ? "event" : "asset" };
  }

  #ended(ended: Ended): void {
    const { mint, ends } = ended;
    this.#history.push(ended);
    const weight = ends.reduce((sum, end) => sum + end.weight, this.#endedWeightOf(mint));
    this.#endedWeight.set(mint, weight);
    const isCounting = ends.every((end) => this.#judgeEnd(mint, end));
    if (!isCounting) return;
    this.#tellOracle(ended);
    for (const end of ends) this.#judgeSpare(mint, end);
  }

  #endedWeightOf(mint: string): number {
    return this.#endedWeight.get(mint) ?? 0;
  }

  #tellOracle({ mint, ends }: Ended): void {
    const ended = ends.map(({ collection, serial, spare }) => {
      return { nft: `${collection}${serial}`, spare: spare === null ? null : `B${spare}` };
    });
    this.#oracle.release(`event/${mint}`, ended);
  }

  /** A claim ends once, where its wallet has not held the NFT all along (P11). */
  #judgeEnd(mint: string, end: EndRow): boolean {
    const { collection, serial, wallet, weight, spare } = end;
    const nft = `${collection}${serial}`;
    if (this.#oracle.holderOn(`event/${mint}`, nft) !== String(wallet)) {
      this.#deny("P11", `${nft} of ${wallet} ends on ${mint}, where it does not count`);
      return false;
    }
    if (this.#isHeldSince(end)) {
      this.#deny("P11", `${nft} of ${wallet} ends on ${mint}, and is held all along`);
    }
    const lost = collection === "A" ? 1 : spare === null ? 5 : 0;
    if (weight !== lost) this.#deny("P11", `${nft} takes ${weight} off ${mint}, not ${lost}`);
    return true;
  }

  /** The +5 goes on with another NFT that the wallet holds, if there is a free one. */
  #judgeSpare(mint: string, { collection, wallet, spare, held_b: held }: EndRow): void {
    if (collection === "A") return;
    const isFree = (serial: number): boolean =>
      this.#oracle.holderOn(`event/${mint}`, `B${serial}`) === null;
    const free = spare === null ? held.find(isFree) : undefined;
    if (free !== undefined)
      this.#deny("P11", `${wallet} loses the +5 on ${mint}, and has B${free}`);
    if (spare !== null && !held.includes(spare)) {
      this.#deny(
        "P11",
        `B${spare} carries the +5 of ${wallet} on ${mint} on, who does not hold it`,
      );
    }
  }

  /** Whether its wallet has had an NFT since before the star that brought it. */
  #isHeldSince({ collection, serial, wallet, star_id: starId }: EndRow): boolean {
    const { storedAt = Number.NEGATIVE_INFINITY } = this.#standing.get(starId) ?? {};
    const { owner, since } = this.#parts.ownerOf(collection, serial);
    return owner === wallet && since < storedAt - REQUEST_MS;
  }

  /** What counts on a mint once the last check is over is held, or was until after it began. */
  #finishMints({ claims, runs }: Tables): void {
    const last = [...runs.values()].sort((one, other) => (one.day < other.day ? -1 : 1)).at(-1);
    if (last?.state !== "done") return;
    const { now, journal, ownerOf } = this.#parts;
    const began = now() - (journal.now() - last.startedAt) - REQUEST_MS;
    if (began <= this.#clockKnownAt) return;
    for (const [key, { wallet, starId }] of claims) {
      const [, mint, collection, serial] = /^([^/]+)\/\/([AB])\/(\d+)$/.exec(key) ?? [];
      const at = this.#standing.get(starId)?.row.at ?? Number.POSITIVE_INFINITY;
      if (mint === undefined || at >= last.startedAt - REQUEST_MS) continue;
      const { owner, since } = ownerOf(collection as "A" | "B", Number(serial));
      if (owner === wallet || since >= began) continue;
      this.#deny(
        "P11",
        `${collection}${serial} counts for ${wallet} on ${mint}, and is ${owner}'s`,
      );
    }
  }

  /** A mirror node said what a wallet holds, and the process that asked has heard it. */
  read(wallet: number, serials: readonly (readonly number[])[]): void {
    const answeredAt = this.#parts.now();
    const since = answeredAt - REQUEST_MS - SET_BACK_MS;
    const recent = (this.#readings.get(wallet) ?? []).filter((each) => each.answeredAt >= since);
    recent.push({ answeredAt, serials: JSON.stringify(serials) });
    this.#readings.set(wallet, recent);
  }

  /** A message took effect on a topic. */
  message({ topicId, bytes }: MirrorTopicMessage): void {
    const text = bytes.toString();
    const star = this.#byMessage.get(text);
    if (star === undefined) {
      this.#deny("P6", `a message without a star: ${text}`);
      return;
    }
    if (topicId !== this.#parts.topics[star.topic]) this.#deny("P6", `${star.id} is on ${topicId}`);
    const times = (this.#messages.get(text) ?? 0) + 1;
    this.#messages.set(text, times);
    if (times > 1) this.#deny("P6", `star ${star.id} has ${times} messages`);
  }

  /** A client asks for a star. */
  asked(asked: Asked): void {
    const { wallet, target } = asked;
    const request = `${wallet} ${target.type}/${target.id}`;
    const since = this.#parts.now() - REQUEST_MS - SET_BACK_MS;
    const earlier = (this.#asked.get(request) ?? []).filter(({ at }) => at >= since);
    this.#asked.set(request, [...earlier, asked]);
    this.#requests.set(request, (this.#requests.get(request) ?? 0) + 1);
  }

  /** The database's clock is another one from now on. */
  clockJumped(): void {
    this.#clockJumpedAt = this.#parts.now();
    this.#clockKnownAt = this.#parts.now() + CLOCK_KNOWN_MS;
  }

  /** A process stands still until then: it notices an earlier jump only afterwards. */
  standsStill(untilMs: number): void {
    if (this.#parts.now() > this.#clockKnownAt) return;
    this.#clockKnownAt = Math.max(this.#clockKnownAt, untilMs + CLOCK_KNOWN_MS);
  }

  /** A client got its answer. */
  answered(asked: Asked, reply: Reply): void {
    switch (reply.kind) {
      case "accepted":
      case "replayed":
        this.#judgeStar(asked, reply);
        return;
      case "repeat":
        this.#judgeRepeat(asked, reply.starId);
        return;
      case "exhausted":
        this.#judgeExhausted(asked, reply);
        return;
    }
  }

  #judgeStar(asked: Asked, { kind, body }: { readonly kind: string; readonly body: string }): void {
    const reply = JSON.parse(body) as {
      star: { id: string; wallet: string; target: { type: string; id: string }; weight: number };
      counter: { totalVotes: number };
    };
    const { star, counter } = reply;
    const wasLost = this.#wentBackAt >= asked.at;
    const standing = this.#standing.get(star.id);
    if (standing === undefined) {
      if (!wasLost || !this.#ever.has(star.id))
        this.#deny("P1", `${kind} star ${star.id} is not stored`);
      return;
    }
    const { row, total, endedBefore } = standing;
    const isAsAsked =
      row.wallet === asked.wallet &&
      row.target_type === asked.target.type &&
      row.target_id === asked.target.id &&
      star.weight === row.weight;
    if (!isAsAsked) this.#deny("P1", `the reply to ${asked.wallet} is about another star: ${body}`);
    // A star whose answer was lost is looked up later, and claims may have ended by then.
    if (counter.totalVotes < total - (this.#endedWeightOf(row.target_id) - endedBefore))
      this.#deny("P8", `${star.id} was answered ${counter.totalVotes}, not ${total}`);
    this.#acknowledged.add(star.id);
    if (asked.key === null) return;
    const name = `${asked.wallet}/${asked.key}`;
    const target = `${asked.target.type}/${asked.target.id}`;
    const first = this.#replies.get(name);
    if (first === undefined) this.#replies.set(name, { target, body });
    else if (first.body !== body || first.target !== target) {
      this.#deny("P2", `${name} is answered ${first.body} and ${body}`);
    }
  }

  #judgeRepeat({ wallet, target, at }: Asked, starId: string): void {
    if (this.#wentBackAt >= at) return;
    const row = this.#standing.get(starId)?.row;
    const isIt =
      row?.wallet === wallet && row.target_type === target.type && row.target_id === target.id;
    if (!isIt)
      this.#deny("P4", `${wallet} is refused for star ${starId}, which is none of its own`);
  }

  #judgeExhausted(
    { wallet, at }: Asked,
    { limit, used }: { readonly limit: number; readonly used: number },
  ): void {
    if (this.#wentBackAt >= at) return;
    const days = new Map<string, number>();
    for (const { row } of this.#standing.values()) {
      if (row.wallet === wallet) days.set(row.day, (days.get(row.day) ?? 0) + 1);
    }
    const most = Math.max(0, ...days.values());
    if (used < limit || most < used) {
      this.#deny("P3", `${wallet} is refused with ${used} of ${limit} votes used, and has ${most}`);
    }
  }

  /** The journal went back in time: what is not in these rows is lost, and none of it is owed. */
  wentBack({ stars, ends }: Tables): void {
    this.#wentBackAt = this.#parts.now();
    const kept = this.#history.filter((each) =>
      "row" in each ? stars.has(each.row.id) : each.ends.every((end) => ends.has(end)),
    );
    for (const id of this.#standing.keys()) if (!stars.has(id)) this.#acknowledged.delete(id);
    this.#standing = new Map();
    this.#renewOracle();
    this.#history = kept;
    // Totals at a commit stand as they were.
    for (const each of kept) {
      if ("row" in each) {
        this.#standing.set(each.row.id, each);
        this.#askOracle(each);
      } else this.#tellOracle(each);
    }
    for (const [name, { body }] of this.#replies) {
      const { star } = JSON.parse(body) as { star: { id: string } };
      if (!stars.has(star.id)) this.#replies.delete(name);
    }
  }

  /** Everything at rest: what was promised stands, and the sums add up. */
  finish(): void {
    const { tables } = this.#parts.journal;
    for (const id of this.#acknowledged) {
      if (!tables.stars.has(id)) this.#deny("P1", `acknowledged star ${id} is gone`);
    }
    if (tables.stars.size !== this.#standing.size) this.#deny("P1", "the journal lost stars");
    const totals = new Map<string, number>();
    for (const { row } of this.#standing.values()) {
      const { target_type: type, target_id: id, day, weight } = row;
      const key = type === "event" ? `event/${id}` : `${type}/${id}/${day}`;
      totals.set(key, (totals.get(key) ?? 0) + weight);
    }
    for (const each of this.#history) {
      if ("row" in each) continue;
      const key = `event/${each.mint}`;
      const lost = each.ends.reduce((sum, { weight }) => sum + weight, 0);
      totals.set(key, (totals.get(key) ?? 0) - lost);
    }
    for (const [key, total] of totals) {
      const shown = key.startsWith("event/")
        ? tables.eventTotals.get(key.slice("event/".length))
        : tables.itemDays.get(key);
      if (shown?.weight !== total) this.#deny("P8", `${key} shows ${shown?.weight}, not ${total}`);
    }
    this.#finishMints(tables);
    this.#finishMessages(tables);
  }

  #finishMessages(tables: Tables): void {
    for (const { row } of this.#standing.values()) {
      const times = this.#messages.get(row.message) ?? 0;
      if (times !== 1) this.#deny("P6", `star ${row.id} has ${times} messages`);
      const box = tables.outbox.get(row.id);
      if (box?.state !== "published") this.#deny("P6", `star ${row.id} is ${box?.state}`);
      if (box?.message !== row.message) this.#deny("P6", `star ${row.id} has another text`);
    }
    for (const [place, finding] of tables.findings) {
      const isAllowed = finding.kind === "lost" && Number.isFinite(this.#wentBackAt);
      if (!isAllowed) this.#deny("P6", `the service found ${place}`);
    }
  }
}

function bonusOf({ claimed_b: serial }: StarRow): readonly string[] {
  return serial === null ? [] : [`B${serial}`];
}
