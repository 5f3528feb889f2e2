import { dayOf } from "../../../actors/day.ts";
import { RAISED } from "../../../src/store/postgres.ts";
import { type Ending, endForStar, isReleasedSince, judgeEnded } from "./mints.ts";
import type { Journal, Statement } from "./statement.ts";
import {
  allOrNothing,
  type ClaimRow,
  claimKey,
  type StarRow,
  StatementError,
  type Tables,
  type Total,
} from "./tables.ts";

type Reason = "day" | "kind" | "pass" | "slot" | "claim" | "release" | "key" | "late";

/** The statements of voting: what they answer and write, as the SQL of src and migrations/ does. */
export const voteStatements: readonly Statement[] = [
  {
    name: "admissions",
    phrase: "as asked (hash, given, type, id, key, n)",
    run: (given, { tables, now }) => {
      const [hashes, wallets, types, ids, keys, day] = given as [
        (string | null)[],
        (number | null)[],
        string[],
        string[],
        (string | null)[],
        string,
      ];
      return () =>
        types.map((type, n) => {
          const wallet = tables.sessions.get(hashes[n] ?? "") ?? wallets[n] ?? null;
          const last = tables.walletDays.get(`${wallet}/${day}`)?.at(-1);
          const kept = keys[n] === null ? undefined : tables.keys.get(`${wallet}/${keys[n]}`);
          const target = tables.targets.get(`${type}/${ids[n]}`);
          return {
            readAt: now(),
            wallet,
            requestHash: kept?.requestHash ?? null,
            reply: kept?.reply ?? null,
            found: target === undefined ? null : true,
            eventKind: target?.eventKind ?? null,
            ledgerId: target?.ledgerId ?? null,
            seasonId: tables.passInForce(wallet, now()),
            used: last?.slot ?? null,
            lastAt: last?.at ?? null,
          };
        });
    },
  },
  {
    name: "wallet days",
    phrase: "as key (wallet, not_before, n)",
    run: (given, { tables, now }) => {
      const [day, wallets, instants] = given as [string, number[], number[]];
      return () =>
        wallets.map((wallet, n) => {
          const stars = tables.walletDays.get(`${wallet}/${day}`);
          const then = instants[n] ?? 0;
          return {
            stars: stars?.map(dayStar) ?? null,
            seasonId: tables.passInForce(wallet, Math.max(now(), then)),
            seasonThen: tables.passInForce(wallet, then),
            readAt: now(),
          };
        });
    },
  },
  {
    name: "slices",
    phrase: "as key (n, event_id, day, collection, serial)",
    run: (given, { tables }) => {
      const [places, events, days, collections, serials] = given as [
        number[],
        string[],
        (string | null)[],
        string[],
        number[],
      ];
      return () => {
        const claims = places.flatMap((n, at) => {
          const [collection, serial] = [collections[at] ?? "", serials[at] ?? 0];
          const key = claimKey(events[at] ?? "", days[at] ?? null, { collection, serial });
          const claim = tables.claims.get(key);
          return claim === undefined ? [] : [{ n, collection, serial, wallet: claim.wallet }];
        });
        const carriers = places.flatMap((n, at) => {
          const wallet = serials[at] ?? 0;
          const serial =
            collections[at] === "base" ? tables.carriers.get(`${events[at]}/${wallet}`) : undefined;
          return serial === undefined ? [] : [{ n, collection: "carrier", serial, wallet }];
        });
        const releases = [...new Map(places.map((n, at) => [n, events[at] ?? ""]))].flatMap(
          ([n, event]) => {
            const total = tables.eventTotals.get(event);
            return total === undefined
              ? []
              : [{ n, collection: "releases", serial: total.releases, wallet: 0 }];
          },
        );
        return [...claims, ...carriers, ...releases];
      };
    },
  },
  {
    name: "cast stars",
    phrase: "from cast_stars(",
    run: (given, journal) => {
      const [turns, notAfter, ends] = given as [string, number, string | null];
      const ending = ends === null ? null : (JSON.parse(ends) as Ending);
      return castStars(JSON.parse(turns) as StarRow[], { notAfter, ending }, journal);
    },
  },
  {
    name: "look up stars",
    phrase: "coalesce(event_total.weight, item_day.weight) as total",
    run: (given, { tables }) => {
      const [days, ids] = given as [string[], string[]];
      return () =>
        ids.flatMap((id) => {
          const star = tables.stars.get(id);
          if (star === undefined || !days.includes(star.day)) return [];
          const key = [...tables.keys.values()].find(({ starId }) => starId === id);
          return [{ id, total: totalOf(tables, star).weight, reply: key?.reply ?? null }];
        });
    },
  },
  {
    name: "kept replies",
    phrase: "left join idempotency_key using (wallet, key)",
    run: (given, { tables }) => {
      const [wallets, keys] = given as [number[], string[]];
      return () =>
        keys.map((key, n) => {
          const kept = tables.keys.get(`${wallets[n]}/${key}`);
          return { hash: kept?.requestHash ?? null, reply: kept?.reply ?? null };
        });
    },
  },
  {
    name: "partitions",
    phrase: "select ensure_star_partition(",
    run: (given, { tables }) => {
      const [day, other] = given as [string, string];
      return () => {
        const next = new Date(`${other.slice(0, 7)}-01T00:00:00Z`);
        next.setUTCMonth(next.getUTCMonth() + 1);
        tables.partitions.add(day.slice(0, 7)).add(next.toISOString().slice(0, 7));
        return [];
      };
    },
  },
  {
    name: "clock",
    phrase: "select now_ms() as now",
    isWhole: true,
    run:
      (_given, { now }) =>
      () => [{ now: now() }],
  },
];

