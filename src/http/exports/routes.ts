import { type Context, Hono } from "hono";
import { isDay } from "../../../actors/day.ts";
import { RetryableError, TerminalError } from "../../errors.ts";
import {
  type ExportSettings,
  findExport,
  headerOf,
  listExports,
} from "../../journal/export-days.ts";
import { writeExport } from "../../journal/write-export.ts";
import type { Logger } from "../../log.ts";
import type { Sql } from "../../store/postgres.ts";
import { getOnly } from "../middleware/get-only.ts";
import { type RateLimitOptions, rateLimit } from "../middleware/rate-limit.ts";
import { outgoingOf } from "../reply-header.ts";
import { none, readQuery } from "../v1/parameters.ts";
import { clientHas, GZIP_SUFFIX, represent, send, takesGzip } from "../v1/representation.ts";
import { streamText } from "./stream-text.ts";

export interface ExportRoutesDeps extends Omit<RateLimitOptions, "name" | "windowMs" | "code"> {
  /** A pool of its own: a day is read in many pages, and votes and reads wait for none of them. */
  readonly sql: Sql;
  readonly settings: ExportSettings;
  readonly log: Logger;
}

const WINDOW_MS = 60_000;
/** Each holds a page of some hundred kilobytes; more would only wait for each other. */
const STREAMS_MAX = 32;
const RETRY_AFTER_SECONDS = 5;
/** A client that takes nothing for so long is hung up on. */
const STALLED_MS = 30_000;

const FINAL = "public, max-age=31536000, immutable";
const PROVISIONAL = "no-store";
/** Days become final at no set time: ask, and hear 304. */
const LIST = "public, no-cache";

/**
 * The journal of each UTC day for everyone, `GET /exports` and `GET /exports/{day}`; to be mounted
 * at "/exports". Order of checks as under `/v1`: method, rate limit, parameters, record. The
 * format is `src/journal/export-format.ts`.
 */
export function exportRoutes(deps: ExportRoutesDeps): Hono {
  const { sql, settings, log } = deps;
  const limit = rateLimit({ ...deps, name: "exports", windowMs: WINDOW_MS });
  const app = new Hono();
  app.use(getOnly(limit), limit.middleware);
  app.get("/", async (c) => {
    readQuery(none, searchOf(c));
    c.header("Access-Control-Allow-Origin", "*");
    return send(c, represent({ exports: await listExports(sql) }), { cacheControl: LIST });
  });
  let streams = 0;
  app.get("/:day", async (c) => {
    readQuery(none, searchOf(c));
    const day = c.req.param("day");
    if (!isDay(day)) throw malformed();
    const { final, exists } = await findExport(sql, day);
    if (!exists) throw new TerminalError("NOT_FOUND", "The journal has no such day.");
    const isGzip = takesGzip(c);
    describe(c, final?.sha256, isGzip);
    if (final !== null && clientHas(c, final.sha256)) return c.body(null, 304);

    if (streams >= STREAMS_MAX) {
      throw new RetryableError("UNAVAILABLE", "too many exports at once", RETRY_AFTER_SECONDS);
    }
    streams += 1;
    const body = await streamText(
      writeExport(sql, final?.header ?? headerOf(day, settings, null), final?.sha256),
      {
        isGzip,
        onEnd: (error) => {
          streams -= 1;
          if (error !== undefined) log.error({ err: error, day }, "an export broke off");
        },
      },
    );
    hangUpWhenStalled(c);
    c.header("Content-Type", "application/x-ndjson");
    if (isGzip) c.header("Content-Encoding", "gzip");
    return c.body(body, 200);
  });
  return app;
}

/** Bytes of a final day never change, and a strong tag names bytes: one per encoding. */
function describe(c: Context, sha256: string | undefined, isGzip: boolean): void {
  c.header("Access-Control-Allow-Origin", "*");
  c.header("Vary", "Accept-Encoding");
  c.header("Cache-Control", sha256 === undefined ? PROVISIONAL : FINAL);
  if (sha256 !== undefined) c.header("ETag", `"${sha256}${isGzip ? GZIP_SUFFIX : ""}"`);
}

function malformed(): TerminalError {
  return new TerminalError("INVALID_PARAMETER", "The parameter day is no UTC day.", {
    parameter: "day",
    allowed: "date YYYY-MM-DD",
  });
}

/** Absent where no socket is: a request made within the process. */
function hangUpWhenStalled(c: Context): void {
  const outgoing = outgoingOf(c);
  outgoing?.setTimeout(STALLED_MS, () => outgoing.destroy());
}

function searchOf(c: Context): URLSearchParams {
  return new URL(c.req.url).searchParams;
}
