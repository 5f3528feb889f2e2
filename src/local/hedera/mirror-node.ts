import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { coerceError } from "../../errors.ts";
import type { Service } from "../../service.ts";
import type { Ledger } from "./ledger.ts";
import { getAccount, getContract } from "./mirror/accounts.ts";
import { getBlock, getBlocks } from "./mirror/blocks.ts";
import { MirrorError, notFound } from "./mirror/errors.ts";
import type { Endpoint, MirrorAnswer } from "./mirror/exchange.ts";
import { getExchangeRate } from "./mirror/exchange-rate.ts";
import { type MirrorFault, type MirrorFaults, noMirrorFaults } from "./mirror/faults.ts";
import { getAccountNfts, getNft, getTokenNfts } from "./mirror/nfts.ts";
import { readQuery } from "./mirror/parameters.ts";
import { getNftTransactions, getToken } from "./mirror/tokens.ts";
import { getMessage, getMessageAt, getMessages, getTopic } from "./mirror/topics.ts";
import { getTransaction, getTransactions } from "./mirror/transactions.ts";
import { NEWEST } from "./mirror/view.ts";
import { type Nanos, nanosOfMs, parseTimestamp } from "./timestamps.ts";

export type { MirrorFault } from "./mirror/faults.ts";

/** A mirror node of the local network, listening. */
export interface MirrorNode extends Service {
  /** `http://host:port`, without a path. */
  readonly url: string;
  /** What is wrong with it, switchable while it runs. */
  readonly faults: MirrorFaults;
}

const HOST = "127.0.0.1";

const ENDPOINTS: readonly (readonly [path: string, endpoint: Endpoint])[] = [
  ["/accounts/:account", getAccount],
  ["/accounts/:account/nfts", getAccountNfts],
  ["/contracts/:contract", getContract],
  ["/network/exchangerate", getExchangeRate],
  ["/blocks", getBlocks],
  ["/blocks/:block", getBlock],
  ["/tokens/:token", getToken],
  ["/tokens/:token/nfts", getTokenNfts],
  ["/tokens/:token/nfts/:serial", getNft],
  ["/tokens/:token/nfts/:serial/transactions", getNftTransactions],
  ["/topics/messages/:timestamp", getMessageAt],
  ["/topics/:topic", getTopic],
  ["/topics/:topic/messages", getMessages],
  ["/topics/:topic/messages/:sequence", getMessage],
  ["/transactions", getTransactions],
  ["/transactions/:id", getTransaction],
];

/**
 * Starts the mirror node of a ledger: the REST interface under `/api/v1`.
 *
 * @param port a free one when absent
 * @throws Error when the port is taken
 */
export async function startMirrorNode(ledger: Ledger, port = 0): Promise<MirrorNode> {
  const faults = noMirrorFaults();
  const app = mirrorApp(ledger, faults);
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${bound}`,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Hanging and idle connections would keep the server open.
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

function mirrorApp(ledger: Ledger, faults: MirrorFaults): Hono {
  const app = new Hono({ strict: false });
  for (const [path, endpoint] of ENDPOINTS) {
    app.get(`/api/v1${path}`, (context) => respond({ context, ledger, faults, endpoint }));
  }
  // Unknown paths and other methods alike.
  app.notFound(() => errorResponse(notFound()));
  app.onError((error) => errorResponse(error));
  return app;
}

interface Exchange {
  readonly context: Context;
  readonly ledger: Ledger;
  readonly faults: MirrorFaults;
  readonly endpoint: Endpoint;
}

async function respond({ context, ledger, faults, endpoint }: Exchange): Promise<Response> {
  const url = new URL(context.req.url);
  const struck = faults.strike(url.pathname + url.search);
  const spoiled = await spoil(struck);
  if (spoiled !== undefined) return spoiled;
  const answer = endpoint({
    view: {
      state: ledger.order.state,
      asOf: visibleUntil(ledger, struck),
      since: visibleSince(struck),
    },
    path: url.pathname,
    query: readQuery(url),
    part: (name) => context.req.param(name) ?? "",
  });
  const foreign = struck.find((fault) => fault.kind === "foreign-next");
  return dataResponse(foreign === undefined ? answer : redirected(answer, foreign.url));
}

async function spoil(struck: readonly MirrorFault[]): Promise<Response | undefined> {
  for (const fault of struck) {
    if (fault.kind === "hang") return new Promise(() => undefined);
    if (fault.kind === "garbage") {
      return new Response(fault.body ?? '{"nfts":[{"account_id":', { headers: JSON_TYPE });
    }
    if (fault.kind === "fail") {
      const { status, html = false, headers = {} } = fault;
      const [body, type] = html
        ? [`<html><body><h1>${status}</h1></body></html>`, { "content-type": "text/html" }]
        : [statusBody([`Failed with ${status}`]), JSON_TYPE];
      return new Response(body, { status, headers: { ...type, ...headers } });
    }
  }
  return undefined;
}

function visibleUntil(ledger: Ledger, struck: readonly MirrorFault[]): Nanos {
  const instants = struck.flatMap((fault) => {
    if (fault.kind === "lag") return [nanosOfMs(ledger.now() - fault.ms)];
    return fault.kind === "replica-flip" ? [parseTimestamp(fault.asOf)] : [];
  });
  return instants.reduce((least, at) => (at < least ? at : least), NEWEST);
}

function visibleSince(struck: readonly MirrorFault[]): Nanos {
  const late = struck.find((fault) => fault.kind === "late-start");
  return late === undefined ? 0n : parseTimestamp(late.since);
}

function redirected(answer: MirrorAnswer, next: string): MirrorAnswer {
  return "links" in answer.body
    ? { ...answer, body: { ...answer.body, links: { next } }, next }
    : answer;
}

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" } as const;

function dataResponse({ body, maxAge, next, status = 200 }: MirrorAnswer): Response {
  const link = next ? { link: `<${next}>; rel="next"` } : {};
  const headers = { ...JSON_TYPE, "cache-control": `public, max-age=${maxAge}`, ...link };
  return new Response(toJson(body), { status, headers });
}

function errorResponse(error: unknown): Response {
  const { status, messages } =
    error instanceof MirrorError
      ? error
      : { status: 500, messages: [`Internal error: ${coerceError(error).message}`] };
  return new Response(statusBody(messages), { status, headers: JSON_TYPE });
}

function statusBody(messages: readonly string[]): string {
  return JSON.stringify({ _status: { messages: messages.map((message) => ({ message })) } });
}

/** Unguessable, so that no text of a message can pass for a number. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/** JSON in which bigints are plain numbers: the mirror node writes int64 so, of any size. */
function toJson(body: unknown): string {
  const text = JSON.stringify(body, (_, value) =>
    typeof value === "bigint" ? `${MARK}${value}` : value,
  );
  return text.replace(MARKED, "$1");
}
