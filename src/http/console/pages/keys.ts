import { issueKey, type ListedKey, newestKeys, revokeKey } from "../../../keys/api-keys.ts";
import type { Sql } from "../../../store/postgres.ts";
import { actionForm, askingButton, fieldOf, filledIn, flawIn, shownOnce, UUID } from "../forms.ts";
import { ago, badge, type Content, html, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";
import { older, textOf } from "../paging.ts";

const ISSUE = "/keys/issue";
const REVOKE = "/keys/revoke";
const PER_PAGE = 50;

/** API keys: all that were ever issued, and a form for another one. */
export function keysPage({ sql }: PagesDeps): Page {
  return {
    path: "/keys",
    nav: "Keys",
    async show(request) {
      const before = textOf(request.query, "before");
      if (before !== "" && !UUID.test(before)) throw flawIn("before", "before must be a key's id");
      const found = await newestKeys(sql, { before: before || null, limit: PER_PAGE + 1 });
      return { title: "Keys", body: body(request, found) };
    },
    actions: [issuing(sql), revoking(sql)],
  };
}

function issuing(sql: Sql): Action {
  const nameOf = (form: URLSearchParams): string => filledIn(form, "name", { what: "A name" });
  return {
    path: ISSUE,
    name: "keys.issue",
    role: "admin",
    subject: nameOf,
    async run({ form }) {
      const { id, name, key } = await issueKey(sql, nameOf(form));
      return {
        notice: `A key for ${name} was issued.`,
        goTo: shownOnce({
          title: `Key for ${name}`,
          secret: key,
          owner: "its owner",
          list: "keys",
        }),
        details: { id },
      };
    },
  };
}

function revoking(sql: Sql): Action {
  const idOf = (form: URLSearchParams): string =>
    filledIn(form, "id", { what: "The key's id", form: UUID });
  return {
    path: REVOKE,
    name: "keys.revoke",
    role: "admin",
    subject: idOf,
    async run({ form }) {
      const { id } = await revokeKey(sql, idOf(form));
      return {
        notice: `Key …${id.slice(-6)} is revoked: it stops working at once.`,
        goTo: "/keys",
      };
    },
  };
}

function body(request: PageRequest, found: readonly ListedKey[]) {
  const keys = found.slice(0, PER_PAGE);
  const last = found.length > PER_PAGE ? keys.at(-1)?.id : undefined;
  const form = actionForm(
    request,
    { path: ISSUE, kind: "fields" },
    html`${fieldOf(request, ISSUE, {
      name: "name",
      label: "Owner",
      hint: "A person or a project; it stands in this list and in the operator log.",
      maxLength: 300,
    })}<button class="primary">Issue a key</button>`,
  );
  return html`<p class="lead">Keys of the public API. Each is shown once, when it is issued; a stored key shows only how it starts.</p>
${section("Issue a key", form)}
${section(
  "Keys",
  html`${table({
    caption: "Keys, newest first",
    columns: [
      { label: "Owner", isText: true },
      { label: "Starts with", isWhole: true },
      { label: "State", isWhole: true },
      { label: "Created", isWhole: true },
      { label: "Last used", isWhole: true },
      { label: "", isAction: true },
    ],
    rows: keys.map((key) => row(request, key)),
    empty:
      "No key was issued yet: the public API refuses every request. Issue the first one above.",
  })}${older(last === undefined ? null : `/ops/keys?before=${last}`)}`,
)}`;
}

function row(request: PageRequest, key: ListedKey): Content[] {
  const { now } = request;
  const { id, name, prefix, createdAt, lastUsedAt, revokedAt } = key;
  return [
    name,
    html`<span class="code">${prefix}…</span>`,
    revokedAt === null
      ? badge("good", "works")
      : html`${badge("plain", "revoked")} <span class="quiet">${ago(revokedAt, now)}</span>`,
    ago(createdAt, now),
    lastUsedAt === null ? "never" : ago(lastUsedAt, now),
    revokedAt === null
      ? askingButton(request, {
          path: REVOKE,
          word: "Revoke",
          label: `Revoke … the key of ${name}`,
          question:
            "From that moment every request with it is refused, in every process. A revoked key cannot be brought back; its owner would need a new one.",
          sure: "Revoke this key",
          fields: { id },
        })
      : "",
  ];
}
