import type { Context } from "hono";
import { RetryableError } from "../../errors.ts";
import type { Operator } from "../../keys/operators.ts";
import type { OperatorAccess, OperatorVerdict } from "../operator-access.ts";
import { barePage } from "./frame.ts";
import { html } from "./markup.ts";
import { isSameOrigin, readForm } from "./read-form.ts";
import { goTo, sendPage } from "./reply.ts";

export interface SignInDeps {
  readonly publicUrl: string;
  readonly access: OperatorAccess;
  /** Opens a session, notes it in the operator log, and gives the browser its cookie. */
  readonly admit: (c: Context, operator: Operator, alias: string) => Promise<void>;
  /** Uses a sign-in link up, and says whether it was good. */
  readonly useLink: (secret: string) => Promise<boolean>;
}

/** What may be typed as a name: it is shown in the log. */
const NAME = /^[^\p{C}]{0,60}$/u;

/** The form: at `/ops/sign-in`, and in place of every page asked for by somebody not signed in. */
export function signInPage(
  c: Context,
  given: {
    readonly status: 200 | Refusal;
    readonly next: string;
    readonly flaw?: string;
    readonly operator?: string;
  },
): Promise<Response> {
  if (given.status === 401) c.header("WWW-Authenticate", "Bearer");
  const form = html`<form class="stack" method="post" action="/ops/sign-in">
${given.flaw === undefined ? "" : html`<p class="notice bad" role="alert">${given.flaw}</p>`}
<input type="hidden" name="next" value="${given.next}">
<div class="field"><label for="operator">Your name <span class="quiet">(optional)</span></label>
<input id="operator" name="operator" maxlength="60" autocomplete="username" aria-describedby="operator-hint" value="${given.operator ?? ""}">
<p class="hint" id="operator-hint">With the shared OPERATOR_TOKEN, the operator log shows this name beside what you do. A token of your own has its name.</p></div>
<div class="field"><label for="operator-token">Operator token</label>
<input id="operator-token" name="operatorToken" type="password" required autocomplete="current-password"></div>
<button class="primary">Sign in</button>
</form>`;
  return sendPage(c, barePage("Sign in", form), given.status);
}

type Refusal = 400 | 401 | 403 | 429 | 503;

/** Trades an operator's token for a session. */
export async function signIn(c: Context, deps: SignInDeps): Promise<Response> {
  const form = await readForm(c);
  const next = localPath(form.get("next"));
  const operator = (form.get("operator") ?? "").trim();
  const again = (status: Refusal, flaw: string): Promise<Response> =>
    signInPage(c, { status, next, flaw, operator });
  if (!isSameOrigin(c, deps.publicUrl)) {
    return again(403, "This form was not sent from the console's own page. Sign in here.");
  }
  if (!NAME.test(operator)) {
    return again(400, "A name has up to 60 characters, all of them printable.");
  }
  return enter(c, deps, {
    judge: () => deps.access.judge(c, "sign-in", form.get("operatorToken") ?? ""),
    alias: operator,
    next,
    again,
    wrong: "This is not an operator's token.",
  });
}

/** Trades a link, once, for a session; the address that held its secret is left at once. */
export function signInByLink(c: Context, secret: string, deps: SignInDeps): Promise<Response> {
  const next = "/ops";
  return enter(c, deps, {
    judge: () => deps.access.judgeLink(c, () => deps.useLink(secret)),
    alias: "",
    next,
    again: (status, flaw) => signInPage(c, { status, next, flaw }),
    wrong: "This link has been used, or its time is over. Sign in with the token.",
  });
}

async function enter(
  c: Context,
  deps: SignInDeps,
  given: {
    readonly judge: () => Promise<OperatorVerdict>;
    readonly alias: string;
    readonly next: string;
    readonly again: (status: Refusal, flaw: string) => Promise<Response>;
    readonly wrong: string;
  },
): Promise<Response> {
  const { again, next } = given;
  try {
    const verdict = await given.judge();
    if (verdict.kind === "shut") {
      const { retryAfterSeconds: seconds } = verdict;
      c.header("Retry-After", String(seconds));
      return again(429, `Too many wrong tokens from your address. Try again in ${seconds} s.`);
    }
    if (verdict.kind === "wrong") return again(401, given.wrong);
    await deps.admit(c, verdict.operator, given.alias);
  } catch (error) {
    if (error instanceof RetryableError) return again(503, "The database is out of reach.");
    throw error;
  }
  return goTo(c, next);
}

/** A page of the console in every case: a sign-in never leads elsewhere. */
export function localPath(asked: string | null): string {
  return asked !== null && /^\/ops(?:[/?][\x21-\x7e]*)?$/.test(asked) ? asked : "/ops";
}
