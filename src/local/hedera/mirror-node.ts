import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { coerceError } from "../../errors.ts";
import type { Service } from "../../service.ts";
import type { Ledger } from "./ledger.ts";
import { getAccount, getContract } from "./mirror/accounts.ts";
import { MirrorError, notFound } from "./mirror/errors.ts";
import type { Endpoint, MirrorAnswer } from "./mirror/exchange.ts";
import { getBlocks, getExchangeRate } from "./mirror/network.ts";
import { getAccountNfts, getNft, getTokenNfts } from "./mirror/nfts.ts";
import { readQuery } from "./mirror/parameters.ts";
import { getNftTransactions, getToken } from "./mirror/tokens.ts";
import { getMessage, getMessageAt, getMessages, getTopic } from "./mirror/topics.ts";
import { getTransaction, getTransactions } from "./mirror/transactions.ts";
import type { State } from "./state/state.ts";

/** A mirror node of the local network, listening. */
export interface MirrorNode extends Service {
  /** `http://host:port`, without a path. */
  readonly url: string;
}

/**
 * Stands between a request and its answer, so that a test can spoil either.
 *
 * @param path with its query
 * @param state of the ledger, now
 * @param answer answers as the mirror node does where it has seen this
 */
export type InterceptRequest = (
  path: string,
  state: State,
  answer: (state: State) => Response,
) => Response | Promise<Response>;

const HOST = "127.0.0.1";

const ENDPOINTS: readonly (readonly [path: string, endpoint: Endpoint])[] = [
  ["/accounts/:account", getAccount],
  ["/accounts/:account/nfts", getAccountNfts],
  ["/contracts/:contract", getContract],
  ["/network/exchangerate", getExchangeRate],
  ["/blocks", getBlocks],
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
export async function startMirrorNode(
  ledger: Ledger,
  port = 0,
  intercept: InterceptRequest = (_path, state, answer) => answer(state),
): Promise<MirrorNode> {
  const server = serve({ fetch: mirrorApp(ledger, intercept).fetch, hostname: HOST, port });
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Hanging and idle connections would keep the server open.
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

function mirrorApp({ order }: Ledger, intercept: InterceptRequest): Hono {
  const app = new Hono({ strict: false });
  // As the public mirror nodes do it: any page may read.
  app.use(async (context, next) => {
    await next();
    context.header("Access-Control-Allow-Origin", "*");
  });
  for (const [path, endpoint] of ENDPOINTS) {
    app.get(`/api/v1${path}`, (context) => {
      const url = new URL(context.req.url);
      return intercept(url.pathname + url.search, order.state, (state) => {
        const answer = endpoint({
          state,
          path: url.pathname,
          query: readQuery(url),
          part: (name) => context.req.param(name) ?? "",
        });
        return dataResponse(answer);
      });
    });
  }
  // Unknown paths and other methods alike.
  app.notFound(() => errorResponse(notFound()));
  app.onError((error) => errorResponse(error));
  return app;
}

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" } as const;

function dataResponse({ body, maxAge }: MirrorAnswer): Response {
  const link = body.links?.next ? { link: `<${body.links.next}>; rel="next"` } : {};
  const headers = { ...JSON_TYPE, "cache-control": `public, max-age=${maxAge}`, ...link };
  return new Response(toJson(body), { headers });
}

function errorResponse(error: unknown): Response {
  const { status, messages } =
    error instanceof MirrorError
      ? error
      : { status: 500, messages: [`Internal error: ${coerceError(error).message}`] };
  const body = { _status: { messages: messages.map((message) => ({ message })) } };
  return new Response(JSON.stringify(body), { status, headers: JSON_TYPE });
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
