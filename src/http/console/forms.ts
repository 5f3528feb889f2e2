import { createHash } from "node:crypto";
import type { Context } from "hono";
import { badField, TerminalError } from "../../errors.ts";
import type { Role } from "../../keys/operators.ts";
import { isEntityId } from "../../ledger/entity-id.ts";
import { readChunks } from "../middleware/read-json.ts";
import { isSameText } from "../operator-access.ts";
import { type Content, type Html, html, options } from "./markup.ts";
import type { PageRequest } from "./page.ts";

type FormRequest = Pick<PageRequest, "formToken" | "refused" | "lacksRoleFor">;

/**
 * A form of an action, with the token of this session. Where the operator's role does not allow the
 * action, the form is left out, and the role that does stands in its place; for `plain`, nothing does.
 *
 * @param path of the action, below `/ops`
 * @param kind how it looks; `plain` is a button among others, or in a table's row
 */
export function actionForm(
  { formToken, lacksRoleFor }: FormRequest,
  { path, kind }: { readonly path: string; readonly kind: "fields" | "row" | "plain" | "list" },
  content: Content,
): Html {
  const needed = lacksRoleFor(path);
  if (needed !== null) return kind === "plain" ? html`` : needsRole(needed);
  return html`<form class="${kind}" method="post" action="/ops${path}"><input type="hidden" name="token" value="${formToken}">${content}</form>`;
}

/** What stands in the place of a form that is not for this operator. */
export function needsRole(role: Role): Html {
  return html`<p class="hint">This needs the role ${role}.</p>`;
}

interface ActionButton {
  /** Of the action, below `/ops`. */
  readonly path: string;
  readonly word: string;
  /** For screen readers, which read the button without its row: `Re-drive star …a1b2`. */
  readonly label: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A button that does one thing to one thing, as a form of its own. */
export function actionButton(request: FormRequest, given: ActionButton, look = "small"): Html {
  const { path, word, label, fields } = given;
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const button = html`<button class="${look}" aria-label="${label}">${word}</button>`;
  return actionForm(request, { path, kind: "plain" }, html`${hidden}${button}`);
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
  given: ActionButton & { readonly question: string; readonly sure: string },
): Html {
  const { word, label, question, sure } = given;
  if (request.lacksRoleFor(given.path) !== null) return html``;
  const act = { ...given, word: sure, label: sure };
  return html`<details class="ask"><summary class="button small danger" aria-label="${label}">${word} …</summary><p>${question}</p>${actionButton(request, act, "small primary danger")}</details>`;
}

/** Browsers count UTF-16 units, of which a character has up to two. */
const UNITS_MAX = 2;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** What it holds at first. */
  readonly value?: string;
  readonly type?: "text" | "datetime-local";
  /** Instead of free text: value and words. */
  readonly choices?: readonly (readonly [string, string])[];
  /** In characters. */
  readonly maxLength?: number;
}

/** A form of an action that is filled in. @param given.word of its button */
export function fieldsForm(
  request: FormRequest,
  given: { readonly path: string; readonly fields: readonly Field[]; readonly word: string },
): Html {
  const { path, fields, word } = given;
  const shown = fields.map((field) => fieldOf(request, path, field));
  const button = html`<button class="primary">${word}</button>`;
  return actionForm(request, { path, kind: "fields" }, html`${shown}${button}`);
}

/** A field with its label, as it was filled in, and with what is wrong with it. */
function fieldOf(request: FormRequest, path: string, field: Field): Html {
  const refused = request.refused?.path === path ? request.refused : undefined;
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
          field.maxLength === undefined ? "" : html` maxlength="${UNITS_MAX * field.maxLength}"`
        }>`
      : html`<select ${attributes}>${options(choices, value)}</select>`;
  return html`<div class="field"><label for="${id}">${label}</label>
${input}${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}${flaw === null ? "" : html`<p class="flaw" id="${id}-flaw">${flaw}</p>`}</div>`;
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
  { what, shape, max = 300 }: { what: string; shape?: RegExp; max?: number },
): string {
  const text = (form.get(field) ?? "").trim();
  if (text === "") throw badField(field, `${what} is needed`);
  if ([...text].length > max || /\p{Cc}/u.test(text)) {
    throw badField(field, `${what} has up to ${max} characters, all of them printable`);
  }
  if (shape !== undefined && !shape.test(text))
    throw badField(field, `${what} is not of that form`);
  return text;
}

/** The field of a form that names a wallet, which `walletIn` reads. */
export const WALLET: Field = {
  name: "wallet",
  label: "Wallet",
  hint: "An account id, such as 0.0.1001.",
  maxLength: 60,
};

/** @throws TerminalError `INVALID_REQUEST` naming the field */
export function walletIn(form: URLSearchParams): string {
  const wallet = filledIn(form, "wallet", { what: "A wallet" });
  if (!isEntityId(wallet)) throw badField("wallet", `${wallet} is no account id such as 0.0.1001`);
  return wallet;
}

/** Some thousand ids of records to approve at once. */
const FORM_BYTES_MAX = 128 * 1024;

const FORM = /^application\/x-www-form-urlencoded[ \t]*(;.*)?$/i;

/**
 * The fields of a posted form.
 *
 * @throws TerminalError `PAYLOAD_TOO_LARGE`, `INVALID_REQUEST` (no form, half a form, a NUL)
 */
export async function readForm(c: Context): Promise<URLSearchParams> {
  if (!FORM.test(c.req.header("content-type") ?? "")) throw invalid("this is no form");
  const bytes = await readChunks(c, FORM_BYTES_MAX, "the form is too large");
  const form = new URLSearchParams(bytes.toString("utf8"));
  for (const value of form.values()) {
    // A NUL byte is no text to Postgres.
    if (value.includes("\u0000")) throw invalid("a field holds a NUL");
  }
  return form;
}

/**
 * Whether a form was sent by a page of the console. Browsers say so themselves: `Sec-Fetch-Site` on
 * https and on localhost, `Origin` everywhere else. A request with neither is none.
 */
export function isSameOrigin(c: Context, publicUrl: string): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = c.req.header("origin");
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === new URL(publicUrl).host || host === c.req.header("host");
}

/** What the forms of a session carry: it follows from the secret, and reveals nothing of it. */
export function formToken(secret: string): string {
  return createHash("sha256").update(`starboard form ${secret}`).digest("base64url");
}

export function isFormToken(given: string, secret: string): boolean {
  return isSameText(given, formToken(secret));
}

function invalid(message: string): TerminalError {
  return new TerminalError("INVALID_REQUEST", message);
}
