import { TerminalError } from "../../../errors.ts";
import { redriveStar } from "../../../publishing/outbox.ts";
import { type PublishingState, publishingState } from "../../../publishing/publishing-state.ts";
import { resolveFinding } from "../../../publishing/reconciliation-findings.ts";
import { waitingStars } from "../../../reads/console-publishing.ts";
import { readVerdict } from "../../../upkeep/service-verdict.ts";
import { UUID } from "../../../uuid.ts";
import { figureList, figuresOf } from "../figures.ts";
import { filledIn } from "../forms.ts";
import { judged, publishingHealth } from "../health.ts";
import { badge, html, instantText, number, section } from "../markup.ts";
import type { Numbers } from "../numbers.ts";
import type { Action, Page, PagesDeps } from "../page.ts";
import { PER_PAGE, pageOf, uuidOf } from "../paging.ts";
import { publicationWords } from "../words.ts";
import { alarmsTable, findingsTable, waitingTable } from "./publishing-tables.ts";

const FIGURES = ["pending", "lag"];

/** Whether publishing is healthy: what waits and why, what differs, what workers complain of. */
export function publishingPage(deps: PagesDeps): Page {
  return {
    path: "/publishing",
    nav: ["Upkeep", "Publishing"],
    async show(request) {
      // Read first: a reading under way when this throws would fail without a listener.
      const after = uuidOf(request.query, "after");
      const [state, verdict, numbers, found] = await Promise.all([
        publishingState(deps.sql),
        // Read again: what an operator has just set aside is gone.
        readVerdict(deps.sql),
        deps.readNumbers(request.now),
        waitingStars(deps.sql, { after, limit: PER_PAGE + 1 }),
      ]);
      const { mood, word } = publishingHealth(verdict);
      const { shown, more } = pageOf(
        found,
        ({ id }) => `/ops/publishing?after=${id}`,
        "Later ones",
      );
      const body = html`<p class="lead">${badge(mood, word)} Every accepted star becomes one message on its topic. Workers send them by themselves; what needs a person is shown here.</p>
<div class="figures">${figureList(figures(state, { ...numbers, verdict }))}</div>
${section("Alarms", alarmsTable(state.alarms, request.now))}
${section(
  "Waiting stars",
  html`${waitingTable(request, shown)}${more}`,
  shown.length === 0
    ? null
    : html`<span class="hint">oldest first; re-drive: try it now, with the transaction id it has</span>`,
)}
${section(
  "Findings",
  findingsTable(request, state.lastFindings, deps.explorer),
  state.lastFindings.length === 0
    ? null
    : html`<span class="hint">set aside: somebody has looked at it, it stays written down</span>`,
)}
<p><a class="button" href="/ops/queues">Look into the queues</a></p>`;
      return { title: "Publishing", body };
    },
    actions: [redriving(deps), resolving(deps)],
  };
}

function figures(state: PublishingState, numbers: Numbers) {
  const balance = judged(numbers.verdict, "balance", "low");
  return [
    ...figuresOf({ ...numbers, ...state }).filter(({ key }) => FIGURES.includes(key)),
    { label: "Open findings", value: number(state.findings), note: "where the topics differ" },
    { label: "Alarms", value: number(state.alarms.length), note: "that need a person" },
    { ...balance, label: "Operator account", value: balance.word },
  ];
}

function redriving({ sql, wake }: PagesDeps): Action {
  const starOf = (form: URLSearchParams): string =>
    filledIn(form, "star", { what: "The star's id", shape: UUID });
  return {
    path: "/publishing/redrive",
    role: "operator",
    subject: starOf,
    async run({ form }) {
      const star = starOf(form);
      const driven = await redriveStar({ sql, wake }, star);
      if (driven.kind === "unknown")
        throw new TerminalError("NOT_FOUND", `there is no star ${star}`);
      return { notice: `Star …${star.slice(-6)}: ${drivenWords(driven)}`, goTo: "/publishing" };
    },
  };
}

type Driven = Exclude<Awaited<ReturnType<typeof redriveStar>>, { kind: "unknown" }>;

function drivenWords(driven: Driven): string {
  if (driven.kind === "published") return "it is on the ledger already, nothing was done.";
  if (driven.kind === "in hand") {
    return `a worker has it in hand until ${instantText(driven.leaseUntil)}, and says when it is due again: nothing was changed.`;
  }
  return `its next try is now. It goes on where it stands (${publicationWords(driven.state)}), with the transaction id it has.`;
}

function resolving({ sql }: PagesDeps): Action {
  const findingOf = (form: URLSearchParams): string =>
    filledIn(form, "finding", { what: "The finding's number", shape: /^\d{1,15}$/ });
  return {
    path: "/publishing/resolve",
    role: "admin",
    subject: findingOf,
    async run({ form }) {
      const id = findingOf(form);
      if (!(await resolveFinding(sql, Number(id)))) {
        throw new TerminalError("NOT_FOUND", `there is no open finding ${id}`);
      }
      return { notice: `Finding ${id} is set aside; it stays written down.`, goTo: "/publishing" };
    },
  };
}