function dayStar({ id, at, target_type: type, target_id: target }: StarRow) {
  return { id, at, type, target };
}

const NONE: Total = { weight: 0, stars: 0, releases: 0 };

function totalOf(tables: Tables, { target_type: type, target_id: id, day }: StarRow): Total {
  const total =
    type === "event" ? tables.eventTotals.get(id) : tables.itemDays.get(`${type}/${id}/${day}`);
  return total ?? NONE;
}

/** Judges what the statement's snapshot shows; the function that it returns writes. */
function castStars(
  turns: readonly StarRow[],
  { notAfter, ending }: { readonly notAfter: number; readonly ending: Ending | null },
  journal: Journal,
) {
  const { tables, now } = journal;
  if (now() > notAfter) {
    throw new StatementError(RAISED.tooLate, "the deadline of this batch has passed");
  }
  const today = dayOf(now());
  const passes = tables.passes;
  const judged = turns.map((star) => ({ star, reason: judge(tables, star, today) }));
  const write = () => {
    const [first] = turns;
    if (ending !== null && first !== undefined) endForStar(journal, first.id, ending);
    const batch = new Batch(tables);
    const kept = judged.filter(({ star, reason }) => reason === null && batch.insert(star));
    const written = new Set(kept.map(({ star }) => star.id));
    for (const { star } of kept) batch.claim(star);
    const totals = batch.addTotals(kept.map(({ star }) => star));
    const outcomes = judged.map(({ star, reason }) => {
      const isWritten = written.has(star.id);
      const inBatch = isWritten ? batch.outcome(star) : "slot";
      const isLate = inBatch === "stored" && now() > star.not_after;
      const outcome = reason ?? (isLate ? "late" : inBatch);
      const total = isWritten ? (totals.get(counterKey(star))?.weight ?? null) : null;
      return { star_id: star.id, outcome, total_votes: total };
    });
    const lost = outcomes.filter(
      (row) => row.outcome !== "stored" && (written.has(row.star_id) || ending !== null),
    );
    if (lost.length > 0) {
      const detail = lost.map((row) => `${row.star_id} ${row.outcome}`).join("\n");
      throw new StatementError(RAISED.conflict, "claimed, bound or released meanwhile", detail);
    }
    batch.write(kept.map(({ star }) => star));
    if (ending !== null && first !== undefined) judgeEnded(journal, first.id, ending);
    for (const { star } of kept) {
      const total = totals.get(counterKey(star))?.weight ?? 0;
      journal.onStored?.(star, { total, passes, today });
    }
    return outcomes;
  };
  return ending === null ? write : () => allOrNothing(tables, write);
}

function judge(tables: Tables, star: StarRow, today: string): Reason | null {
  const { target_type: type, target_id: id, wallet, day, slot, follows, at } = star;
  if (day !== today) return "day";
  const isMint = tables.targets.get(`${type}/${id}`)?.eventKind === "FOREVER_MINT";
  if (type === "event" && tables.targets.has(`event/${id}`) && isMint !== star.is_forever_mint) {
    return "kind";
  }
  if (tables.passInForce(wallet, at) !== star.season_id) return "pass";
  const latest = tables.walletDays.get(`${wallet}/${day}`)?.at(-1);
  const isNext = latest?.slot === slot - 1 && latest.id === follows && latest.at < at;
  if (slot > 1 && !isNext) return "slot";
  const isTaken = claimsOf(star).some((claim) => tables.claims.has(claimKey(id, day, claim)));
  return type === "event" && !star.is_forever_mint && isTaken ? "claim" : null;
}

function claimsOf({ claimed_a: a, claimed_b: b }: StarRow) {
  const claims = a.map((serial) => ({ collection: "A", serial }));
  return b === null ? claims : [...claims, { collection: "B", serial: b }];
}

function counterKey({ target_type: type, target_id: id, day }: StarRow): string {
  return type === "event" ? `event/${id}` : `${type}/${id}/${day}`;
}

