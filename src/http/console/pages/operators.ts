import {
  addOperator,
  type ListedOperator,
  listOperators,
  ROLES,
  revokeOperator,
} from "../../../keys/operators.ts";
import type { Sql } from "../../../store/postgres.ts";
import { actionForm, askingButton, fieldOf, filledIn, needsRole, shownOnce } from "../forms.ts";
import { ago, badge, type Content, type Html, html, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";

const ADD = "/operators/add";
const REVOKE = "/operators/revoke";

/** Named operators: who they are, a form for another one, and their end. For admins alone. */
export function operatorsPage({ sql }: PagesDeps): Page {
  return {
    path: "/operators",
    nav: "Operators",
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
    name: "operators.add",
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
    name: "operators.revoke",
    role: "admin",
    subject: nameOf,
    async run({ form }) {
      const { name } = await revokeOperator(sql, nameOf(form));
      return { notice: `${name} is revoked: token and sessions end at once.`, goTo: "/operators" };
    },
  };
}

function body(request: PageRequest, operators: readonly ListedOperator[]): Html {
  const form = actionForm(
    request,
    { path: ADD, kind: "fields" },
    html`${fieldOf(request, ADD, { name: "name", label: "Name", hint: "It stands in the operator log.", maxLength: 60 })}${fieldOf(
      request,
      ADD,
      {
        name: "role",
        label: "Role",
        hint: "Viewers look; operators publish again, check holdings and approve; admins do the rest.",
        choices: ROLES.map((role) => [role, role]),
      },
    )}<button class="primary">Add an operator</button>`,
  );
  return html`<p class="lead">Who may look and act here, each by a token of their own. The bearer of OPERATOR_TOKEN is not among them.</p>
${section("Add an operator", form)}
${section(
  "Operators",
  table({
    caption: "Operators, oldest first",
    columns: [
      { label: "Name", isText: true },
      { label: "Role", isWhole: true },
      { label: "State", isWhole: true },
      { label: "Added", isWhole: true },
      { label: "Last used", isWhole: true },
      { label: "", isAction: true },
    ],
    rows: operators.map((operator) => row(request, operator)),
    empty: "None was added yet: only the bearer of OPERATOR_TOKEN signs in.",
  }),
)}`;
}

function row(request: PageRequest, operator: ListedOperator): Content[] {
  const { now } = request;
  const { name, role, createdAt, lastUsedAt, revokedAt } = operator;
  return [
    name,
    role,
    revokedAt === null
      ? badge("good", "works")
      : html`${badge("plain", "revoked")} <span class="quiet">${ago(revokedAt, now)}</span>`,
    ago(createdAt, now),
    lastUsedAt === null ? "never" : ago(lastUsedAt, now),
    revokedAt === null
      ? askingButton(request, {
          path: REVOKE,
          word: "Revoke",
          label: `Revoke … ${name}`,
          question: "Token and sessions end at once, in every process. It cannot be taken back.",
          sure: `Revoke ${name}`,
          fields: { name },
        })
      : "",
  ];
}
