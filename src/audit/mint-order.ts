import { DAY_MS, type Day, dayOf } from "../../actors/day.ts";
import type { LossDecision } from "../../actors/forever-mint.ts";
import type { EventTables } from "../../actors/whole.ts";
import type { ExportRelease, ExportStar } from "../journal/export-format.ts";
import { endsInWords, lossesOf, singleEnds } from "../journal/mint-end.ts";
import type { Reading } from "./counters.ts";
import { type EventAccounts, releaseFromMint } from "./event-accounts.ts";
import { countExportedStar, type ReadSoFar } from "./judge-star.ts";
import { heldBetween, heldOne, type Ownerships } from "./ownership.ts";
import { LAG_MS, LEAD_MS } from "./rebuild-weights.ts";
import { elsewhere, type Mismatch } from "./report.ts";

export type MintHappening = {
  readonly order: number;
  /** Of the export that holds it. */
  readonly day: Day;
} & ({ readonly star: ExportStar } | { readonly releases: ExportRelease[] });

/** Puts a release beside those that ended with it; an export has them by rising order. */
export function addRelease(happenings: MintHappening[], release: ExportRelease, day: Day): void {
  const { mint, mintOrder: order } = release;
  const last = happenings.findLast((each) => each.order <= order);
  const isWithLast =
    last !== undefined &&
    "releases" in last &&
    last.order === order &&
    last.releases[0]?.mint === mint;
  if (isWithLast) last.releases.push(release);
  else happenings.push({ order, day, releases: [release] });
}

/**
 * Splits what happened to mints, in the order of commits, after the last entry of a day or of one
 * before it. Stars and releases around midnight may stand in the exports of two days the other way
 * round, so a day is whole only when the next day is known too.
 */
export function splitAfter<Happening extends Pick<MintHappening, "order" | "day">>(
  happenings: readonly Happening[],
  day: Day,
): { readonly due: readonly Happening[]; readonly left: Happening[] } {
  const sorted = happenings.toSorted((one, other) => one.order - other.order);
  const end = sorted.findLastIndex((each) => each.day <= day) + 1;
  return { due: sorted.slice(0, end), left: sorted.slice(end) };
}

/** Counts what happened to a mint, in the order of its commits. @returns what does not follow */
export function foldMint(
  given: ReadSoFar & { readonly reading: Reading },
  happenings: readonly MintHappening[],
): readonly Mismatch[] {
  return happenings.flatMap((happening) =>
    "star" in happening
      ? countExportedStar(given, happening.star, given.reading)
      : foldReleases(given.accounts, happening.releases, given.reading),
  );
}

function foldReleases(
  accounts: EventAccounts,
  releases: readonly ExportRelease[],
  reading: Reading,
): readonly Mismatch[] {
  const [first] = releases;
  if (first === undefined) return [];
  const decision = releaseFromMint(
    accounts,
    { event: first.mint, at: Date.parse(first.releasedAt), losses: lossesOf(releases) },
    reading,
  );
  return judgeEnds(decision, first, releases);
}

/** Attributions that an export says ended together, against what the machine decides. */
export function judgeEnds(
  decision: LossDecision,
  first: ExportRelease,
  releases: readonly ExportRelease[],
): readonly Mismatch[] {
  const expected = endsInWords(decision.weight, decision.releases.flatMap(singleEnds));
  const weight = releases.reduce((sum, release) => sum + release.weight, 0);
  const found = endsInWords(weight, releases);
  return expected === found ? [] : [removal(first, { expected, found })];
}

/** The mirror node has answered about one NFT by then, with all retries, or the NFT is kept. */
const ANSWER_MS = 5_000;

/**
 * Finds what is wrong with a release: it is dated into another day; its evidence was not listed first, then
 * read, then acted on; the wallet held the NFT all the time in which it can have been looked at, or who is
 * named as its holder did not hold it then; or the spares to choose from are not those that the wallet held.
 *
 * @param ownerships null where they were read before the release
 * @param isExcluded whether the wallet's holdings may have been left unread
 */
export function judgeRelease(
  release: ExportRelease,
  { day, ownerships, isExcluded }: { day: Day; ownerships: Ownerships | null; isExcluded: boolean },
): readonly Mismatch[] {
  const { collection, serial, wallet, owner, heldB, listedAt, readAt, releasedAt } = release;
  const [began, read, at] = [Date.parse(listedAt), Date.parse(readAt), Date.parse(releasedAt)];
  const isInOrder = began <= read && read <= at + LEAD_MS;
  if (dayOf(at) !== day || !isInOrder || at - began > DAY_MS) {
    const found = `listed ${listedAt}, read ${readAt}, released ${releasedAt}`;
    return [removal(release, { expected: `evidence of ${day}, then the release`, found })];
  }
  if (ownerships === null || ownerships[collection].isPartial) return [];
  const wrong: Mismatch[] = [];
  const lookedAt = { from: read - LAG_MS, to: Math.min(at, read + ANSWER_MS) + LEAD_MS };
  if (heldOne(ownerships[collection], release, lookedAt).always) {
    const found = `${collection} ${serial} released`;
    wrong.push(removal(release, { expected: `${wallet} holds it`, found }));
  }
  // A deleted collection names its last holders on.
  const isNamed = owner !== null && !release.deleted;
  if (isNamed && !heldOne(ownerships[collection], { wallet: owner, serial }, lookedAt).ever) {
    const expected = `its holder of ${readAt}`;
    wrong.push(removal(release, { expected, found: `${collection} ${serial} of ${owner}` }));
  }
  if (collection === "B") {
    const span = { from: began - LAG_MS, to: at + LEAD_MS };
    const { always, ever } = heldBetween(ownerships.B, wallet, span);
    const listed = new Set(heldB);
    const could = new Set(ever);
    const isLeftOut = !isExcluded && always.some((each) => !listed.has(each));
    if (isLeftOut || heldB.some((each) => !could.has(each))) {
      const found = `spares from B [${heldB.join(" ")}]`;
      wrong.push(removal(release, { expected: `B [${always.join(" ")}]`, found }));
    }
  }
  return wrong;
}

/**
 * Attributions that the checks of a whole day left although the wallet held the NFT at no
 * instant of that day: "a daily check removes the weight of NFTs that the wallet no longer holds".
 *
 * @param span the day, epoch milliseconds
 */
export function overdueRemovals(
  mint: EventTables,
  { event, span, ownerships }: OverdueCheck,
): readonly Mismatch[] {
  const mismatches: Mismatch[] = [];
  for (const name of ["A", "B"] as const) {
    if (ownerships[name].isPartial) continue;
    const held = new Map<string, ReadonlySet<number>>();
    for (const [serial, { wallet }] of mint[name]) {
      const ever = held.get(wallet) ?? new Set(heldBetween(ownerships[name], wallet, span).ever);
      held.set(wallet, ever);
      if (ever.has(serial)) continue;
      const what = { mint: event, wallet };
      const found = `${name} ${serial} still counts for ${wallet}`;
      mismatches.push(removal(what, { expected: "removed, as it is not held", found }));
    }
  }
  return mismatches;
}

export interface OverdueCheck {
  readonly event: string;
  readonly span: { readonly from: number; readonly to: number };
  readonly ownerships: Ownerships;
}

function removal(
  { mint, wallet }: Pick<ExportRelease, "mint" | "wallet">,
  differing: Pick<Mismatch, "expected" | "found">,
): Mismatch {
  return elsewhere("removal", `event/${mint} ${wallet}`, differing);
}
