import { TerminalError } from "../../../errors.ts";
import type { RaisedAlarm } from "../../../publishing/alarms.ts";
import { redriveStar } from "../../../publishing/outbox.ts";
import { type PublishingState, publishingState } from "../../../publishing/publishing-state.ts";
import { type Finding, resolveFinding } from "../../../publishing/reconciliation-findings.ts";
import { type WaitingStar, waitingStars } from "../../../reads/console-publishing.ts";
import { readVerdict } from "../../../upkeep/service-verdict.ts";
import { UUID } from "../../../uuid.ts";
import { ago, instantText, number } from "../amounts.ts";
import { actionButton, filledIn } from "../forms.ts";
import { figureList, figuresOf, judged, publishingHealth } from "../health.ts";
import { onExplorer, PER_PAGE, pageOf, starLink, uuidOf } from "../links.ts";
import { badge, type Content, code, type Html, html, quiet, section, table } from "../markup.ts";
import type { Numbers } from "../numbers.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";
import { alarmWords, findingWords, publicationWords, troubleWords, upperFirst } from "../words.ts";

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

/** Publishing takes seconds: below this a star only waits its turn. */
const STUCK_AFTER_MS = 60_000;

export function alarmsTable(alarms: readonly RaisedAlarm[], now: number): Html {
  return table({
    caption: "Alarms of the workers",
    rows: alarms,
    columns: [
      [
        "What is wrong",
        "text",
        ({ reason }) => html`${badge("bad", "alarm")} ${alarmWords(reason)}`,
      ],
      ["Where", "whole", ({ subject }) => (subject === "" ? null : code(subject))],
      ["In detail", "text", ({ detail }) => troubleWords(detail)],
      ["Since", "whole", ({ raisedAt }) => ago(raisedAt, now)],
    ],
    empty: "None: no worker needs a person.",
  });
}

export function waitingTable(request: PageRequest, stars: readonly WaitingStar[]): Html {
  const { now } = request;
  return table({
    caption: "Stars not yet on the ledger, oldest first",
    rows: stars,
    columns: [
      ["Star", "whole", ({ id, topic }) => html`${starLink(id)} ${quiet(topic)}`],
      ["Accepted", "whole", ({ acceptedAt }) => accepted(acceptedAt, now)],
      ["How far", "whole", ({ state }) => publicationWords(state)],
      ["Why it waits", "text", (star) => reason(star, now)],
      ["Tries", "number", ({ tries }) => tries],
      [
        "Re-drive",
        "action",
        ({ id }) =>
          actionButton(request, {
            path: "/publishing/redrive",
            word: "Re-drive",
            label: `Re-drive star ${id.slice(-6)}`,
            fields: { star: id },
          }),
      ],
    ],
    empty: "Nothing waits: every star is on the ledger.",
  });
}

function accepted(at: number, now: number): Html {
  const late = now - at > STUCK_AFTER_MS ? html` ${badge("warn", "late")}` : "";
  return html`${ago(at, now)}${late}`;
}

/** Why it is not on the ledger yet, and what happens next. */
function reason(star: WaitingStar, now: number): Content {
  const { lastError, inHandUntil, nextTryAt, sends, receiptStatus } = star;
  const said =
    lastError === null
      ? sends === 0
        ? "Waits for its turn"
        : `Sent ${sends === 1 ? "once" : `${number(sends)} times`}${receiptStatus === null ? ", no receipt yet" : `, receipt ${receiptStatus}; not read back from the mirror node yet`}`
      : upperFirst(troubleWords(lastError));
  if (inHandUntil !== null) return `${said}; a worker has it in hand`;
  if (nextTryAt > now) return html`${said}; next try ${ago(nextTryAt, now)}`;
  return `${said}; due now`;
}

/** @param explorer base of the explorer's pages; null where there is none */
export function findingsTable(
  request: PageRequest,
  findings: readonly Finding[],
  explorer: string | null,
): Html {
  return table({
    caption: "Where the topics differ from what was accepted here, open ones first",
    rows: findings,
    columns: [
      ["What differs", "text title", difference],
      ["Place", "whole", (finding) => placeOf(finding, explorer)],
      ["Star", "whole", ({ starId }) => starId && starLink(starId)],
      ["In detail", "text", ({ detail }) => troubleWords(detail)],
      ["Noticed", "whole", (finding) => noticed(finding, request.now)],
      ["Set aside", "action", (finding) => setAside(request, finding)],
    ],
    empty: "None: the topics hold what was accepted here, message by message.",
  });
}

function difference({ id, kind, resolvedAt }: Finding): Html {
  const state = resolvedAt === null ? badge("bad", "open") : badge("plain", "over");
  return html`${state} ${findingWords(kind)} ${quiet(`#${id}`)}`;
}

function placeOf({ topicId: topic, sequenceNumber }: Finding, explorer: string | null): Content {
  const place = `${topic} #${sequenceNumber ?? "?"}`;
  return topic && onExplorer(explorer, `topic/${topic}`, place);
}

function noticed({ noticedAt, resolvedAt }: Finding, now: number): Html {
  const end = resolvedAt === null ? "" : html`<br>${quiet(html`over ${ago(resolvedAt, now)}`)}`;
  return html`${ago(noticedAt, now)}${end}`;
}

function setAside(request: PageRequest, { id, kind, resolvedAt }: Finding): Content {
  if (resolvedAt !== null || kind === "lost") return "";
  return actionButton(request, {
    path: "/publishing/resolve",
    word: "Set aside",
    label: `Set aside finding ${id}`,
    fields: { finding: String(id) },
  });
}
