import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { TerminalError } from "../../errors.ts";
import { allows } from "../../keys/operators.ts";
import { actLogged, findOutcome, sentenceOf } from "../../store/operator-log.ts";
import type { Sql } from "../../store/postgres.ts";
import { readVerdict } from "../../upkeep/service-verdict.ts";
import { UUID } from "../../uuid.ts";
import { statusOf } from "../problem.ts";
import { restOfPath } from "../v1/parameters.ts";
import { serveAssets } from "./assets.ts";
import { formToken, isFormToken, isSameOrigin, readForm } from "./forms.ts";
import { type FrameRequest, framedPage } from "./frame.ts";
import { createGate, type Gate, guestLimit, type Signed } from "./gate.ts";
import { html } from "./markup.ts";
import {
  type Action,
  type ConsoleDeps,
  logName,
  type Page,
  type RefusedForm,
  type ShownPage,
} from "./page.ts";
import { serveQueueBoard } from "./queue-board-routes.ts";
import { errorPage, foreignForm, goTo, notAllowed, sendPage } from "./reply.ts";

/**
 * The operators' console, to be mounted at `/ops`: sign-in, the frame around every page, and what
 * is checked before any of them answers. It does not answer `/ops/api`.
 *
 * @param pages the table of pages: routes and navigation are made from it
 */
export function consoleRoutes(deps: ConsoleDeps, pages: readonly Page[]): Hono {
  const app = new Hono();
  serveAssets(app);
  const gate = createGate(deps);
  app.use(guestLimit(deps, gate));
  const parts: ConsoleParts = { ...deps, gate, pages };
  const show = (page: Page) => async (c: Context) => {
    const signed = await gate.find(c, page.isQuiet ? "look" : "use");
    return signed === null ? gate.refuse(c) : answerPage(c, parts, { page, signed });
  };
  app.onError((error, c) => errorPage(c, deps, error));
  app.get("/sign-in", gate.open);
  app.post("/sign-in", gate.signIn);
  app.post("/sign-out", (c) => acceptForm(c, parts, (signed) => gate.signOut(c, signed)));
  if (deps.board !== undefined) serveQueueBoard(app, { ...deps, gate, board: deps.board });
  for (const page of pages) {
    app.get(page.path === "" ? "/" : page.path, show(page));
    for (const action of page.actions ?? []) {
      app.post(action.path, (c) =>
        acceptForm(c, parts, (signed, form) =>
          acceptAction(c, parts, { page, action, signed, form }),
        ),
      );
    }
  }
  app.all("/*", (c, next) => {
    if (isApi(c)) return next();
    return c.req.path === "/ops/" ? goTo(c, "/ops") : show(NOWHERE)(c);
  });
  return app;
}

interface ConsoleParts extends ConsoleDeps {
  readonly gate: Gate;
  readonly pages: readonly Page[];
}

function isApi(c: Context): boolean {
  return c.req.path === "/ops/api" || c.req.path.startsWith("/ops/api/");
}

async function answerPage(
  c: Context,
  { gate, ...parts }: ConsoleParts,
  asked: {
    readonly page: Page;
    readonly signed: Signed;
    readonly refused?: RefusedForm & { readonly status: ContentfulStatusCode };
  },
): Promise<Response> {
  const { page, refused } = asked;
  const { session, secret } = asked.signed;
  const query = new URL(c.req.url).searchParams;
  const actions = parts.pages.flatMap(({ actions = [] }) => actions);
  const request = {
    query,
    rest: page.path.endsWith("/*") ? restOfPath(c, `/ops${page.path.slice(0, -1)}`) : "",
    now: parts.clock.now(),
    session,
    lacksRoleFor: (path: string) => {
      const needed = actions.find((action) => action.path === path)?.role;
      return needed === undefined || allows(session.role, needed) ? null : needed;
    },
    isSignedIn: async () => (await gate.find(c, "look")) !== null,
    context: c,
    formToken: formToken(secret),
    refused,
  };
  const [shown, verdict, notice] = await Promise.all([
    page.show(request).catch(nothingFound),
    // A page that can be shown is shown, also where the verdict cannot be read in time.
    readVerdict(parts.sql).catch(() => undefined),
    refused === undefined
      ? noticeOf(parts.sql, query.get("done"), session.id)
      : { text: refused.text, isFailure: true },
  ]);
  if (shown instanceof Response) return shown;
  const isBehind = parts.isBehind?.() ?? false;
  const framed = framedPage(parts, { ...request, page, shown, verdict, notice, isBehind });
  return sendPage(c, framed, refused?.status ?? (shown.isMissing ? 404 : 200));
}

/** Lets a form through that one of our own pages sent for somebody signed in. */
async function acceptForm(
  c: Context,
  { gate, publicUrl }: ConsoleParts,
  run: (signed: Signed, form: URLSearchParams) => Promise<Response>,
): Promise<Response> {
  // Before the session is looked for: a form takes its time, and the session may end meanwhile.
  const form = await readForm(c);
  const signed = await gate.find(c);
  if (signed === null) return gate.refuse(c);
  const isOurs = isSameOrigin(c, publicUrl) && isFormToken(form.get("token") ?? "", signed.secret);
  return isOurs ? run(signed, form) : foreignForm(c);
}

/**
 * Runs an action between two lines of the operator log; what makes no sense comes back with its
 * page, filled in as it was.
 */
async function acceptAction(
  c: Context,
  parts: ConsoleParts,
  asked: {
    readonly page: Page;
    readonly action: Action;
    readonly signed: Signed;
    readonly form: URLSearchParams;
  },
): Promise<Response> {
  const { page, action, signed, form } = asked;
  const { session, actor } = signed;
  if (!allows(session.role, action.role)) return notAllowed(c, session, action.role);
  try {
    const [subject, reason] = [action.subject(form), action.reason?.(form)];
    const act = { actor, name: logName(action), subject, reason };
    const ended = await actLogged(parts.sql, act, () => action.run({ form, session }));
    const { goTo: next, actionId } = ended;
    if (typeof next === "string") {
      return goTo(c, `/ops${next}${next.includes("?") ? "&" : "?"}done=${actionId}`);
    }
    const once = { path: page.path, show: () => Promise.resolve(next) };
    return await answerPage(c, parts, { page: once, signed });
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    const { field } = error.details;
    const refused = {
      path: action.path,
      form,
      text: sentenceOf(error),
      field: typeof field === "string" ? field : undefined,
      status: statusOf(error),
    };
    return answerPage(c, parts, { page, signed, refused });
  }
}

async function noticeOf(
  sql: Sql,
  actionId: string | null,
  sessionId: string,
): Promise<FrameRequest["notice"]> {
  if (actionId === null || !UUID.test(actionId)) return undefined;
  const entry = await findOutcome(sql, { actionId, sessionId });
  return entry && { text: entry.notice, isFailure: false };
}

const NOWHERE: Page = {
  path: "/*",
  show: () => Promise.reject(new TerminalError("NOT_FOUND", "There is no page at this address.")),
};

function nothingFound(error: unknown): ShownPage {
  if (!(error instanceof TerminalError) || error.code !== "NOT_FOUND") throw error;
  const body = html`<div class="card"><p>${sentenceOf(error)}</p>
<p>Look for it among the <a href="/ops/actors">actors</a> or the <a href="/ops/stars">stars</a>, or go to the <a href="/ops">overview</a>.</p></div>`;
  return { title: "Nothing here", isMissing: true, body };
}
