import {
  addOperator,
  type ListedOperator,
  listOperators,
  ROLES,
  revokeOperator,
} from "../../../keys/operators.ts";
import type { Sql } from "../../../store/postgres.ts";
import { fieldsForm, filledIn, needsRole } from "../forms.ts";
import { html, section, table } from "../markup.ts";
import type { Action, Page, PagesDeps } from "../page.ts";
import { credentialColumns, shownOnce } from "./credentials.ts";

const ADD = "/operators/add";
const REVOKE = "/operators/revoke";
const FIELDS = [
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
      const needed = request.lacksRoleFor(ADD);
      if (needed !== null) return { title: "Operators", body: needsRole(needed) };
      const list = table({
        caption: "Operators, oldest first",
        rows: await listOperators(sql),
        columns: [
          ["Name", "text", ({ name }) => name],
          ["Role", "whole", ({ role }) => role],
          ...credentialColumns<ListedOperator>(request, {
            created: "Added",
            revoking: ({ name }) => ({
              path: REVOKE,
              word: "Revoke",
              label: `Revoke … ${name}`,
              question:
                "Token and sessions end at once, in every process. It cannot be taken back.",
              sure: `Revoke ${name}`,
              fields: { name },
            }),
          }),
        ],
        empty: "None was added yet: only the bearer of OPERATOR_TOKEN signs in.",
      });
      const body = html`<p class="lead">Who may look and act here, each by a token of their own. The bearer of OPERATOR_TOKEN is not among them.</p>
${section("Add an operator", fieldsForm(request, { path: ADD, fields: FIELDS, word: "Add an operator" }))}
${section("Operators", list)}`;
      return { title: "Operators", body };
    },
    actions: [adding(sql), revoking(sql)],
  };
}

const nameOf = (form: URLSearchParams): string =>
  filledIn(form, "name", { what: "A name", max: 60 });

function adding(sql: Sql): Action {
  return {
    path: ADD,
    role: "admin",
    subject: nameOf,
    async run({ form }) {
      const given = { name: nameOf(form), role: filledIn(form, "role", { what: "A role" }) };
      const { name, role, token } = await addOperator(sql, given);
      return {
        notice: `${name} is an operator, ${role}.`,
        goTo: shownOnce({
          title: `Token of ${name}`,
          secret: token,
          owner: name,
          list: "operators",
        }),
        details: { role },
      };
    },
  };
}

function revoking(sql: Sql): Action {
  return {
    path: REVOKE,
    role: "admin",
    subject: nameOf,
    async run({ form }) {
      const { name } = await revokeOperator(sql, nameOf(form));
      return { notice: `${name} is revoked: token and sessions end at once.`, goTo: "/operators" };
    },
  };
}
