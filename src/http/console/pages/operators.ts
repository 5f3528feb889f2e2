import {
  addOperator,
  type ListedOperator,
  listOperators,
  ROLES,
  revokeOperator,
} from "../../../keys/operators.ts";
import type { Sql } from "../../../store/postgres.ts";
import { fieldsForm, filledIn, needsRole } from "../forms.ts";
import { type Html, html, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";
import { credentialColumns, shownOnce } from "./credentials.ts";

const ADD = "/operators/add";
const REVOKE = "/operators/revoke";

/** Named operators: who they are, a form for another one, and their end. For admins alone. */
export function operatorsPage({ sql }: PagesDeps): Page {
  return {
    path: "/operators",
    nav: ["Access", "Operators"],
    async show(request) {
      const needed = request.lacksRoleFor(ADD);
      const content = needed === null ? body(request, await listOperators(sql)) : needsRole(needed);
      return { title: "Operators", body: content };
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

function body(request: PageRequest, operators: readonly ListedOperator[]): Html {
  const name = {
    name: "name",
    label: "Name",
    hint: "It stands in the operator log.",
    maxLength: 60,
  };
  const role = {
    name: "role",
    label: "Role",
    hint: "Viewers look; operators publish again, check holdings and approve; admins do the rest.",
    choices: ROLES.map((each) => [each, each] as const),
  };
  const list = table({
    caption: "Operators, oldest first",
    rows: operators,
    columns: [
      ["Name", "text", (operator) => operator.name],
      ["Role", "whole", (operator) => operator.role],
      ...credentialColumns<ListedOperator>(request, {
        created: "Added",
        revoking: (operator) => ({
          path: REVOKE,
          word: "Revoke",
          label: `Revoke … ${operator.name}`,
          question: "Token and sessions end at once, in every process. It cannot be taken back.",
          sure: `Revoke ${operator.name}`,
          fields: { name: operator.name },
        }),
      }),
    ],
    empty: "None was added yet: only the bearer of OPERATOR_TOKEN signs in.",
  });
  return html`<p class="lead">Who may look and act here, each by a token of their own. The bearer of OPERATOR_TOKEN is not among them.</p>
${section("Add an operator", fieldsForm(request, { path: ADD, fields: [name, role], word: "Add an operator" }))}
${section("Operators", list)}`;
}
