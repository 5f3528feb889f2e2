import { type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { hasMoved } from "../audit/events-without-export.ts";
import { readHeader } from "../audit/export-source.ts";
import { judgeDecision, turnOf } from "../audit/judge-star.ts";
import { addRelease, judgeRelease, type MintHappening, splitAfter } from "../audit/mint-order.ts";
import type { Ownerships } from "../audit/ownership.ts";
import { type ExportChain, readExport } from "../audit/read-export.ts";
import type { ExportHeader, ExportRelease, ExportStar } from "../journal/export-format.ts";
import { runLong } from "../store/postgres.ts";
import { EventMachines } from "./event-machines.ts";
import { decideFromHistories, isWithoutDoubt, judgeLine } from "./prove-stars.ts";
import type { Notes, Recovered, Recovery } from "./recovery.ts";
import { findStars, rowOfLine, type StagedStar, stagedDays } from "./staged-stars.ts";
import { type PieceWriter, pieceWriter } from "./write-pieces.ts";

interface WalkParts {
  readonly ownerships: Ownerships;
  readonly notes: Notes;
  readonly writer: PieceWriter;
}

/**
 * Goes through the days of which stars were taken in, or exports are given, oldest first. What an
 * export tells of a star comes first, where its message and the NFTs' histories agree; the rest
 * is decided from histories, by the instants of the stars.
 *
 * @param writes false: only says what would come back, and what cannot be proved
 */
export async function recoverDays(
  recovery: Recovery,
  given: Omit<WalkParts, "writer"> & { readonly writes: boolean },
): Promise<Pick<Recovered, "recovered" | "conflicts">> {
  const { sql, onProgress } = recovery;
  const staged = new Map((await stagedDays(sql)).map(({ day, stars }) => [day, stars]));
  const total = [...staged.values()].reduce((sum, stars) => sum + stars, 0);
  const what = given.writes ? "stars" : "stars looked at";
  const writer = pieceWriter(recovery, given.writes, (stars) => onProgress(what, stars, total));
  const walk = new Walk(recovery, { ...given, writer });
  const exported = new Set(await openDays(recovery, [...staged.keys()][0]));
  for (const day of [...new Set([...staged.keys(), ...exported])].sort()) {
    await walk.day(day, { staged: staged.get(day) ?? 0, hasExport: exported.has(day) });
  }
  await walk.end();
  return writer.counts;
}

/** Exported days that may lack stars or releases. @param first the first day that lacks a star */
async function openDays(
  { sql, exports }: Recovery,
  first: Day | undefined,
): Promise<readonly Day[]> {
  const final = await runLong(sql<{ day: Day }[]>`select day from export_day`);
  const known = new Set(final.map(({ day }) => day));
  const isOpen = (day: Day): boolean => !known.has(day) || (first !== undefined && day >= first);
  return exports?.days.filter(isOpen) ?? [];
}

/** The next thing that happened to a forever mint; a star with its staged message. */
type NextOfMint = MintHappening &
  ({ readonly staged: StagedStar; readonly xp: number } | { readonly releases: ExportRelease[] });

class Walk {
  readonly #recovery: Recovery;
  readonly #parts: WalkParts;
  readonly #machines: EventMachines;
  /** What exports record of forever mints and is not written yet. */
  #mints: NextOfMint[] = [];
  /** Mints of which a star was decided without an export. */
  readonly #undated = new Set<string>();
  /** Of the day before, where its export is final. */
  #chain: ExportChain | undefined;
  /** Whether a star of this day or an earlier one is missing: histories go back to the first. */
  #hasLost = false;

  constructor(recovery: Recovery, parts: WalkParts) {
    this.#recovery = recovery;
    this.#parts = parts;
    this.#machines = new EventMachines(recovery.sql);
  }

  async day(day: Day, given: { staged: number; hasExport: boolean }): Promise<void> {
    this.#hasLost ||= given.staged > 0;
    const done = given.hasExport ? await this.#readDay(day) : new Set<string>();
    if (done.size < given.staged) {
      // Those that draw their numbers have pieces of their own: within one, they would not stand in order
      // with those of which an export tells them.
      await this.#takeMints("9999-12-31");
      await this.#parts.writer.flush();
      await decideFromHistories(this.#recovery, {
        ...this.#parts,
        day,
        done,
        machines: this.#machines,
        undated: this.#undated,
      });
      await this.#parts.writer.flush();
    }
    this.#machines.closeDay();
  }

  async end(): Promise<void> {
    await this.#takeMints("9999-12-31");
    await this.#parts.writer.flush();
    for (const [event, tables] of this.#machines.mints()) {
      if (!this.#undated.has(event) || !hasMoved(tables, this.#parts.ownerships)) continue;
      this.#parts.notes.doubt(
        `event/${event}: an NFT that counts has left its wallet; only an export says when its weight went`,
      );
    }
  }

  /** @returns the stars of the day that its export brought back */
  async #readDay(day: Day): Promise<Set<string>> {
    const { exports } = this.#recovery;
    const { notes } = this.#parts;
    const done = new Set<string>();
    let header: ExportHeader | undefined;
    let lines: ExportStar[] = [];
    const take = async (): Promise<void> => {
      const piece = lines;
      lines = [];
      if (header !== undefined) await this.#takeLines(piece, { header, excludedBefore, done });
    };
    if (exports === null) return done;
    const dayBefore = dayOf(startOfDay(day) - 1);
    const excludedBefore = exports.days.includes(dayBefore)
      ? (await readHeader(exports.source, dayBefore).catch(() => undefined))?.excludedWallets
      : undefined;
    const chain = this.#chain?.day === dayBefore ? this.#chain : undefined;
    for await (const part of readExport(exports.source, day, chain)) {
      // Another day's file under this name tells nothing of this one.
      if (part.kind === "header" && part.day === day) header = part;
      else if (part.kind === "star") {
        lines.push(part);
        if (lines.length >= this.#recovery.piece) await take();
      } else if (part.kind === "release" && header !== undefined) {
        const { ownerships } = this.#parts;
        const isExcluded = header.excludedWallets.includes(part.wallet);
        const found = this.#hasLost ? judgeRelease(part, { day, ownerships, isExcluded }) : [];
        if (isWithoutDoubt(`mint ${part.mint}`, found, notes)) addRelease(this.#mints, part, day);
      } else if (part.kind === "export") {
        notes.doubt(`export of ${day}: expected ${part.expected}, found ${part.found}`);
      } else if (part.kind === "changing") {
        notes.doubt(`export of ${day}: it ${part.why}`);
      } else if (part.kind === "chain") this.#chain = part.hash === null ? undefined : part;
    }
    await take();
    // Stars and releases of the day before are complete by now.
    await this.#takeMints(dayBefore);
    return done;
  }

  async #takeLines(
    lines: readonly ExportStar[],
    given: {
      readonly header: ExportHeader;
      /** By the export of the day before; undefined: not known. */
      readonly excludedBefore: readonly string[] | undefined;
      readonly done: Set<string>;
    },
  ): Promise<void> {
    const { notes, writer } = this.#parts;
    const { header, excludedBefore, done } = given;
    const { day } = header;
    const { staged, known } = await findStars(
      this.#recovery.sql,
      lines.map(({ id }) => id),
    );
    for (const line of lines) {
      if (done.has(line.id)) continue;
      const star = staged.get(line.id);
      if (star === undefined || star.message !== line.message) {
        if (!known.has(line.id))
          notes.ignore(`export of ${day}: star ${line.id} has no such message`);
        continue;
      }
      if (!judgeLine(line, header, { ...this.#parts, excludedBefore })) continue;
      done.add(line.id);
      if (star.conflictsWith === null && star.isForeverMint) {
        const order = line.mintOrder ?? line.seq;
        this.#mints.push({ order, day, star: line, staged: star, xp: header.xpPerStar });
        continue;
      }
      if (star.conflictsWith === null && star.type === "event") await this.#count(line);
      await writer.star(rowOfLine(line, star, header.xpPerStar));
    }
  }

  /** Takes a star of an export into its event, and says where the machine decides otherwise. */
  async #count(line: ExportStar): Promise<void> {
    const decision = await this.#machines.count(turnOf(line));
    isWithoutDoubt(`star ${line.id}`, judgeDecision(line, decision), this.#parts.notes);
  }

  /** Writes what exports record of mints up to the last place of a day, in the order of commits. */
  async #takeMints(through: Day): Promise<void> {
    const { notes, writer } = this.#parts;
    const { due, left } = splitAfter(this.#mints, through);
    this.#mints = left;
    for (const next of due) {
      if ("releases" in next) {
        const { releases } = next;
        const [first] = releases;
        if (first === undefined || (await writer.isKnown(first))) continue;
        if (!(await this.#haveStars(releases))) {
          notes.ignore(
            `mint ${first.mint}: a release of ${first.releasedAt} is of no star known here`,
          );
          continue;
        }
        const found = await this.#machines.release(first, releases);
        if (isWithoutDoubt(`mint ${first.mint}`, found, notes)) await writer.release(releases);
        continue;
      }
      await this.#count(next.star);
      await writer.star(rowOfLine(next.star, next.staged, next.xp));
    }
  }

  /** Whether the stars that brought what ends are there; those of other topics may come by another run. */
  async #haveStars(releases: readonly ExportRelease[]): Promise<boolean> {
    const ids = releases.map(({ starId }) => starId);
    const { staged, known } = await findStars(this.#recovery.sql, ids);
    return ids.every((id) => staged.has(id) || known.has(id));
  }
}
