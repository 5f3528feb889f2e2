import { issueKey, type ListedKey, newestKeys, revokeKey } from "../../../keys/api-keys.ts";
import type { Sql } from "../../../store/postgres.ts";
import { UUID } from "../../../uuid.ts";
import { fieldsForm, filledIn } from "../forms.ts";
import { code, html, section, table } from "../markup.ts";
import type { Action, Page, PagesDeps } from "../page.ts";
import { PER_PAGE, pageOf, uuidOf } from "../paging.ts";
import { credentialColumns, shownOnce } from "./credentials.ts";

const ISSUE = "/keys/issue";
const REVOKE = "/keys/revoke";
const OWNER = {
  name: "name",
  label: "Owner",
  hint: "A person or a project; it stands in this list and in the operator log.",
  maxLength: 300,
};

/** API keys: all that were ever issued, and a form for another one. */
export function keysPage({ sql }: PagesDeps): Page {
  return {
    path: "/keys",
    nav: ["Access", "Keys"],
    async show(request) {
      const before = uuidOf(request.query, "before");
      const found = await newestKeys(sql, { before, limit: PER_PAGE + 1 });
      const { shown, more } = pageOf(found, ({ id }) => `/ops/keys?before=${id}`);
      const keys = table({
        caption: "Keys, newest first",
        rows: shown,
        columns: [
          ["Owner", "text", ({ name }) => name],
          ["Starts with", "whole", ({ prefix }) => code(`${prefix}…`)],
          ...credentialColumns<ListedKey>(request, {
            created: "Created",
            revoking: ({ id, name }) => ({
              path: REVOKE,
              word: "Revoke",
              label: `Revoke … the key of ${name}`,
              question:
                "From that moment every request with it is refused, in every process. A revoked key cannot be brought back; its owner would need a new one.",
              sure: "Revoke this key",
              fields: { id },
            }),
          }),
        ],
        empty:
          "No key was issued yet: the public API refuses every request. Issue the first one above.",
      });
      const body = html`<p class="lead">Keys of the public API. Each is shown once, when it is issued; a stored key shows only how it starts.</p>
${section("Issue a key", fieldsForm(request, { path: ISSUE, fields: [OWNER], word: "Issue a key" }))}
${section("Keys", html`${keys}${more}`)}`;
      return { title: "Keys", body };
    },
    actions: [issuing(sql), revoking(sql)],
  };
}

function issuing(sql: Sql): Action {
  const nameOf = (form: URLSearchParams): string => filledIn(form, "name", { what: "A name" });
  return {
    path: ISSUE,
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
    filledIn(form, "id", { what: "The key's id", shape: UUID });
  return {
    path: REVOKE,
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
