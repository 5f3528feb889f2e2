import type { Context } from "hono";
import { RetryableError } from "../../errors.ts";
import type { OperatorSessions } from "../../keys/operator-session.ts";
import type { HostCookie } from "../host-cookie.ts";
import type { OperatorAccess } from "../operator-access.ts";
import { barePage } from "./frame.ts";
import { html } from "./markup.ts";
import { readForm } from "./read-form.ts";
import { goTo, sendPage } from "./reply.ts";
import { isSameOrigin } from "./same-origin.ts";

export interface SignInDeps {
  readonly publicUrl: string;
  readonly access: OperatorAccess;
  readonly sessions: OperatorSessions;
  readonly cookie: HostCookie;
  readonly note: (signedIn: { id: string; operator: string }, action: string) => Promise<void>;
}

/** What may be typed as a name: it is shown in the log. */
const NAME = /^[^\p{C}]{1,60}$/u;

/** The form: at `/ops/sign-in`, and in place of every page asked for by somebody not signed in. */
export function signInPage(
  c: Context,
  given: {
    readonly status: 200 | 400 | 401 | 403 | 429 | 503;
    readonly next: string;
    readonly flaw?: string;
    readonly operator?: string;
  },
): Promise<Response> {
  if (given.status === 401) c.header("WWW-Authenticate", "Bearer");
  const form = html`<form class="stack" method="post" action="/ops/sign-in">
${given.flaw === undefined ? "" : html`<p class="notice bad" role="alert">${given.flaw}</p>`}
<input type="hidden" name="next" value="${given.next}">
<div class="field"><label for="operator">Your name</label>
<input id="operator" name="operator" maxlength="60" required autocomplete="username" aria-describedby="operator-hint" value="${given.operator ?? ""}">
<p class="hint" id="operator-hint">It stands beside what you do in the operator log.</p></div>
<div class="field"><label for="operator-token">Operator token</label>
<input id="operator-token" name="operatorToken" type="password" required autocomplete="current-password"></div>
<button class="primary">Sign in</button>
</form>`;
  return sendPage(c, barePage("Sign in", form), given.status);
}

/** Trades the operator token for a session. */
export async function signIn(c: Context, deps: SignInDeps): Promise<Response> {
  const form = await readForm(c);
  const next = localPath(form.get("next"));
  const operator = (form.get("operator") ?? "").trim();
  const again = (status: 400 | 401 | 403 | 429 | 503, flaw: string): Promise<Response> =>
    signInPage(c, { status, next, flaw, operator });
  if (!isSameOrigin(c, deps.publicUrl)) {
    return again(403, "This form was not sent from the console's own page. Sign in here.");
  }
  const verdict = await deps.access.judge(c, "sign-in", form.get("operatorToken") ?? "");
  if (verdict.kind === "shut") {
    const { retryAfterSeconds: seconds } = verdict;
    c.header("Retry-After", String(seconds));
    return again(429, `Too many wrong tokens from your address. Try again in ${seconds} s.`);
  }
  if (verdict.kind === "wrong") return again(401, "This is not the operator token.");
  if (!NAME.test(operator)) return again(400, "Give a name of 1 to 60 characters.");
  try {
    const { secret, ...session } = await deps.sessions.open(operator);
    await deps.note(session, "session.open");
    deps.cookie.write(c, secret);
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
