import { type Context, Hono, type MiddlewareHandler } from "hono";
import { isDay } from "../../../actors/day.ts";
import { TerminalError } from "../../errors.ts";
import { type FinalDay, findExport, headerOf, listExports } from "../../journal/export-days.ts";
import type { ExportSettings } from "../../journal/export-settings.ts";
import { writeExport } from "../../journal/write-export.ts";
import type { Logger } from "../../log.ts";
import type { Sql } from "../../store/postgres.ts";
import { type Limited, rateLimit } from "../middleware/rate-limit.ts";
import { methodNotAllowed, problem } from "../problem.ts";
import { turnOf } from "../replies-behind.ts";
import { outgoingOf, setReplyHeader } from "../reply-header.ts";
import { createStreamLimit, type StreamRefusal } from "../stream-limit.ts";
import { none, parseSearch, readQuery, searchOf } from "../v1/parameters.ts";
import { clientHas, GZIP_SUFFIX, represent, send, takesGzip } from "../v1/representation.ts";
import { type ByteRange, byteRange, sliceBytes } from "./byte-range.ts";
import { cutWhenSlow, type LeastRate, streamText } from "./stream-text.ts";

export interface ExportRoutesDeps extends Limited {
  /** Requests per client and 60 s. */
  readonly limit: number;
  /** A pool of its own: a day is read in many pages, and votes and reads wait for none of them. */
  readonly sql: Sql;
  readonly settings: ExportSettings;
  readonly log: Logger;
  /** What a reader must take; that of the contract when absent. */
  readonly leastRate?: LeastRate;
}

/** Each holds a page of some hundred kilobytes; more would only wait for each other. */
const STREAMS_MAX = 32;
/** A client that reads several days side by side; more would shut out the others. */
const STREAMS_PER_CLIENT_MAX = 4;
const RETRY_AFTER_SECONDS = 5;

const FINAL = "public, max-age=31536000, immutable";
const PROVISIONAL = "no-store";
/** Days become final at no set time: a client asks again, and gets 304. */
const LIST = "public, no-cache";

/**
 * The journal of each UTC day for everyone, `GET /exports` and `GET /exports/{day}`; to be mounted
 * at "/exports". Order of checks as under `/v1`: rate limit, method, parameters, record. The
 * format is `src/journal/export-format.ts`.
 */
export function exportRoutes(deps: ExportRoutesDeps): Hono {
  const { sql, settings, log } = deps;
  const limit = rateLimit({ ...deps, name: "exports" });
  const app = new Hono();
  app.use(limit.middleware, readingMethods);
  app.get("/", async (c) => {
    readQuery(none, parseSearch(searchOf(c.req.url)));
    c.header("Access-Control-Allow-Origin", "*");
    return send(c, represent({ exports: await listExports(sql) }), { cacheControl: LIST });
  });
  const streamLimit = createStreamLimit(STREAMS_MAX, STREAMS_PER_CLIENT_MAX);
  // Behind other replies of its connection a reader takes nothing: it waits without a place.
  const waitLimit = createStreamLimit(undefined, STREAMS_PER_CLIENT_MAX);
  app.get("/:day", async (c) => {
    // A socket that is gone by its turn has no address.
    const client = deps.client(c);
    readQuery(none, parseSearch(searchOf(c.req.url)));
    const day = c.req.param("day");
    if (!isDay(day)) throw malformed();
    const { final, settings: noted, exists } = await findExport(sql, day);
    if (!exists) throw new TerminalError("NOT_FOUND", "The journal has no such day.");
    const isKnown = final !== null && clientHas(c, final.sha256);
    // A client that has it asks for no part (RFC 9110, section 13.2.2).
    const range = final === null || isKnown ? undefined : rangeOf(c, final);
    if (range === "unsatisfiable") {
      setReplyHeader(c, "Content-Range", `bytes */${final?.bytes}`);
      return problem(c, "RANGE_NOT_SATISFIABLE");
    }
    const isGzip = range === undefined && takesGzip(c);
    if (isKnown || c.req.method === "HEAD") {
      describe(c, { final, isGzip, range });
      return c.body(null, isKnown ? 304 : 200);
    }
    const outgoing = outgoingOf(c);
    const turn = outgoing && turnOf(outgoing);
    if (turn !== undefined) {
      const stopWaiting = waitLimit.take(client);
      if (typeof stopWaiting !== "function") return refusal(c, stopWaiting);
      await turn;
      stopWaiting();
    }
    const release = streamLimit.take(client);
    if (typeof release !== "function") return refusal(c, release);
    const header = final?.header ?? headerOf(day, noted ?? settings, null);
    const text = writeExport(sql, header, final?.sha256);
    const body = await streamText(range === undefined ? text : sliceBytes(text, range), {
      isGzip,
      onEnd: (error) => {
        release();
        if (error !== undefined) log.error({ err: error, day }, "an export's reply was aborted");
      },
    });
    if (outgoing !== undefined) cutWhenSlow(outgoing, deps.leastRate);
    describe(c, { final, isGzip, range });
    return c.body(body, range === undefined ? 200 : 206);
  });
  return app;
}

const readingMethods: MiddlewareHandler = async function readingMethods(c, next) {
  const allow = /^\/exports\/[^/]+$/.test(c.req.path) ? "GET, HEAD" : "GET";
  return allow.split(", ").includes(c.req.method) ? next() : methodNotAllowed(c, { allow });
};

/** A part of the identity coding, for a GET whose `If-Range`, where it has one, names those bytes. */
function rangeOf(c: Context, { sha256, bytes }: FinalDay): ReturnType<typeof byteRange> {
  const condition = c.req.header("if-range");
  const isSame = condition === undefined || condition === `"${sha256}"`;
  return c.req.method === "GET" && isSame ? byteRange(c.req.header("range"), bytes) : undefined;
}

/** Bytes of a final day never change, and a strong tag names bytes: one per encoding. */
function describe(
  c: Context,
  given: {
    readonly final: FinalDay | null;
    readonly isGzip: boolean;
    readonly range: ByteRange | undefined;
  },
): void {
  const { final, isGzip, range } = given;
  c.header("Access-Control-Allow-Origin", "*");
  c.header("Vary", "Accept-Encoding");
  c.header("Cache-Control", final === null ? PROVISIONAL : FINAL);
  c.header("Content-Type", "application/x-ndjson");
  if (isGzip) c.header("Content-Encoding", "gzip");
  if (final === null) return;
  c.header("ETag", `"${final.sha256}${isGzip ? GZIP_SUFFIX : ""}"`);
  c.header("Accept-Ranges", "bytes");
  const { first, last } = range ?? { first: 0, last: final.bytes - 1 };
  if (!isGzip) c.header("Content-Length", String(last - first + 1));
  if (range !== undefined) c.header("Content-Range", `bytes ${first}-${last}/${final.bytes}`);
}

function refusal(c: Context, { code, message }: StreamRefusal): Response {
  return problem(c, code, { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function malformed(): TerminalError {
  return new TerminalError("INVALID_PARAMETER", "The parameter day is no UTC day.", {
    parameter: "day",
    allowed: "date YYYY-MM-DD",
  });
}
