import { TerminalError } from "../../../errors.ts";
import {
  type CheckedMintRow,
  findCheck,
  type ListedCheck,
  mintsOfCheck,
  type ReleasedNft,
  releasesOfCheck,
} from "../../../reads/console-holdings.ts";
import type { KeptDryRun } from "../../../upkeep/holdings-check/by-hand.ts";
import { type DryReport, LISTED_MAX } from "../../../upkeep/holdings-check/pass.ts";
import { UUID } from "../../../uuid.ts";
import { ago, instant, number, signed } from "../amounts.ts";
import { actionForm } from "../forms.ts";
import { actorLink, onExplorer, starLink } from "../links.ts";
import {
  andMore,
  badge,
  type Content,
  facts,
  type Html,
  html,
  quiet,
  section,
  table,
} from "../markup.ts";
import type { Page, PageRequest, PagesDeps } from "../page.ts";
import { checkBadge } from "./holdings.ts";

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

/** While a dry run goes on the browser asks again by itself, also without JavaScript. */
const ASK_AGAIN_SECONDS = "3";

/** What a check would remove now, and the question whether to run it. */
export function holdingsNowPage({ checks, explorer }: PagesDeps): Page {
  return {
    path: "/holdings/now",
    below: "/holdings",
    async show(request) {
      const run = await checks.lastDryRun();
      if (run?.state === "running") request.context.header("Refresh", ASK_AGAIN_SECONDS);
      return { title: "Check holdings now", body: body(request, run, explorer) };
    },
  };
}

function body(request: PageRequest, run: KeptDryRun | null, explorer: string | null): Html {
  const again = (word: string): Html =>
    actionForm(
      request,
      { path: "/holdings/dry-run", kind: "row" },
      html`<button class="${run === null ? "primary" : ""}">${word}</button>`,
    );
  if (run === null) {
    return section(
      "No dry run",
      html`<p>There was none in the last hour. Start one to see what a check would remove.</p>${again("Start a dry run")}`,
    );
  }
  const who = html`<p class="lead">Dry run by ${run.operator}, started ${ago(run.startedAt, request.now)}. Nothing was written down.</p>`;
  if (run.state === "running") {
    return html`${who}${section("It is running", html`<p role="status">It reads both collections from the mirror node, 100 NFTs a request. This page looks again every few seconds.</p><p><a class="button" href="/ops/holdings/now">Refresh</a></p>`)}`;
  }
  if (run.report === null) {
    return html`${who}${section("It broke off", html`<p>The database was out of reach, or the process was stopped. Nothing was written down.</p>${again("Start another dry run")}`)}`;
  }
  const { mints, releases } = run.report;
  const total = sumOf(run.report, "removed");
  const nothing = "No NFT counts on any forever mint, so there is nothing to check.";
  return html`${who}${section("What it would do", mintTable(mints, nothing))}
${removedSection(releases, { title: "Would be removed", total, explorer })}${openSection(mints)}
${section("Run the check?", question(request, run.report))}
${section("Not sure?", again("Make another dry run"))}`;
}

function sumOf({ mints }: DryReport, of: "removed" | "weight"): number {
  return mints.reduce((sum, mint) => sum + mint[of], 0);
}

function question(request: PageRequest, report: DryReport): Html {
  const [removed, weight] = [sumOf(report, "removed"), sumOf(report, "weight")];
  const what =
    removed === 0
      ? html`<p>By the dry run nothing would be removed. NFTs may have moved since: the check reads the ledger again.</p>`
      : html`<p>It would remove <strong>${number(removed)}</strong> ${removed === 1 ? "attribution" : "attributions"} and lower totals by <strong>${number(weight)}</strong>. The check reads the ledger again, so what it removes may differ by what has moved since. What is removed is written down with its evidence and does not come back by itself: only another star brings it.</p>`;
  return html`${what}${actionForm(
    request,
    { path: "/holdings/run", kind: "row" },
    html`<input type="hidden" name="confirmed" value="yes"><button class="primary danger">Run the check now</button><a class="button" href="/ops/holdings">Do not</a>`,
  )}`;
}

export function mintTable(mints: readonly CheckedMintRow[], empty: string): Html {
  return table({
    caption: "Forever mints, in numbers",
    rows: mints,
    columns: [
      ["Forever mint", "whole", ({ event }) => actorLink(`forever-mint/${event}`, event)],
      ["Removed", "number", ({ removed }) => removed],
      ["Weight", "number", ({ weight }) => signed(-weight)],
      ["Kept", "number", ({ kept }) => kept],
      ["Left open", "number", ({ open }) => open],
    ],
    empty,
  });
}

/**
 * The first NFTs that stopped counting, with the evidence.
 *
 * @param given.total how many there are, listed or not
 */
export function removedSection(
  releases: readonly ReleasedNft[],
  given: { readonly title: string; readonly total: number; readonly explorer: string | null },
): Content {
  if (releases.length === 0) return null;
  const list = table({
    caption: "NFTs that stopped counting, with the evidence",
    rows: releases,
    columns: [
      ["Mint", "whole", ({ event }) => event],
      ["NFT", "whole title", ({ collection, serial }) => `${collection} ${number(serial)}`],
      [
        "Counted for",
        "whole",
        ({ wallet }) => onExplorer(given.explorer, `account/${wallet}`, wallet),
      ],
      ["By star", "whole", ({ starId }) => starLink(starId)],
      ["Weight", "number", ({ weight }) => signed(-weight)],
      ["The ledger said", "text", evidence],
      ["Seen", "whole", seen],
    ],
  });
  return section(
    given.title,
    html`${list}${andMore(given.total - releases.length)}`,
    html`<span class="hint">each seen twice: in the whole collection's list, and by itself</span>`,
  );
}

function evidence({ owner, deleted, spare }: ReleasedNft): string {
  const where = deleted
    ? "The NFT is deleted"
    : owner === null
      ? "It has no owner: burned or wiped"
      : `It is with ${owner}`;
  return spare === null ? where : `${where}; the +5 goes on with B ${number(spare)}`;
}

function seen({ listedAt, readAt }: ReleasedNft): Html {
  return html`<span title="in the list of the whole collection ${new Date(listedAt).toISOString()}">${instant(readAt)}</span>`;
}

/** The first parts that were left open, and why. */
export function openSection(mints: readonly CheckedMintRow[]): Content {
  const rows = mints
    .flatMap(({ event, deferred }) => deferred.map((part) => ({ event, ...part })))
    .slice(0, LISTED_MAX);
  if (rows.length === 0) return null;
  const list = table({
    caption: "Parts left open, and why",
    rows,
    columns: [
      ["Mint", "whole", ({ event }) => event],
      [
        "Part",
        "whole",
        ({ collection, serial }) =>
          serial === null ? `all of collection ${collection}` : `${collection} ${number(serial)}`,
      ],
      [
        "Counts for",
        "whole",
        ({ starId, wallet }) => starId && html`${wallet ?? ""} ${starLink(starId)}`,
      ],
      ["Why", "text", ({ reason }) => html`${badge("warn", "doubt")} ${reason}`],
    ],
  });
  const total = mints.reduce((sum, { open }) => sum + open, 0);
  return section(
    "Left open",
    html`${list}${andMore(total - rows.length)}`,
    html`<span class="hint">nothing is removed there</span>`,
  );
}
