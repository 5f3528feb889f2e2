import { setTimeout as pause } from "node:timers/promises";
import { type Dispatcher, request } from "undici";
import { coerceError } from "../errors.ts";
import { readRetryAfter } from "../ledger/mirror/answer.ts";

export type Reply = Pick<Dispatcher.ResponseData, "headers" | "body">;

const TIMEOUT_MS = 60_000;
/** Limits are windows of a minute: a service that refuses for longer is not limiting. */
const PATIENCE_MS = 10 * 60_000;
/** A restart takes seconds; a mistyped address is reported soon. */
const PATIENCE_WITHOUT_HINT_MS = 10_000;
const WAIT_MS_MAX = 120_000;
const SECOND_MS = 1_000;
/** What of a refusal is repeated. */
const SAID_MAX = 200;
/** A page of 100 records with their longest texts is a tenth of it. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;
/** What a service under load, or the gateway before one that restarts, answers. */
const MAY_PASS = new Set([429, 502, 503, 504]);

/**
 * GET that obeys `Retry-After` for ten minutes at most, and outlives a restart of the service.
 *
 * @throws Error in one line for any other answer than 200
 */
export async function fetchWithRetry(
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const { pathname } = new URL(address);
  const startedAt = performance.now();
  for (;;) {
    const reply = await ask(address, headers);
    if (!(reply instanceof Error) && reply.statusCode === 200) return reply;
    const retryAfter =
      reply instanceof Error ? undefined : reply.headers["retry-after"]?.toString();
    const waitMs = retryAfter === undefined ? 0 : readRetryAfter(retryAfter);
    const mayPass = reply instanceof Error || MAY_PASS.has(reply.statusCode);
    const why = reply instanceof Error ? reply.message : await refusalIn(reply);
    const patienceMs = retryAfter === undefined ? PATIENCE_WITHOUT_HINT_MS : PATIENCE_MS;
    if (!mayPass || waitMs > WAIT_MS_MAX || performance.now() - startedAt >= patienceMs) {
      throw new Error(`${pathname}: ${why}`);
    }
    await pause(Math.max(waitMs, SECOND_MS));
  }
}

/** Stars are dated by the database's clock, replies by the web server's, and that in whole seconds. */
export const CLOCK_DOUBT_MS = 5_000;

/** The reply's `Date`, this machine's clock where there is none; epoch milliseconds. */
export function dateOf({ headers }: Pick<Reply, "headers">): number {
  const dated = Date.parse(String(headers.date ?? ""));
  return Number.isFinite(dated) ? dated : Date.now();
}

/** The whole of a reply, as JSON. @throws Error when it is none, breaks off or is too long */
export async function jsonOf({ body }: Reply): Promise<unknown> {
  const text = await readText(body, BODY_BYTES_MAX);
  if (text.length > BODY_BYTES_MAX) throw new Error("more bytes than any answer has");
  return JSON.parse(text);
}

/** @returns the reply, or why none came */
async function ask(
  address: string,
  headers: Readonly<Record<string, string>>,
): Promise<Dispatcher.ResponseData | Error> {
  try {
    return await request(address, {
      headers: { ...headers },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
  } catch (error) {
    return coerceError(error);
  }
}

async function refusalIn({ statusCode, body }: Dispatcher.ResponseData): Promise<string> {
  const said = await readText(body, SAID_MAX).catch(() => "");
  return `HTTP ${statusCode} ${said.slice(0, SAID_MAX)}`;
}

/** Text up to a number of characters, and a little more where there is more: the rest is not read. */
async function readText(body: Reply["body"], most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > most) break;
  }
  return text;
}
