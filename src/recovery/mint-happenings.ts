import type { Day } from "../../actors/day.ts";
import { addRelease, type MintHappening } from "../audit/mint-order.ts";
import type { ExportRelease, ExportStar } from "../journal/export-format.ts";
import type { StagedStar } from "./staged-stars.ts";

/** The next thing that happened to a forever mint. */
export type NextOfMint =
  | { readonly line: ExportStar; readonly star: StagedStar; readonly xp: number }
  | { readonly releases: readonly ExportRelease[] };

/**
 * Stars and releases of forever mints that exports record and that are not written yet. Those around
 * midnight may be in the exports of two days in swapped order, so a day is whole only with the next.
 */
export class MintHappenings {
  #byMint = new Map<string, MintHappening[]>();
  readonly #stars = new Map<string, { readonly star: StagedStar; readonly xp: number }>();

  addStar(line: ExportStar, star: StagedStar, xp: number): void {
    this.#stars.set(line.id, { star, xp });
    const order = line.mintOrder ?? line.seq;
    this.#of(star.target).push({ order, day: star.day, star: line });
  }

  addRelease(release: ExportRelease, day: Day): void {
    addRelease(this.#of(release.mint), release, day);
  }

  /** Takes what exports record up to the last place before this day, in the order of commits. */
  takeBefore(day: Day): readonly NextOfMint[] {
    const all = [...this.#byMint].flatMap(([mint, happenings]) =>
      happenings.map((happening) => ({ mint, happening })),
    );
    const orders = all.filter(({ happening }) => happening.day < day);
    const last = Math.max(0, ...orders.map(({ happening }) => happening.order));
    this.#byMint = new Map();
    const due: MintHappening[] = [];
    for (const { mint, happening } of all) {
      if (happening.order > last) this.#of(mint).push(happening);
      else due.push(happening);
    }
    return due.sort((one, other) => one.order - other.order).map((each) => this.#next(each));
  }

  #next(happening: MintHappening): NextOfMint {
    if ("releases" in happening) return { releases: happening.releases };
    const line = happening.star;
    const kept = this.#stars.get(line.id) as { star: StagedStar; xp: number };
    this.#stars.delete(line.id);
    return { line, ...kept };
  }

  #of(mint: string): MintHappening[] {
    const happenings = this.#byMint.get(mint) ?? [];
    this.#byMint.set(mint, happenings);
    return happenings;
  }
}
