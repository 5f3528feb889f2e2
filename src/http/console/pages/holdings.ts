import { badField } from "../../../errors.ts";
import { type ListedCheck, listChecks } from "../../../reads/console-holdings.ts";
import { duration, moment, signed } from "../amounts.ts";
import { actionForm } from "../forms.ts";
import { PER_PAGE, pageOf, wholeNumber } from "../links.ts";
import { badge, type Html, html, quiet, section, table } from "../markup.ts";
import type { Action, Page, PagesDeps } from "../page.ts";
import { checkWords } from "../words.ts";

/** What the daily checks did, and the way to one by hand. */
export function holdingsPage(deps: PagesDeps): Page {
  return {
    path: "/holdings",
    nav: ["Upkeep", "Holdings checks"],
    async show(request) {
      const before = wholeNumber(request.query, "before");
      const found = await listChecks(deps.sql, { before, limit: PER_PAGE + 1 });
      const { shown, more } = pageOf(found, ({ startedAt }) => `/ops/holdings?before=${startedAt}`);
      const dryRun = actionForm(
        request,
        { path: "/holdings/dry-run", kind: "row" },
        html`<button class="primary">Start a dry run</button><a class="button" href="/ops/holdings/now">The last dry run</a>`,
      );
      const runs = table({
        caption: "Runs of the check, newest first",
        rows: shown,
        columns: [
          ["Day", "whole", dayLink],
          ["State", "whole", checkBadge],
          ["Started", "whole", ({ startedAt }) => moment(startedAt, request.now)],
          ["Took", "number", took],
          ["Removed", "number", ({ removed }) => removed],
          ["Weight", "number", ({ weight }) => signed(-weight)],
          ["Kept", "number", ({ kept }) => kept],
          ["Left open", "number", ({ deferred }) => deferred],
        ],
        empty: "The check has not run yet; the day of the very first start counts as checked.",
      });
      const body = html`<p class="lead">Every day at 00:00 UTC forever mints lose the weight of NFTs that their wallets no longer hold. Nothing is removed on a doubt: such parts stay open and are tried again.</p>
${section(
  "Check now",
  html`<p>A dry run reads the ledger, judges as the check does and writes nothing down. It shows what would be removed; then you decide.</p>
${dryRun}`,
)}
${section("Runs", html`${runs}${more}`)}`;
      return { title: "Holdings checks", body };
    },
    actions: [dryRunning(deps), running(deps)],
  };
}

function dayLink({ id, day, kind }: ListedCheck): Html {
  return html`<a href="/ops/holdings/runs/${id}">${day}</a>${kind === "manual" ? html` ${quiet("by hand")}` : ""}`;
}

function took({ startedAt, finishedAt }: ListedCheck): string | null {
  return finishedAt === null ? null : duration(Math.max(0, finishedAt - startedAt));
}

/** How a run ended; the word says it. */
export function checkBadge({ state, deferred }: Pick<ListedCheck, "state" | "deferred">) {
  if (state === "done" && deferred === 0) return badge("good", checkWords(state));
  return badge(state === "incomplete" || deferred > 0 ? "warn" : "plain", checkWords(state));
}

function dryRunning({ checks }: PagesDeps): Action {
  return {
    path: "/holdings/dry-run",
    role: "operator",
    subject: () => "all forever mints",
    async run({ session }) {
      await checks.startDryRun(session.operator);
      return { notice: "The dry run has started; it writes nothing down.", goTo: "/holdings/now" };
    },
  };
}

const NOTICES = {
  done: "The check has run: see what it did.",
  started: "The check has started: it goes on in the background, and this page shows how it ends.",
  "under way": "A check was under way already, and no other was started: this is that one.",
} as const;

function running({ checks }: PagesDeps): Action {
  return {
    path: "/holdings/run",
    role: "operator",
    subject(form) {
      if (form.get("confirmed") !== "yes") {
        throw badField("confirmed", "A check is run from its own page, after a dry run");
      }
      return "all forever mints";
    },
    async run() {
      const { id, state } = await checks.startRun();
      return { notice: NOTICES[state], goTo: `/holdings/runs/${id}` };
    },
  };
}
