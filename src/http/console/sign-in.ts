import type { Context } from "hono";
import { RetryableError } from "../../errors.ts";
import type { Operator } from "../../keys/operators.ts";
import type { OperatorAccess, OperatorVerdict } from "../operator-access.ts";
import { isSameOrigin, readForm } from "./forms.ts";
import { barePage } from "./frame.ts";
import { html } from "./markup.ts";
import { goTo, localPath, sendPage } from "./reply.ts";

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

interface SignInShown {
  /** Where a sign-in leads. */
  readonly next: string;
  /** As it was filled in. */
  readonly operator?: string;
}

/** The form: at `/ops/sign-in`, and in place of every page asked for by somebody not signed in. */
export function signInPage(
  c: Context,
  given: SignInShown & {
    readonly status: 200 | 400 | 401 | 403 | 429 | 503;
    readonly flaw?: string;
  },
): Promise<Response> {
  const { status, flaw, next, operator = "" } = given;
  if (status === 401) c.header("WWW-Authenticate", "Bearer");
  const form = html`<form class="stack" method="post" action="/ops/sign-in">
${flaw === undefined ? "" : html`<p class="notice bad" role="alert">${flaw}</p>`}
<input type="hidden" name="next" value="${next}">
<div class="field"><label for="operator">Your name <span class="quiet">(optional)</span></label>
<input id="operator" name="operator" maxlength="60" autocomplete="username" aria-describedby="operator-hint" value="${operator}">
<p class="hint" id="operator-hint">With the shared OPERATOR_TOKEN, the operator log shows this name beside what you do. A token of your own has its name.</p></div>
<div class="field"><label for="operator-token">Operator token</label>
<input id="operator-token" name="operatorToken" type="password" required autocomplete="current-password"></div>
<button class="primary">Sign in</button>
</form>`;
  return sendPage(c, barePage("Sign in", form), status);
}

/** Trades an operator's token for a session. */
export async function signIn(c: Context, deps: SignInDeps): Promise<Response> {
  const form = await readForm(c);
  const shown = {
    next: localPath(form.get("next")),
    operator: (form.get("operator") ?? "").trim(),
  };
  if (!isSameOrigin(c, deps.publicUrl)) {
    const flaw = "This form was not sent from the console's own page. Sign in here.";
    return signInPage(c, { ...shown, status: 403, flaw });
  }
  if (!NAME.test(shown.operator)) {
    const flaw = "A name has up to 60 characters, all of them printable.";
    return signInPage(c, { ...shown, status: 400, flaw });
  }
  const judge = () => deps.access.judge(c, "sign-in", form.get("operatorToken") ?? "");
  const wrong = "This is not an operator's token.";
  return enter(c, deps, { ...shown, judge, wrong });
}

/** Trades a link, once, for a session; the address that held its secret is left at once. */
export function signInByLink(c: Context, secret: string, deps: SignInDeps): Promise<Response> {
  const judge = () => deps.access.judgeLink(c, () => deps.useLink(secret));
  const wrong = "This link has been used, or its time is over. Sign in with the token.";
  return enter(c, deps, { next: "/ops", judge, wrong });
}

/** @param given.wrong what to say of a token or link that is wrong */
async function enter(
  c: Context,
  deps: SignInDeps,
  given: SignInShown & {
    readonly judge: () => Promise<OperatorVerdict>;
    readonly wrong: string;
  },
): Promise<Response> {
  const { judge, wrong, ...shown } = given;
  try {
    const verdict = await judge();
    if (verdict.kind === "shut") {
      const { retryAfterSeconds: seconds } = verdict;
      c.header("Retry-After", String(seconds));
      const flaw = `Too many wrong tokens from your address. Try again in ${seconds} s.`;
      return signInPage(c, { ...shown, status: 429, flaw });
    }
    if (verdict.kind === "wrong") return signInPage(c, { ...shown, status: 401, flaw: wrong });
    await deps.admit(c, verdict.operator, shown.operator ?? "");
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    return signInPage(c, { ...shown, status: 503, flaw: "The database is out of reach." });
  }
  return goTo(c, shown.next);
}
