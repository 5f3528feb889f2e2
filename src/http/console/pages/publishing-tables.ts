import type { RaisedAlarm } from "../../../publishing/alarms.ts";
import type { Finding } from "../../../publishing/reconciliation-findings.ts";
import type { WaitingStar } from "../../../reads/console-publishing.ts";
import { actionButton } from "../forms.ts";
import { onExplorer, starLink } from "../links.ts";
import {
  ago,
  badge,
  type Content,
  code,
  type Html,
  html,
  number,
  quiet,
  table,
} from "../markup.ts";
import type { PageRequest } from "../page.ts";
import { alarmWords, findingWords, troubleWords } from "../publishing-words.ts";
import { publicationWords, upperFirst } from "../words.ts";

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
        "",
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
