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
import { type CountedStar, starredFact } from "../journal/counted-star.ts";
import { starsOfEventDay } from "../journal/event-history.ts";
import type { ExportRelease } from "../journal/export-format.ts";
import { lossesOf } from "../journal/mint-end.ts";
import {
  endOfMint,
  type MintHappening,
  mintFact,
  readMintHistory,
} from "../journal/mint-history.ts";
import { runLong, type Sql } from "../store/postgres.ts";

/** What the journal has of an event, in its order: each is taken in when its time has come. */
type Recorded = CountedStar | MintHappening;

interface Machine {
  readonly tables: EventTables;
  readonly recorded: AsyncIterator<Recorded, undefined>;
  next: Recorded | undefined;
}

/**
 * The events' actors while stars come back: what the journal has of them, up to the instant of the
 * star that is looked at, and what came back before it. So a star is decided as it was: what was
 * accepted after it plays no part.
 */
export class EventMachines {
  readonly #sql: Sql;
  readonly #mints = new Map<string, Machine>();
  readonly #days = new Map<string, Machine>();

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
    return [...this.#mints].map(([event, { tables }]) => [event, tables]);
  }

  /** Forgets the events' days; mints go on. */
  closeDay(): void {
    this.#days.clear();
  }

  async #tablesAt(where: Pick<EventTurn, "event" | "isForeverMint" | "at">): Promise<EventTables> {
    const { event, isForeverMint, at } = where;
    const machines = isForeverMint ? this.#mints : this.#days;
    let machine = machines.get(event);
    if (machine === undefined) {
      const recorded = recordedOf(this.#sql, where);
      machine = { tables: emptyTables(), recorded, next: (await recorded.next()).value };
      machines.set(event, machine);
    }
    const { tables, recorded } = machine;
    while (machine.next !== undefined && machine.next.at < at) {
      if ("kind" in machine.next) evolveMint(event, tables, mintFact(machine.next));
      else evolveEventDay({ event, day: dayOf(at) }, tables, starredFact(machine.next));
      machine.next = (await recorded.next()).value;
    }
    return tables;
  }
}

async function* recordedOf(
  sql: Sql,
  { event, isForeverMint, at }: Pick<EventTurn, "event" | "isForeverMint" | "at">,
): AsyncGenerator<Recorded, undefined> {
  if (!isForeverMint) {
    for await (const page of starsOfEventDay(sql, { event, day: dayOf(at) })) yield* page;
    return;
  }
  // Up to the last place now: what this run writes comes behind it.
  const [end] = await runLong(sql<[{ seq: number }]>`select ${endOfMint(sql, event)} as seq`);
  for await (const page of readMintHistory(sql, event, { upTo: end.seq })) yield* page;
}
