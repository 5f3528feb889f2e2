import {
  decideLoss,
  decideMintStar,
  type EventTables,
  emptyTables,
  evolveMint,
} from "../../actors/whole.ts";
import type { Sql } from "../store/postgres.ts";
import { differenceOf } from "./counted-star.ts";
import { readLiveMint } from "./live-mint.ts";
import { endsInWords, lossesOf, singleEnds } from "./mint-end.ts";
import { type MintHappening, type MintRelease, mintFact, readMintHistory } from "./mint-history.ts";

const DIFFERENCES_MAX = 20;

/**
 * Folds a mint's recorded facts and, beside each, decides it again under its own rules; what was recorded
 * stands, also where the machine now says otherwise. Then compares the fold with the live claims and the
 * total, both as of one commit. Stars may go on meanwhile.
 *
 * @returns `rules`: versions that its stars were decided under; `differences`: a line for each; `upTo`: the
 *   last position of the history that all is as of
 */
export async function compareMint(sql: Sql, mint: string) {
  const { upTo, live } = await readLiveMint(sql, mint);
  const tables = emptyTables();
  const rules = new Set<number>();
  const differences: string[] = [];
  for await (const page of readMintHistory(sql, mint, { upTo })) {
    for (const happening of page) {
      if (happening.kind === "star") rules.add(happening.rules);
      const difference =
        happening.kind === "star"
          ? differenceOf(happening, (star) => decideMintStar(mint, tables, star))
          : judgeRelease(mint, tables, happening);
      if (difference !== null && differences.length < DIFFERENCES_MAX) differences.push(difference);
      evolveMint(mint, tables, mintFact(happening));
    }
  }
  differences.push(...differencesOf(tables, live));
  return { tables, rules, upTo, differences: differences.slice(0, DIFFERENCES_MAX) };
}

/** Takes recorded facts into a mint, in the order of commits. */
export async function foldMint(
  mint: string,
  tables: EventTables,
  pages: AsyncIterable<readonly MintHappening[]>,
): Promise<void> {
  for await (const page of pages) {
    for (const happening of page) evolveMint(mint, tables, mintFact(happening));
  }
}

function judgeRelease(mint: string, tables: EventTables, release: MintRelease): string | null {
  const { seq, ended } = release;
  const lost = { type: "lost", losses: lossesOf(ended) } as const;
  const { weight, releases } = decideLoss(mint, tables, lost);
  const ofOtherStars = ended.filter(
    ({ collection, serial, starId }) => tables[collection].get(serial)?.starId !== starId,
  );
  const sum = ended.reduce((total, end) => total + end.weight, 0);
  const now = endsInWords(weight, releases.flatMap(singleEnds));
  const then = endsInWords(sum, ended);
  if (now !== then) return `release ${seq}: recorded ${then}, decided ${now}`;
  return ofOtherStars.length === 0 ? null : `release ${seq} ends what other stars brought`;
}

function differencesOf(folded: EventTables, live: EventTables): readonly string[] {
  const lines: string[] = [];
  for (const of of ["weight", "stars"] as const) {
    if (folded[of] !== live[of]) lines.push(`${of}: ${folded[of]} folded, ${live[of]} live`);
  }
  for (const of of ["A", "B", "wallets"] as const) {
    const [one, other] = [wordsOf(folded, of), wordsOf(live, of)];
    for (const key of new Set([...one.keys(), ...other.keys()])) {
      if (lines.length >= DIFFERENCES_MAX) return lines;
      const [here, there] = [one.get(key) ?? "none", other.get(key) ?? "none"];
      if (here !== there) lines.push(`${of}/${key}: ${here} folded, ${there} live`);
    }
  }
  return lines;
}

function wordsOf(tables: EventTables, of: "A" | "B" | "wallets"): Map<string, string> {
  if (of === "wallets") {
    return new Map(
      [...tables.wallets].map(([key, { value, context }]) => [key, `${value} ${context.votedOn}`]),
    );
  }
  return new Map(
    [...tables[of]].map(([serial, { wallet, starId }]) => [`${serial}`, `${wallet} by ${starId}`]),
  );
}
