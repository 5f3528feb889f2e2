import type { KeptDryRun } from "../../../upkeep/holdings-check/by-hand.ts";
import type { DryReport } from "../../../upkeep/holdings-check/pass.ts";
import { actionForm } from "../forms.ts";
import { ago, type Html, html, number, section } from "../markup.ts";
import type { Page, PageRequest, PagesDeps } from "../page.ts";
import { mintTable, openSection, removedSection } from "./holdings-tables.ts";

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
