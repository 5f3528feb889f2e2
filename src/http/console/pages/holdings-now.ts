import type { HoldingsCheckByHand, KeptDryRun } from "../../../upkeep/holdings-check-by-hand.ts";
import type { DryMint, DryReport } from "../../../upkeep/holdings-check-dry-run.ts";
import { actionForm } from "../forms.ts";
import { actorLink } from "../links.ts";
import { ago, badge, type Html, html, number, section, table } from "../markup.ts";
import type { Page, PageRequest } from "../page.ts";

/** Of one that is running: the browser asks again by itself, also without JavaScript. */
const ASK_AGAIN_SECONDS = "3";

/** What a check would remove now, and the question whether to run it. */
export function holdingsNowPage({ checks }: { readonly checks: HoldingsCheckByHand }): Page {
  return {
    path: "/holdings/now",
    below: "/holdings",
    async show(request) {
      const run = await checks.lastDryRun();
      if (run?.state === "running") request.context.header("Refresh", ASK_AGAIN_SECONDS);
      return { title: "Check holdings now", body: body(request, run) };
    },
  };
}

function body(request: PageRequest, run: KeptDryRun | null): Html {
  const again = (word: string): Html =>
    actionForm(
      request,
      { path: "/holdings/dry-run", kind: "row" },
      html`<button class="${run === null ? "primary" : ""}">${word}</button>`,
    );
  if (run === null) {
    return section(
      "No dry run",
      html`<p>There is none of the last hour. Begin one to see what a check would remove.</p>${again("Begin a dry run")}`,
    );
  }
  const who = html`<p class="lead">Dry run by ${run.operator}, begun ${ago(run.begunAt, request.now)}. Nothing was written down.</p>`;
  if (run.state === "running") {
    return html`${who}${section("It is running", html`<p role="status">It reads both collections from the mirror node, 100 NFTs a request. This page looks again every few seconds.</p><p><a class="button" href="/ops/holdings/now">Look again</a></p>`)}`;
  }
  if (run.report === null) {
    return html`${who}${section("It broke off", html`<p>The database was out of reach, or the process was stopped. Nothing was written down.</p>${again("Begin another dry run")}`)}`;
  }
  return html`${who}${found(run.report)}
${section("Run the check?", question(request, run.report))}
${section("Not sure?", again("Make another dry run"))}`;
}

function sumOf(report: DryReport, of: "kept" | "removed" | "weight" | "open"): number {
  return report.mints.reduce((sum, mint) => sum + mint[of], 0);
}

function question(request: PageRequest, report: DryReport): Html {
  const [removed, weight] = [sumOf(report, "removed"), sumOf(report, "weight")];
  const what =
    removed === 0
      ? html`<p>By the dry run nothing would be removed. NFTs may have moved since: the check reads the ledger anew.</p>`
      : html`<p>It would remove <strong>${number(removed)}</strong> ${removed === 1 ? "attribution" : "attributions"} and lower totals by <strong>${number(weight)}</strong>. The check reads the ledger anew, so what it removes may differ by what has moved since. What is removed is written down with its evidence and does not come back by itself: only another star brings it.</p>`;
  return html`${what}${actionForm(
    request,
    { path: "/holdings/run", kind: "row" },
    html`<input type="hidden" name="confirmed" value="yes"><button class="primary danger">Run the check now</button><a class="button" href="/ops/holdings">Do not</a>`,
  )}`;
}

function found(report: DryReport): Html {
  const summary = table({
    caption: "What a check would do, by mint",
    columns: [
      { label: "Forever mint", isWhole: true },
      { label: "Would remove", isNumber: true },
      { label: "Weight", isNumber: true },
      { label: "Would keep", isNumber: true },
      { label: "In doubt", isNumber: true },
    ],
    rows: report.mints.map(({ id, removed, weight, kept, open }) => [
      actorLink(`forever-mint/${id}`, id),
      number(removed),
      weight === 0 ? "0" : `−${number(weight)}`,
      number(kept),
      number(open),
    ]),
    empty: "No NFT counts on any forever mint, so there is nothing to check.",
  });
  return html`${section("What it would do", summary)}${report.mints.map(details)}`;
}

function details(mint: DryMint): Html | string {
  const { id, removed, removals, open, doubts } = mint;
  if (removed + open === 0) return "";
  const parts = [
    removals.length === 0
      ? ""
      : table({
          caption: `Would be removed from ${id}`,
          columns: [
            { label: "NFT", isWhole: true },
            { label: "Counts for", isWhole: true },
            { label: "Is with", isWhole: true },
            { label: "Weight", isNumber: true },
            { label: "The +5 of collection B", isText: true },
          ],
          rows: removals.map(({ collection, serial, wallet, owner, deleted, weight, spare }) => [
            `${collection} ${number(serial)}`,
            html`<span class="code">${wallet}</span>`,
            deleted
              ? "deleted"
              : owner === null
                ? "nobody: burned"
                : html`<span class="code">${owner}</span>`,
            weight === 0 ? "0" : `−${number(weight)}`,
            spare === null
              ? collection === "B"
                ? "ends"
                : "–"
              : `goes on with B ${number(spare)}`,
          ]),
        }),
    doubts.length === 0
      ? ""
      : table({
          caption: `In doubt on ${id}`,
          columns: [
            { label: "Part", isWhole: true },
            { label: "Counts for", isWhole: true },
            { label: "Why it would stay open", isText: true },
          ],
          rows: doubts.map(({ collection, serial, wallet, reason }) => [
            serial === null ? `all of collection ${collection}` : `${collection} ${number(serial)}`,
            wallet ?? "–",
            html`${badge("warn", "doubt")} ${reason}`,
          ]),
        }),
    removed > removals.length || open > doubts.length
      ? html`<p class="hint">The first of each are listed: ${number(removed)} would be removed, ${number(open)} are in doubt.</p>`
      : "",
  ];
  return section(`In detail: ${id}`, html`${parts}`);
}
