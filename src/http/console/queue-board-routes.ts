import type { Context, Hono } from "hono";
import { TerminalError } from "../../errors.ts";
import { allows } from "../../keys/operators.ts";
import { actLogged } from "../../store/operator-log.ts";
import { pagePolicy } from "../reply-header.ts";
import { isSameOrigin } from "./forms.ts";
import type { Gate, Signed } from "./gate.ts";
import { html, section } from "./markup.ts";
import type { ConsoleDeps, Page, PagesDeps } from "./page.ts";
import { BOARD_PATH, QUEUES, type QueueBoard } from "./queue-board.ts";
import { foreignForm, notAllowed, secured } from "./reply.ts";

interface BoardRoutesDeps extends ConsoleDeps {
  readonly gate: Gate;
  readonly board: QueueBoard;
}

/** The console's policy, but for the styles that Bull Board has inside its page and adds by script. */
const BOARD_POLICY = pagePolicy({
  "style-src": "'self' 'unsafe-inline'",
  "font-src": "'self'",
  "img-src": "'self' data:",
  "base-uri": "'self'",
  "form-action": "'none'",
});
/** Names of files hold their hash. */
const FILES_CACHE = "private, max-age=86400";

/**
 * What may be done, by what Bull Board's page sends. What empties or fills a queue is not among it,
 * nor a job named `clean` or `retry`: there Bull Board sees an act on the whole queue.
 */
const ACTS: readonly (readonly [name: string, path: RegExp])[] = [
  ["queues.retry-failed", /^\/api\/queues\/([^/]+)\/retry\/failed$/],
  ["queues.retry", /^\/api\/queues\/([^/]+\/(?!clean\/|retry\/)[^/]+)\/retry$/],
  ["queues.promote", /^\/api\/queues\/([^/]+\/(?!clean\/|retry\/)[^/]+)\/promote$/],
];
const SUBJECT_MAX = 200;
/** Bull Board hands them to Redis as they are; 20,000 jobs take four seconds and 160 MB. Its page asks for 300. */
const NUMBERS = { page: 999_999, jobsPerPage: 300 };
const ACTS_NEED = "admin";

/**
 * Bull Board behind the console's door, below `/queues/board`: for operators who are signed in;
 * acts come from our own pages alone, and each has its lines in the operator log.
 */
export function serveQueueBoard(app: Hono, deps: BoardRoutesDeps): void {
  const handle = (c: Context) => answer(c, deps);
  app.all("/queues/board", handle);
  app.all("/queues/board/*", handle);
}

async function answer(c: Context, deps: BoardRoutesDeps): Promise<Response> {
  const { gate, board, publicUrl } = deps;
  // Decoded, as Bull Board's own routes will see it.
  const path = c.req.path.slice(BOARD_PATH.length);
  // The page asks for numbers by itself: that keeps no session alive.
  const isQuiet = c.req.method === "GET" && path.startsWith("/api/");
  const signed = await gate.find(c, isQuiet ? "look" : "use");
  if (signed === null) return gate.refuse(c);
  const mayAct = allows(signed.session.role, ACTS_NEED);
  if (c.req.method === "GET") {
    for (const [name, most] of Object.entries(NUMBERS)) {
      const isNumber = (text: string) => /^\d{1,6}$/.test(text) && Number(text) <= most;
      if (c.req.queries(name)?.every(isNumber) === false) {
        throw new TerminalError("INVALID_REQUEST", `${name} must be a whole number up to ${most}`);
      }
    }
    const shown = secureBoard(c, await board.answer(c.req.raw, mayAct));
    if (path.startsWith("/static/")) shown.headers.set("Cache-Control", FILES_CACHE);
    return shown;
  }
  if (!isSameOrigin(c, publicUrl)) return foreignForm(c);
  if (!mayAct) return notAllowed(c, signed.session, ACTS_NEED);
  return secureBoard(c, await act(c, deps, { signed, path }));
}

/** Does what one of our own pages asks for, between two lines of the operator log. */
async function act(
  c: Context,
  { board, sql }: BoardRoutesDeps,
  { signed, path }: { readonly signed: Signed; readonly path: string },
): Promise<Response> {
  const [name, subject] = actOf(c.req.method, path);
  if (name === undefined || subject === undefined) {
    const message = "Here jobs are retried, and nothing else is changed.";
    return Response.json({ error: message, message }, { status: 403 });
  }
  let reply: Response | undefined;
  const run = async () => {
    reply = await board.answer(c.req.raw, true);
    if (!reply.ok) throw new TerminalError("INVALID_REQUEST", "the queue did not take it");
    return { notice: "The job is tried again." };
  };
  try {
    await actLogged(sql, { actor: signed.actor, name, subject }, run);
  } catch (error) {
    if (reply === undefined || reply.ok) throw error;
  }
  return reply as Response;
}

function actOf(method: string, path: string): readonly [name?: string, subject?: string] {
  // A NUL byte is no text to Postgres, and in no job's id.
  if (method !== "PUT" || path.includes("\u0000")) return [];
  for (const [name, pattern] of ACTS) {
    const [, subject] = pattern.exec(path) ?? [];
    if (subject !== undefined) return [name, subject.slice(0, SUBJECT_MAX)];
  }
  return [];
}

/** The headers of every reply of the console, with the board's own policy. */
function secureBoard(c: Context, reply: Response): Response {
  secured(c).header("Content-Security-Policy", BOARD_POLICY);
  return c.newResponse(reply.body, reply);
}

/** What BullMQ's queues are for, and the way to them: they are wake-ups and hand-offs. */
export function queuesPage({ board }: Pick<PagesDeps, "board">): Page {
  const way =
    board === undefined
      ? html`<p class="notice" role="status">There are no queues here: this Redis is not fit for BullMQ. Web and worker are one process and wake each other directly, and stars for rewards wait in Postgres.</p>`
      : html`<p><a class="button" href="${BOARD_PATH}">Open Bull Board</a></p>`;
  const body = html`<p class="lead">If the queues are emptied no star is lost: Postgres knows what must be published, checked or offered to rewards.</p>
${way}
${QUEUES.map(({ name, purpose }) => section(name, html`<p>${purpose}</p>`))}`;
  return {
    path: "/queues",
    nav: ["Upkeep", "Queues"],
    show: async () => ({ title: "Queues", body }),
  };
}
