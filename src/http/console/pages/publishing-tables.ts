import type { RaisedAlarm } from "../../../publishing/alarms.ts";
import type { Finding } from "../../../publishing/reconciliation-findings.ts";
import type { WaitingStar } from "../../../reads/console-publishing.ts";
import { actionButton } from "../forms.ts";
import { onExplorer, starLink } from "../links.ts";
import { ago, badge, type Content, type Html, html, number, table } from "../markup.ts";
import type { PageRequest } from "../page.ts";
import { alarmWords, findingWords, troubleWords } from "../publishing-words.ts";
import { publicationWords, upperFirst } from "../words.ts";

/** Publishing takes seconds: below this a star only waits its turn. */
const STUCK_AFTER_MS = 60_000;

export function alarmsTable(alarms: readonly RaisedAlarm[], now: number): Html {
  return table({
    caption: "Alarms of the workers",
    columns: [
      { label: "What is wrong", isText: true },
      { label: "Where", isWhole: true },
      { label: "In detail", isText: true },
      { label: "Since", isWhole: true },
    ],
    rows: alarms.map(({ reason, subject, detail, raisedAt }) => [
      html`${badge("bad", "alarm")} ${alarmWords(reason)}`,
      subject === "" ? "–" : html`<span class="code">${subject}</span>`,
      troubleWords(detail),
      ago(raisedAt, now),
    ]),
    empty: "None: no worker needs a person.",
  });
}

export function waitingTable(request: PageRequest, stars: readonly WaitingStar[]): Html {
  return table({
    caption: "Stars not yet on the ledger, oldest first",
    columns: [
      { label: "Star", isWhole: true },
      { label: "Accepted", isWhole: true },
      { label: "How far", isWhole: true },
      { label: "Why it waits", isText: true },
      { label: "Tries", isNumber: true },
      { label: "", isAction: true },
    ],
    rows: stars.map((star) => waitingRow(request, star)),
    empty: "Nothing waits: every star is on the ledger.",
  });
}

function waitingRow(request: PageRequest, star: WaitingStar): Content[] {
  const { id, acceptedAt, state, topic, tries } = star;
  const { now } = request;
  const isStuck = now - acceptedAt > STUCK_AFTER_MS;
  return [
    html`${starLink(id)} <span class="quiet">${topic}</span>`,
    html`${ago(acceptedAt, now)}${isStuck ? html` ${badge("warn", "late")}` : ""}`,
    publicationWords(state),
    reason(star, now),
    number(tries),
    actionButton(request, {
      path: "/publishing/redrive",
      word: "Re-drive",
      label: `Re-drive star ${id.slice(-6)}`,
      fields: { star: id },
    }),
  ];
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

export function findingsTable(
  request: PageRequest,
  {
    findings,
    explorer,
  }: { readonly findings: readonly Finding[]; readonly explorer: string | null },
): Html {
  return table({
    caption: "Where the topics differ from what was accepted here, open ones first",
    columns: [
      { label: "What differs", isText: true, isTitle: true },
      { label: "Place", isWhole: true },
      { label: "Star", isWhole: true },
      { label: "In detail", isText: true },
      { label: "Noticed", isWhole: true },
      { label: "", isAction: true },
    ],
    rows: findings.map((finding) => findingRow(request, finding, explorer)),
    empty: "None: the topics hold what was accepted here, message by message.",
  });
}

function findingRow(request: PageRequest, finding: Finding, explorer: string | null): Content[] {
  const { id, kind, topicId, sequenceNumber, starId, detail, noticedAt, resolvedAt } = finding;
  return [
    html`${badge(resolvedAt === null ? "bad" : "plain", resolvedAt === null ? "open" : "over")} ${findingWords(kind)} <span class="quiet">#${id}</span>`,
    topicId === null
      ? "–"
      : onExplorer(explorer, `topic/${topicId}`, `${topicId} #${sequenceNumber ?? "?"}`),
    starId === null ? "–" : starLink(starId),
    troubleWords(detail),
    html`${ago(noticedAt, request.now)}${resolvedAt === null ? "" : html`<br><span class="quiet">over ${ago(resolvedAt, request.now)}</span>`}`,
    resolvedAt === null && kind !== "lost"
      ? actionButton(request, {
          path: "/publishing/resolve",
          word: "Set aside",
          label: `Set aside finding ${id}`,
          fields: { finding: String(id) },
        })
      : "",
  ];
}
