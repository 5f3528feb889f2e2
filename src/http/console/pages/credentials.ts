import { issueKey, type ListedKey, newestKeys, revokeKey } from "../../../keys/api-keys.ts";
import {
  addOperator,
  type ListedOperator,
  listOperators,
  ROLES,
  revokeOperator,
} from "../../../keys/operators.ts";
import type { Sql } from "../../../store/postgres.ts";
import { UUID } from "../../../uuid.ts";
import { ago } from "../amounts.ts";
import { askingButton, fieldsForm, filledIn, needsRole } from "../forms.ts";
import { PER_PAGE, pageOf, uuidOf } from "../links.ts";
import { badge, type Column, code, type Html, html, quiet, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps, ShownPage } from "../page.ts";

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
          ...credentialColumns<ListedKey>(request, "Created", ({ id, name }) => ({
            path: "/keys/revoke",
            label: `Revoke … the key of ${name}`,
            question:
              "From that moment every request with it is refused, in every process. A revoked key cannot be brought back; its owner would need a new one.",
            sure: "Revoke this key",
            fields: { id },
          })),
        ],
        empty:
          "No key was issued yet: the public API refuses every request. Issue the first one above.",
      });
      const form = { path: "/keys/issue", fields: [OWNER], word: "Issue a key" };
      const body = html`<p class="lead">Keys of the public API. Each is shown once, when it is issued; a stored key shows only how it starts.</p>
${section("Issue a key", fieldsForm(request, form))}
${section("Keys", html`${keys}${more}`)}`;
      return { title: "Keys", body };
    },
    actions: [issuing(sql), revoking(sql)],
  };
}

function issuing(sql: Sql): Action {
  const nameOf = (form: URLSearchParams): string => filledIn(form, "name", { what: "A name" });
  return {
    path: "/keys/issue",
    role: "admin",
    subject: nameOf,
    async run({ form }) {
      const { id, name, key } = await issueKey(sql, nameOf(form));
      const given = { title: `Key for ${name}`, secret: key, owner: "its owner" };
      const notice = `A key for ${name} was issued.`;
      return { notice, goTo: shownOnce({ ...given, list: "keys" }), details: { id } };
    },
  };
}

function revoking(sql: Sql): Action {
  const idOf = (form: URLSearchParams): string =>
    filledIn(form, "id", { what: "The key's id", shape: UUID });
  return {
    path: "/keys/revoke",
    role: "admin",
    subject: idOf,
    async run({ form }) {
      const { id } = await revokeKey(sql, idOf(form));
      const notice = `Key …${id.slice(-6)} is revoked: it stops working at once.`;
      return { notice, goTo: "/keys" };
    },
  };
}

const OPERATOR_FIELDS = [
  { name: "name", label: "Name", hint: "It stands in the operator log.", maxLength: 60 },
  {
    name: "role",
    label: "Role",
    hint: "Viewers look; operators publish again, check holdings and approve; admins do the rest.",
    choices: ROLES.map((role) => [role, role] as const),
  },
];

/** Named operators: who they are, a form for another one, and their end. For admins alone. */
export function operatorsPage({ sql }: PagesDeps): Page {
  return {
    path: "/operators",
    nav: ["Access", "Operators"],
    async show(request) {
      const form = { path: "/operators/add", fields: OPERATOR_FIELDS, word: "Add an operator" };
      const needed = request.lacksRoleFor(form.path);
      if (needed !== null) return { title: "Operators", body: needsRole(needed) };
      const list = table({
        caption: "Operators, oldest first",
        rows: await listOperators(sql),
        columns: [
          ["Name", "text", ({ name }) => name],
          ["Role", "whole", ({ role }) => role],
          ...credentialColumns<ListedOperator>(request, "Added", ({ name }) => ({
            path: "/operators/revoke",
            label: `Revoke … ${name}`,
            question: "Token and sessions end at once, in every process. It cannot be taken back.",
            sure: `Revoke ${name}`,
            fields: { name },
          })),
        ],
        empty: "None was added yet: only the bearer of OPERATOR_TOKEN signs in.",
      });
      const body = html`<p class="lead">Who may look and act here, each by a token of their own. The bearer of OPERATOR_TOKEN is not among them.</p>
${section("Add an operator", fieldsForm(request, form))}
${section("Operators", list)}`;
      return { title: "Operators", body };
    },
    actions: [addingOperator(sql), revokingOperator(sql)],
  };
}

const operatorOf = (form: URLSearchParams): string =>
  filledIn(form, "name", { what: "A name", max: 60 });

function addingOperator(sql: Sql): Action {
  return {
    path: "/operators/add",
    role: "admin",
    subject: operatorOf,
    async run({ form }) {
      const given = { name: operatorOf(form), role: filledIn(form, "role", { what: "A role" }) };
      const { name, role, token: secret } = await addOperator(sql, given);
      const shown = { title: `Token of ${name}`, secret, owner: name, list: "operators" } as const;
      return {
        notice: `${name} is an operator, ${role}.`,
        goTo: shownOnce(shown),
        details: { role },
      };
    },
  };
}

function revokingOperator(sql: Sql): Action {
  return {
    path: "/operators/revoke",
    role: "admin",
    subject: operatorOf,
    async run({ form }) {
      const { name } = await revokeOperator(sql, operatorOf(form));
      return { notice: `${name} is revoked: token and sessions end at once.`, goTo: "/operators" };
    },
  };
}

/** What opens a door until it is revoked: a key, an operator's token. */
interface Credential {
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** The columns that all credentials have. @param revoking the button that revokes one */
function credentialColumns<C extends Credential>(
  request: PageRequest,
  created: string,
  revoking: (credential: C) => Omit<Parameters<typeof askingButton>[1], "word">,
): Column<C>[] {
  const { now } = request;
  const state = (revokedAt: number | null): Html =>
    revokedAt === null
      ? badge("good", "works")
      : html`${badge("plain", "revoked")} ${quiet(ago(revokedAt, now))}`;
  const revoke = (one: C) =>
    one.revokedAt === null ? askingButton(request, { ...revoking(one), word: "Revoke" }) : "";
  return [
    ["State", "whole", ({ revokedAt }) => state(revokedAt)],
    [created, "whole", ({ createdAt }) => ago(createdAt, now)],
    ["Last used", "whole", ({ lastUsedAt: at }) => (at === null ? "never" : ago(at, now))],
    ["Revoke", "action", revoke],
  ];
}

/**
 * The only page that ever shows a secret: it comes with the reply to the form and is stored nowhere.
 *
 * @param given.owner who is to have it
 * @param given.list the page to go back to, below `/ops`
 */
function shownOnce(given: {
  readonly title: string;
  readonly secret: string;
  readonly owner: string;
  readonly list: "keys" | "operators";
}): ShownPage {
  const { title, secret, owner, list } = given;
  return {
    title,
    body: section(
      "This is the only time it is shown",
      html`<p>Copy it now and send it to ${owner} safely. Only a hash of it is stored, so it cannot be looked up later.</p>
<code class="secret">${secret}</code>
<p class="hint">Do not reload this page: that would send the form again.</p>
<p><a class="button" href="/ops/${list}">I have copied it: back to the ${list}</a></p>`,
    ),
  };
}
