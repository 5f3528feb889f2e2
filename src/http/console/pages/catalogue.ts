import { type Approval, setApproval } from "../../../catalogue/approve-records.ts";
import { type RecordType, recordTypes } from "../../../catalogue/record-type.ts";
import { badField, TerminalError } from "../../../errors.ts";
import {
  type CatalogueRecord,
  catalogueRecords,
  countWaiting,
} from "../../../reads/console-catalogue.ts";
import type { Sql } from "../../../store/postgres.ts";
import { ago, number } from "../amounts.ts";
import { actionForm, needsRole } from "../forms.ts";
import { PER_PAGE, pageOf, textOf } from "../links.ts";
import { type Column, type Html, html, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";
import { kindWords, upperFirst } from "../words.ts";
import { isWeb, wholeRecord } from "./catalogue-record.ts";

const URL_SHOWN = 30;

/** The directory's records: those that wait for an approval, and those that are shown. */
export function cataloguePage({ sql }: PagesDeps): Page {
  return {
    path: "/catalogue",
    nav: ["Manage", "Catalogue"],
    async show(request) {
      const asked = readAsked(request);
      const [waiting, found] = await Promise.all([
        countWaiting(sql),
        catalogueRecords(sql, { ...asked, limit: PER_PAGE + 1 }),
      ]);
      const body = html`<p class="lead">Only approved records are ever shown by the public API and can be starred. Rejecting hides a record, and it waits here again; its stars stay.</p>
${tabs(asked, waiting)}
${list(request, asked, found)}`;
      return { title: "Catalogue", body };
    },
    actions: [deciding(sql, true), deciding(sql, false)],
  };
}

type Asked = ReturnType<typeof readAsked>;

function readAsked({ query, refused }: PageRequest) {
  const from = refused?.form ?? query;
  // A form that names no type has been refused for that: any list may stand below.
  const isNamed = refused === undefined ? from.has("type") : isType(from.get("type"));
  const type = isNamed ? typeOf(from) : "event";
  return { type, isApproved: from.get("view") === "shown", after: textOf(from, "after") };
}

function isType(text: string | null): text is RecordType {
  return recordTypes.some((known) => known === text);
}

function typeOf(from: URLSearchParams): RecordType {
  const type = from.get("type");
  if (!isType(type)) throw badField("type", `type must be one of ${recordTypes.join(", ")}`);
  return type;
}

function listPath({ type, isApproved }: Omit<Asked, "after">, after = ""): string {
  const view = isApproved ? "shown" : "waiting";
  return `/catalogue?${new URLSearchParams({ type, view, ...(after !== "" && { after }) })}`;
}

function deciding(sql: Sql, isApproved: boolean): Action {
  const idsOf = (form: URLSearchParams): readonly string[] => {
    const only = form.get("only");
    if (only === "")
      throw badField("id", "Press the button of a record, or the one below the list");
    const several = form.getAll(form.has("every") ? "listed" : "id");
    const ids = only === null ? [...new Set(several)] : [only];
    if (ids.length === 0) throw badField("id", "Choose at least one record");
    if (ids.length > PER_PAGE || ids.some((id) => !/^[A-Za-z0-9_.-]{1,64}$/.test(id))) {
      throw badField("id", `Records are chosen by their ids, up to ${PER_PAGE} at once`);
    }
    return ids;
  };
  return {
    path: isApproved ? "/catalogue/approve" : "/catalogue/reject",
    role: isApproved ? "operator" : "admin",
    subject(form) {
      const [type, ids] = [typeOf(form), idsOf(form)];
      return ids.length === 1 ? `${type}/${ids[0]}` : `${ids.length} of type ${type}`;
    },
    async run({ form }) {
      const [type, asked] = [typeOf(form), idsOf(form)];
      if (isApproved && !form.has("seen"))
        throw badField(
          "seen",
          "The form lacks the field seen: the revisions of the records it shows",
        );
      const seen = isApproved ? form.getAll("seen") : undefined;
      const found = await setApproval(sql, type, { ids: asked, isApproved, seen });
      if (found.length === 0) throw new TerminalError("NOT_FOUND", `no ${type} has this id`);
      const isDone = ({ approvedAt }: Approval) => (approvedAt !== null) === isApproved;
      const ids = found.filter(isDone).map(({ id }) => id);
      const changed = found.filter((record) => !isDone(record)).map(({ id }) => id);
      const other = `Changed since you saw it, and so not approved: ${changed.join(", ")}.`;
      if (ids.length === 0) throw new TerminalError("INVALID_REQUEST", other);
      const gone = asked.length - found.length;
      const [those, whose] =
        ids.length === 1 ? [`${ids[0]} is`, "its"] : [`${number(ids.length)} records are`, "their"];
      const notice = [
        isApproved
          ? `${those} shown and can be starred now.`
          : `${those} hidden; ${whose} stars stay.`,
        gone === 0 ? "" : `${number(gone)} could not be found.`,
        changed.length === 0 ? "" : other,
      ];
      return {
        notice: notice.filter(Boolean).join(" "),
        goTo: listPath({ type, isApproved: form.get("view") === "shown" }),
        details: { type, ids },
      };
    },
  };
}

function tabs(asked: Asked, waiting: Readonly<Record<RecordType, number>>): Html {
  const tab = (to: Omit<Asked, "after">, text: string, isHere: boolean): Html =>
    html`<a href="/ops${listPath(to)}"${isHere ? html` aria-current="true"` : ""}>${text}</a>`;
  return html`<nav class="tabs" aria-label="Types">${recordTypes.map((type) =>
    tab(
      { ...asked, type },
      `${upperFirst(kindWords(type))}s${waiting[type] === 0 ? "" : ` (${number(waiting[type])} waiting)`}`,
      type === asked.type,
    ),
  )}</nav>
<nav class="tabs" aria-label="Waiting or shown">${tab({ ...asked, isApproved: false }, "Waiting", !asked.isApproved)}${tab({ ...asked, isApproved: true }, "Shown", asked.isApproved)}</nav>`;
}

function list(request: PageRequest, asked: Asked, found: readonly CatalogueRecord[]): Html {
  const { shown, more } = pageOf(found, ({ id }) => `/ops${listPath(asked, id)}`, "Next");
  const records =
    shown.length === 0
      ? html`<p class="empty">${emptyWords(asked)}</p>`
      : recordsForm(request, asked, shown);
  return section(asked.isApproved ? "Shown" : "Waiting for approval", html`${records}${more}`);
}

function emptyWords({ isApproved, type }: Asked): string {
  const kind = `${kindWords(type)}s`;
  return isApproved
    ? `No ${kind} are shown yet: approve some that wait.`
    : `No ${kind} wait. New ones come with the command catalog import.`;
}

/**
 * One form for all rows: a row's own button sends its id alone. Enter in a check box presses the form's
 * first button: a hidden one without an id, which is refused.
 */
function recordsForm(
  request: PageRequest,
  asked: Asked,
  records: readonly CatalogueRecord[],
): Html {
  const { isApproved, type, after } = asked;
  const path = isApproved ? "/catalogue/reject" : "/catalogue/approve";
  const needed = request.lacksRoleFor(path);
  const known: readonly Column<CatalogueRecord>[] = [
    ["Record", "text title", nameCell],
    ["About", "text", (record) => aboutCell(type, record, request.now)],
    [
      isApproved ? "Approved" : "Created",
      "whole",
      ({ approvedAt, createdAt }) => ago(approvedAt ?? createdAt, request.now),
    ],
  ];
  const chosen = new Set(request.refused?.form.getAll("id"));
  const list = table({
    caption: `${kindWords(type)} records by id`,
    rows: records,
    columns:
      needed === null
        ? [
            ["Choose", "choice", (record) => choiceCell(record, chosen.has(record.id))],
            ...known,
            ["Decide", "action", (record) => decisionCell(record, isApproved)],
          ]
        : known,
  });
  if (needed !== null) return html`${list}${needsRole(needed)}`;
  return actionForm(
    request,
    { path, kind: "list" },
    html`<button hidden name="only"></button><input type="hidden" name="type" value="${type}"><input type="hidden" name="view" value="${isApproved ? "shown" : "waiting"}"><input type="hidden" name="after" value="${after}">
${list}<div class="row bulk">${isApproved ? rejectChosen() : approveSeveral(records.length)}</div>`,
  );
}

function approveSeveral(count: number): Html {
  return html`<button class="primary">Approve the chosen ones</button>${count < 2 ? "" : html`<button name="every" value="yes">Approve all ${number(count)} on this page</button>`}`;
}

/** Many at once leave the public API: that is asked first. */
function rejectChosen(): Html {
  return html`<details class="ask"><summary class="button danger">Reject the chosen ones …</summary><p>The public API hides them from now on and they take no stars. They wait for approval again; the stars they have stay.</p><button class="primary danger">Reject the chosen ones</button></details>`;
}

function nameCell({ id, name, url }: CatalogueRecord): Html {
  const link = isWeb(url)
    ? html` <a href="${url}" title="${url}" rel="noopener noreferrer external">${shortUrl(url)}</a>`
    : "";
  return html`${name}<span class="below"><span class="code quiet">${id}</span>${link}</span>`;
}

function aboutCell(type: RecordType, record: CatalogueRecord, now: number): Html {
  return html`${record.about}<details><summary aria-label="The whole record of ${record.name}">The whole record</summary>${wholeRecord(type, record, now)}</details>`;
}

/** An approval is of the record as it is seen here. */
function choiceCell({ id, name, revision, approvedAt }: CatalogueRecord, isChosen: boolean): Html {
  const seen = html`<input type="hidden" name="seen" value="${revision}">`;
  return html`<input type="checkbox" name="id" value="${id}" aria-label="Choose ${name}"${isChosen ? html` checked` : ""}><input type="hidden" name="listed" value="${id}">${approvedAt === null ? seen : ""}`;
}

function decisionCell({ id, name }: CatalogueRecord, isApproved: boolean): Html {
  const [word, look] = isApproved ? ["Reject", "small danger"] : ["Approve", "small"];
  return html`<button class="${look}" name="only" value="${id}" aria-label="${word} ${name}">${word}</button>`;
}

/** Enough to see where it leads; the whole address is in the title. */
function shortUrl(url: string): string {
  const text = url.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "");
  return text.length > URL_SHOWN ? `${text.slice(0, URL_SHOWN)}…` : text;
}
