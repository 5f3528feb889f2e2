import { dayOf } from "../../actors/day.ts";
import type { EventDecision } from "../../actors/event-day.ts";
import {
  decideLoss,
  type EventTables,
  emptyTables,
  evolveEventDay,
  evolveMint,
} from "../../actors/whole.ts";
import { type EventTurn, takeStar } from "../audit/event-accounts.ts";
import { judgeEnds } from "../audit/mint-order.ts";
import type { Mismatch } from "../audit/report.ts";
import { starsOfEventDay } from "../journal/event-history.ts";
import type { ExportRelease } from "../journal/export-format.ts";
import { lossesOf } from "../journal/mint-end.ts";
import { mintFact, readMintHistory } from "../journal/mint-history.ts";
import { runLong, type Sql } from "../store/postgres.ts";

/** A recorded fact of the journal, taken in when its time has come. */
interface Fact {
  readonly at: number;
  readonly apply: (tables: EventTables) => void;
}

interface Machine {
  readonly tables: EventTables;
  readonly facts: AsyncIterator<Fact>;
  next: Fact | null;
}

/**
 * The events' actors while stars come back: what the journal has of them, up to the instant of the
 * star that is looked at, and what came back before it. So a star is decided as it was, whatever
 * was accepted after it.
 */
export class EventMachines {
  readonly #sql: Sql;
  readonly #machines = new Map<string, Machine>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Decides a star, then takes it in: as it is recorded, or as decided. */
  async count(star: EventTurn): Promise<EventDecision> {
    return takeStar(await this.#tablesAt(star), star);
  }

  /**
   * Decides what a mint loses by attributions that ended together, and takes it in where that is what their
   * export tells.
   *
   * @returns what it tells otherwise
   */
  async release(
    first: ExportRelease,
    releases: readonly ExportRelease[],
  ): Promise<readonly Mismatch[]> {
    const { mint: event, releasedAt } = first;
    const at = Date.parse(releasedAt);
    const tables = await this.#tablesAt({ event, isForeverMint: true, at });
    const decision = decideLoss(event, tables, { type: "lost", losses: lossesOf(releases) });
    const found = judgeEnds(decision, first, releases);
    if (found.length === 0) evolveMint(event, tables, decision);
    return found;
  }

  mints(): readonly (readonly [event: string, tables: EventTables])[] {
    return [...this.#machines].flatMap(([name, { tables }]) =>
      name.startsWith("mint/") ? [[name.slice("mint/".length), tables] as const] : [],
    );
  }

  /** Forgets the events' days; mints go on. */
  closeDay(): void {
    for (const name of this.#machines.keys()) {
      if (!name.startsWith("mint/")) this.#machines.delete(name);
    }
  }

  async #tablesAt({
    event,
    isForeverMint,
    at,
  }: Pick<EventTurn, "event" | "isForeverMint" | "at">): Promise<EventTables> {
    const name = isForeverMint ? `mint/${event}` : `day/${event}`;
    let machine = this.#machines.get(name);
    if (machine === undefined) {
      const facts = isForeverMint
        ? mintFacts(this.#sql, event, await endOfMint(this.#sql, event))
        : dayFacts(this.#sql, { event, day: dayOf(at) });
      machine = { tables: emptyTables(), facts, next: (await facts.next()).value ?? null };
      this.#machines.set(name, machine);
    }
    while (machine.next !== null && machine.next.at < at) {
      machine.next.apply(machine.tables);
      machine.next = (await machine.facts.next()).value ?? null;
    }
    return machine.tables;
  }
}

async function* dayFacts(
  sql: Sql,
  key: { readonly event: string; readonly day: string },
): AsyncGenerator<Fact, undefined> {
  for await (const page of starsOfEventDay(sql, key)) {
    for (const { starId, wallet, at, weight, claims } of page) {
      const fact = { type: "starred", starId, wallet, at, weight, claims } as const;
      yield { at, apply: (tables) => evolveEventDay(key, tables, fact) };
    }
  }
}

async function* mintFacts(sql: Sql, event: string, upTo: number): AsyncGenerator<Fact, undefined> {
  for await (const page of readMintHistory(sql, event, { upTo })) {
    for (const happening of page) {
      const fact = mintFact(happening);
      yield { at: happening.at, apply: (tables) => evolveMint(event, tables, fact) };
    }
  }
}

/** The last place of a mint's history now: what this run writes comes behind it. */
async function endOfMint(sql: Sql, event: string): Promise<number> {
  const [row] = await runLong(sql<[{ seq: number }]>`
      select greatest((select max(seq) from mint_star where event_id = ${event}),
        (select max(seq) from claim_release where event_id = ${event}), 0) as seq`);
  return row.seq;
}
