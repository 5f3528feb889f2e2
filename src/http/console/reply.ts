import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { RetryableError, TerminalError } from "../../errors.ts";
import type { OperatorSession } from "../../keys/operator-session.ts";
import type { Role } from "../../keys/operators.ts";
import { sentenceOf } from "../../store/operator-log.ts";
import { runbookEntry } from "../../upkeep/runbook.ts";
import { isAway, readVerdict, type Verdict } from "../../upkeep/service-verdict.ts";
import { statusOf } from "../problem.ts";
import { pagePolicy, securePage } from "../reply-header.ts";
import { banner, barePage } from "./frame.ts";
import { type Content, type Html, html } from "./markup.ts";
import type { ConsoleDeps } from "./page.ts";
import { entryOf } from "./pages/alarms.ts";

/** Pictures of the style sheet are `data:`. */
export const CONSOLE_POLICY = pagePolicy({ "img-src": "'self' data:" });

/** Headers of every reply of the console but its files. */
export function secured(c: Context): Context {
  securePage(c, CONSOLE_POLICY);
  c.header("Cache-Control", "no-store");
  return c;
}

export async function sendPage(
  c: Context,
  page: Html,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return secured(c).html(await page, status);
}

/** After a form: the browser asks for the next page. */
export function goTo(c: Context, path: string): Response {
  return secured(c).redirect(path, 303);
}

/** Says on a page what went wrong: people at a console read no JSON. */
export async function errorPage(
  c: Context,
  { log, sql }: ConsoleDeps,
  error: Error,
): Promise<Response> {
  if (!(error instanceof TerminalError)) {
    log.error({ err: error, requestId: c.get("requestId") }, "console request failed");
  }
  const isRetryable = error instanceof RetryableError;
  const verdict = isRetryable ? await readVerdict(sql).catch(() => undefined) : undefined;
  const text = html`${withoutPostgres(verdict)}<p>${sentenceOf(error)}</p>${waysOn(c)}`;
  const title = isRetryable ? "Not available just now" : "That did not work";
  return sendPage(c, barePage(title, text), statusOf(error));
}

/**
 * Without Postgres no session can be checked, so this is the only page there is, and it says what
 * to do. It shows no more than `/readyz` shows to everyone.
 */
function withoutPostgres(verdict: Verdict | undefined): Content {
  if (verdict === undefined || !isAway(verdict)) return "";
  return html`${banner(verdict)}${entryOf("postgres", runbookEntry("postgres"))}`;
}

/** Back to the console's page that led here, if one did, and to the overview. */
function waysOn(c: Context): Html {
  const [, path = "/ops"] = /^https?:\/\/[^/]+(\/.*)$/.exec(c.req.header("referer") ?? "") ?? [];
  const from = localPath(path);
  const back = from === "/ops" ? "" : html`<a class="button" href="${from}">Go back</a>`;
  return html`<nav class="row" aria-label="Ways on">${back}<a class="button" href="/ops">Go to the overview</a></nav>`;
}

/** A form that another site may have sent, or that a session which is over has left behind. */
export function foreignForm(c: Context): Promise<Response> {
  const text = html`<p>This form did not come from a page that you have open in this console now, so nothing was done. Open the page again and repeat what you did.</p>${waysOn(c)}`;
  return sendPage(c, barePage("Refused", text), 403);
}

/** A form of an act that this operator's role does not allow. */
export function notAllowed(
  c: Context,
  { operator, role }: OperatorSession,
  needed: Role,
): Promise<Response> {
  const text = html`<p>This needs the role <strong>${needed}</strong>, and ${operator} is ${role}. Nothing was done.</p>${waysOn(c)}`;
  return sendPage(c, barePage("Not allowed", text), 403);
}

/** Everything, where no operator could sign in. */
export function closedPage(c: Context): Promise<Response> {
  c.header("WWW-Authenticate", "Bearer");
  const text = html`<p>No operator token is set, so no operator can sign in.</p>
<p>Set <code>OPERATOR_TOKEN</code> (16 characters or more) for the web processes and start them again, or add an operator: <code>starboard operators add NAME --role admin</code>.</p>`;
  return sendPage(c, barePage("The console is closed", text), 401);
}

/** A page of the console in every case: a sign-in never leads elsewhere. */
export function localPath(asked: string | null): string {
  return asked !== null && /^\/ops(?:[/?][\x21-\x7e]*)?$/.test(asked) ? asked : "/ops";
}