/** The writing of one statement: all of it, or nothing. */
class Batch {
  readonly #tables: Tables;
  readonly #stars = new Map<string, StarRow>();
  readonly #items = new Set<string>();
  readonly #claims = new Map<string, ClaimRow>();
  readonly #carriers = new Map<string, number>();
  readonly #refused = new Map<string, Reason>();
  #totals = new Map<string, Total>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** @returns false where a unique key of the stars stands against it */
  insert(star: StarRow): boolean {
    checkRow(star, this.#tables);
    const { wallet, day, slot, target_type: type, target_id: id } = star;
    const own = this.#tables.walletDays.get(`${wallet}/${day}`) ?? [];
    const isRepeat = own.some((other) => other.target_type === type && other.target_id === id);
    const isTaken = own.some((other) => other.slot === slot) || this.#tables.stars.has(star.id);
    const [place, item] = [`${wallet}/${day}/${slot}`, `${wallet}/${day}/${type}/${id}`];
    if (isTaken || this.#stars.has(place)) return false;
    if (!star.is_forever_mint && (isRepeat || this.#items.has(item))) return false;
    this.#stars.set(place, star);
    if (!star.is_forever_mint) this.#items.add(item);
    return true;
  }

  claim(star: StarRow): void {
    const { target_type: type, target_id: event, wallet, is_forever_mint: isMint } = star;
    if (type !== "event") return;
    const base = isMint && star.base > 0 ? [{ collection: "base", serial: wallet }] : [];
    for (const claim of [...base, ...claimsOf(star)]) {
      const key = claimKey(event, isMint ? null : star.day, claim);
      const isBonus = isMint && claim.collection === "B";
      const owner = `${event}/${wallet}`;
      const isCarrying = this.#tables.carriers.has(owner) || this.#carriers.has(owner);
      if (this.#tables.claims.has(key) || this.#claims.has(key) || (isBonus && isCarrying)) {
        this.#refused.set(star.id, "claim");
        continue;
      }
      this.#claims.set(key, { wallet, starId: star.id, anchoredAt: null });
      if (isBonus) this.#carriers.set(owner, claim.serial);
    }
  }

  addTotals(stars: readonly StarRow[]): ReadonlyMap<string, Total> {
    for (const star of stars) {
      const key = counterKey(star);
      const {
        weight,
        stars: count,
        releases,
      } = this.#totals.get(key) ?? totalOf(this.#tables, star);
      this.#totals.set(key, { weight: weight + star.weight, stars: count + 1, releases });
    }
    return this.#totals;
  }

  outcome(star: StarRow): Reason | "stored" {
    const { is_forever_mint: isMint, wallet, idempotency } = star;
    const claimed = this.#refused.get(star.id);
    if (claimed !== undefined) return claimed;
    if (isMint && isReleasedSince(this.#tables, star)) return "release";
    if (idempotency === undefined) return "stored";
    const key = `${wallet}/${idempotency.key}`;
    const first = [...this.#stars.values()].find(
      (other) => other.wallet === wallet && other.idempotency?.key === idempotency.key,
    );
    return this.#tables.keys.has(key) || first !== star ? "key" : "stored";
  }

  write(stars: readonly StarRow[]): void {
    const tables = this.#tables;
    for (const [key, claim] of this.#claims) tables.claims.set(key, claim);
    for (const [key, serial] of this.#carriers) tables.carriers.set(key, serial);
    for (const star of stars) {
      const { id, wallet, day, topic, message, idempotency, at } = star;
      tables.stars.set(id, star);
      const own = tables.walletDays.get(`${wallet}/${day}`) ?? [];
      const both = [...own, star].sort((one, other) => one.slot - other.slot);
      tables.walletDays.set(`${wallet}/${day}`, both);
      box(tables, { id, at, topic, message });
      const total = this.#totals.get(counterKey(star)) ?? NONE;
      const isEvent = star.target_type === "event";
      if (isEvent) tables.eventTotals.set(star.target_id, total);
      else tables.itemDays.set(counterKey(star), total);
      if (idempotency === undefined) continue;
      const reply = `${idempotency.reply_head}${total.weight}${idempotency.reply_tail}`;
      const row = { requestHash: idempotency.request_hash, starId: id, reply };
      tables.keys.set(`${wallet}/${idempotency.key}`, row);
    }
  }
}

/** The message of an accepted star, pending. */
export function box(
  tables: Tables,
  star: { readonly id: string; readonly at: number } & Pick<StarRow, "topic" | "message">,
): void {
  const { id: starId, at, topic, message } = star;
  tables.byInstant.set(at, [...(tables.byInstant.get(at) ?? []), starId]);
  tables.keepOutbox({
    starId,
    topic,
    message,
    state: "pending",
    topicId: null,
    transactionId: null,
    sequenceNumber: null,
    consensusTimestamp: null,
    runningHash: null,
    leaseOwner: null,
    leaseUntil: 0,
    tries: 0,
    nextTryAt: 0,
  });
}

/** The check constraints of `star`, and its partitions. */
function checkRow(star: StarRow, { partitions }: Tables): void {
  const { slot, allowance_limit: limit, weight, base, counted_a: a, bonus_b: b } = star;
  if (!partitions.has(star.day.slice(0, 7))) {
    throw new StatementError("23514", 'no partition of relation "star" found for row');
  }
  const isSound =
    slot >= 1 &&
    slot <= limit &&
    star.day === dayOf(star.at) &&
    weight === base + a + b &&
    star.voting_power >= weight &&
    star.message.length <= 1_024;
  if (!isSound) {
    const message = "a check constraint of star is violated";
    throw new StatementError("23514", message, undefined, "star_check");
  }
}
