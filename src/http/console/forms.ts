import { TerminalError } from "../../errors.ts";
import type { Role } from "../../keys/operators.ts";
import { type Content, type Html, html, section } from "./markup.ts";
import type { PageRequest, RefusedForm, ShownPage } from "./page.ts";

/** What a form needs of the page's request. */
export type FormRequest = Pick<PageRequest, "formToken" | "refused" | "lacksRoleFor">;

/**
 * A form of an action, with what the frame asks of it. Where the operator's role does not allow the
 * action, the role that does stands in its place; a button in a row leaves nothing.
 *
 * @param path of the action, below `/ops`
 */
export function actionForm(
  request: FormRequest,
  given: { readonly path: string; readonly kind?: "stack" | "fields" | "row" | "plain" | "list" },
  content: Content,
): Html {
  const { formToken } = request;
  const needed = request.lacksRoleFor(given.path);
  if (needed !== null) return given.kind === "plain" ? html`` : needsRole(needed);
  return html`<form class="${given.kind ?? "stack"}" method="post" action="/ops${given.path}"><input type="hidden" name="token" value="${formToken}">${content}</form>`;
}

/** What stands in the place of a form that is not for this operator. */
export function needsRole(role: Role): Html {
  return html`<p class="hint">This needs the role ${role}.</p>`;
}

/** A button that does one thing to one thing, as a form of its own. */
export function actionButton(
  request: FormRequest,
  given: {
    readonly path: string;
    readonly word: string;
    /** For screen readers, which read the button without its row: `Re-drive star …a1b2`. */
    readonly label: string;
    readonly fields: Readonly<Record<string, string>>;
    readonly kind?: "danger";
  },
): Html {
  const look = given.kind === "danger" ? "small primary danger" : "small";
  const hidden = Object.entries(given.fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return actionForm(
    request,
    { path: given.path, kind: "plain" },
    html`${hidden}<button class="${look}" aria-label="${given.label}">${given.word}</button>`,
  );
}

/**
 * A button that takes something away: the first press only opens the question, also without
 * JavaScript.
 *
 * @param given.question what happens, in a sentence
 * @param given.sure the word of the button that does it
 */
export function askingButton(
  request: FormRequest,
  given: Parameters<typeof actionButton>[1] & {
    readonly question: string;
    readonly sure: string;
  },
): Html {
  const { word, label, question, sure } = given;
  if (request.lacksRoleFor(given.path) !== null) return html``;
  return html`<details class="ask"><summary class="button small danger" aria-label="${label}">${word} …</summary><p>${question}</p>${actionButton(request, { ...given, word: sure, label: sure, kind: "danger" })}</details>`;
}

/** A field of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** What it holds at first. */
  readonly value?: string;
  readonly type?: "text" | "datetime-local";
  /** Instead of free text: value and words. */
  readonly choices?: readonly (readonly [string, string])[];
  readonly maxLength?: number;
}

/** A field with its label, as it was filled in, and with what is wrong with it. */
export function fieldOf(request: FormRequest, path: string, field: Field): Html {
  const refused = refusedBy(request, path);
  const { name, label, hint, choices } = field;
  const value = refused?.form.get(name) ?? field.value ?? "";
  const flaw = refused?.field === name ? refused.text : null;
  const id = `field-${name}`;
  const hints = [flaw === null ? "" : `${id}-flaw`, hint === undefined ? "" : `${id}-hint`];
  const described = hints.filter(Boolean).join(" ");
  const attributes = html`id="${id}" name="${name}" required${
    described === "" ? "" : html` aria-describedby="${described}"`
  }${flaw === null ? "" : html` aria-invalid="true" autofocus`}`;
  const input =
    choices === undefined
      ? html`<input ${attributes} type="${field.type ?? "text"}" value="${value}" autocomplete="off"${
          field.maxLength === undefined ? "" : html` maxlength="${field.maxLength}"`
        }>`
      : html`<select ${attributes}>${choices.map(
          ([choice, words]) =>
            html`<option value="${choice}"${choice === value ? html` selected` : ""}>${words}</option>`,
        )}</select>`;
  return html`<div class="field"><label for="${id}">${label}</label>
${input}${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}${flaw === null ? "" : html`<p class="flaw" id="${id}-flaw">${flaw}</p>`}</div>`;
}

function refusedBy({ refused }: FormRequest, path: string): RefusedForm | undefined {
  return refused?.path === path ? refused : undefined;
}

/**
 * A value that a form must have.
 *
 * @param what it is, in words
 * @throws TerminalError `INVALID_REQUEST` naming the field
 */
export function filledIn(
  form: URLSearchParams,
  field: string,
  { what, form: shape, max = 300 }: { what: string; form?: RegExp; max?: number },
): string {
  const text = (form.get(field) ?? "").trim();
  if (text === "") throw flawIn(field, `${what} is needed`);
  if (text.length > max || /\p{Cc}/u.test(text)) {
    throw flawIn(field, `${what} has up to ${max} characters, all of them printable`);
  }
  if (shape !== undefined && !shape.test(text)) throw flawIn(field, `${what} is not of that form`);
  return text;
}

/** The refusal of one field. */
export function flawIn(field: string, message: string): TerminalError {
  return new TerminalError("INVALID_REQUEST", message, { field });
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The only page that ever shows a secret: it comes with the reply to the form and is stored nowhere.
 *
 * @param given.owner who is to have it
 * @param given.list the page to go back to, below `/ops`
 */
export function shownOnce(given: {
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
