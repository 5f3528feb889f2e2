import { TerminalError } from "../../../errors.ts";
import {
  findCheck,
  type ListedCheck,
  mintsOfCheck,
  releasesOfCheck,
} from "../../../reads/console-holdings.ts";
import { LISTED_MAX } from "../../../upkeep/holdings-check/pass.ts";
import { UUID } from "../../../uuid.ts";
import { ago, facts, type Html, html, instant, number, quiet, section } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { checkBadge } from "./holdings.ts";
import { mintTable, openSection, removedSection } from "./holdings-tables.ts";

/** One run of the check: what it removed on which evidence, and what it left open. */
export function holdingsRunPage({ sql, explorer }: PagesDeps): Page {
  return {
    path: "/holdings/runs/*",
    below: "/holdings",
    async show({ rest, now }) {
      const check = UUID.test(rest) ? await findCheck(sql, rest) : null;
      if (check === null) throw new TerminalError("NOT_FOUND", "There is no run with this id.");
      const [mints, releases] = await Promise.all([
        mintsOfCheck(sql, check.id),
        releasesOfCheck(sql, check.id, LISTED_MAX),
      ]);
      return {
        title: `Holdings check of ${check.day}`,
        body: html`${summary(check, now)}
${section("By forever mint", mintTable(mints, "No forever mint was looked at."))}
${removedSection(releases, { title: "Removed", total: check.removed, explorer })}${openSection(mints)}`,
      };
    },
  };
}

const TITLES: Readonly<Record<ListedCheck["kind"], string>> = {
  scheduled: "Daily run",
  manual: "Run by hand",
  star: "By a buyer's star, before the daily run",
};

function summary(check: ListedCheck, now: number): Html {
  const { kind, startedAt, finishedAt, passes, nextTryAt, state } = check;
  return section(
    TITLES[kind],
    facts([
      ["State", checkBadge(check)],
      ["Started", instant(startedAt)],
      ["Ended", finishedAt === null ? "not yet" : instant(finishedAt)],
      ["Rounds", html`${number(passes)} ${quiet("each tries again what was left open")}`],
      ["Goes on", state === "running" && nextTryAt > now ? ago(nextTryAt, now) : null],
      ["NFTs that stopped counting", number(check.removed)],
      ["NFTs found held", number(check.kept)],
      ["Parts left open", number(check.deferred)],
    ]),
  );
}
