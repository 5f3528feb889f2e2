import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Hono } from "hono";
import type { AskApp, FastPath } from "./fast-path/fast-path.ts";
import { boundSocketsPerAddress } from "./middleware/client-address.ts";
import { type BareProblem, bareProblem } from "./problem.ts";
import { closeWithConnection, inTurn } from "./replies-behind.ts";
import { type ParserError, tunnelRequest, unknownMethodRequest } from "./unknown-method.ts";

export type HttpServer = Awaited<ReturnType<typeof serveHttp>>;

/** Slow senders: headers within 5 s, the whole request within 10 s, looked at every second. */
const SERVER_OPTIONS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
  // Ours says the same in JSON, see `hasOneHost`.
  requireHostHeader: false,
} as const;
/** A connection costs some 10 KB; beyond these, new ones are closed at once. */
const CONNECTIONS_MAX = 8_192;

/**
 * A client that takes nothing of its reply would hold its connection without end. Node compares with
 * the last look, so it is cut off after once to twice this time.
 */
const UNREAD_MS = 30_000;

/** How often a draining server hangs up on connections that have become idle. */
const HANG_UP_EVERY_MS = 50;

/** Where connections keep coming, those of this time are taken and no later ones. */
const WAITING_MAX_MS = 500;

const LISTENER = { hostname: "localhost", errorHandler: answerUnfit };

/** Where a server listens, and what it looks at before it asks its app. */
export interface ServeOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly fastPath?: FastPath;
  /** What a socket's address counts for; sockets of one address are not bounded when absent. */
  readonly socketAddress?: (remoteAddress: string | undefined) => string | undefined;
  /** How often it is looked whether a client takes its reply; that of a service when absent. */
  readonly unreadMs?: number;
}

export async function serveHttp(
  app: Hono,
  { host, port, fastPath, socketAddress, unreadMs = UNREAD_MS }: ServeOptions,
) {
  const answer = getRequestListener(app.fetch, LISTENER);
  const askApp: AskApp = (incoming, outgoing, prechecked) => {
    if (prechecked === undefined) return void answer(incoming, outgoing);
    // A listener of its own hands on by argument what is known of this one request.
    const listener = (request: Request, env: object) => app.fetch(request, { prechecked, ...env });
    void getRequestListener(listener, LISTENER)(incoming, outgoing);
  };
  let isDraining = false;
  const newest = new WeakMap<Duplex, ServerResponse>();
  // A connection that rests keeps nothing of its last request.
  function forget(this: ServerResponse): void {
    const { socket } = this.req;
    if (newest.get(socket) === this) newest.delete(socket);
  }
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    if (!closeWithConnection(request, response)) return;
    newest.set(request.socket, response);
    response.on("close", forget);
    if (isDraining) response.setHeader("Connection", "close");
    // A reply of which nothing waits is being made: that is our time.
    response.setTimeout(unreadMs, () => response.writableLength > 0 && response.destroy());
    if (hasOneHost(request) && hasFewEscapes(request)) {
      if (fastPath === undefined) askApp(request, response);
      else fastPath(request, response, askApp);
      return;
    }
    const { status, headers, text } = bareProblem("INVALID_REQUEST");
    response.writeHead(status, headers).end(text);
  });
  server.maxConnections = CONNECTIONS_MAX;
  // Node would leave out those after the first 1,000 in silence: a second Host, or what a proxy adds.
  server.maxHeadersCount = 0;
  if (socketAddress !== undefined) boundSocketsPerAddress(server, socketAddress);
  // By the app where it has a request for it: counted, with the headers of its path.
  const refuse = (socket: Duplex, code: BareCode, asked: Request | undefined): void =>
    inTurn(newest.get(socket), socket, () => {
      if (asked === undefined) hangUp(socket, bareProblem(code));
      else void hangUpWith(app, asked, socket);
    });
  const refused = new WeakSet<Duplex>();
  server.on("clientError", (error: ParserError, socket) => {
    // The parser reports an error for the bytes that come next, too.
    if (refused.has(socket)) return;
    refused.add(socket);
    refuse(socket, parserProblem(error), unknownMethodRequest(error));
  });
  // Node would answer 417 without a body; what is expected may as well be ignored (RFC 9110).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  // Node would hang up in silence: no tunnel is offered.
  server.on("connect", (request, socket) => {
    // Node has taken its own listener off: a client that hangs up must not end the process.
    socket.on("error", () => socket.destroy());
    refuse(socket, "METHOD_NOT_ALLOWED", tunnelRequest(request));
  });
  await listen(server, host, port);
  return {
    /** `http://host:port`, the port as it was really bound. */
    url: urlOf(server),
    /** Accepts the connections that wait for it; each reply from now on closes its connection. */
    async acceptWaiting(): Promise<void> {
      isDraining = true;
      await acceptWaiting(server);
    },
    /**
     * Accepts nothing new and lets requests in flight finish; each reply from now on closes
     * its connection.
     *
     * @param graceMs when it is over, what is left is cut
     */
    async close(graceMs: number): Promise<void> {
      isDraining = true;
      const closed = new Promise((resolve) => server.close(resolve));
      const idle = setInterval(() => server.closeIdleConnections(), HANG_UP_EVERY_MS);
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}

/** Clients of connections that wait may have sent a request already: a port that closes resets them. */
async function acceptWaiting(server: Server): Promise<void> {
  const endsAt = performance.now() + WAITING_MAX_MS;
  let accepted: boolean;
  const note = () => {
    accepted = true;
  };
  server.on("connection", note);
  do {
    accepted = false;
    // Node accepts one a turn; the first turn may be over already.
    await turn();
    await turn();
  } while (accepted && performance.now() < endsAt);
  server.off("connection", note);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/**
 * With two, a request is smuggled past a proxy that reads the other one. HTTP/1.0 knows no hosts, and
 * load balancers still check a server's health by it.
 */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === "host") hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

/** A search of 300 characters, the longest there is, has 900 at most. */
const ESCAPES_MAX = 1_024;

/** Hono decodes each broken escape of a target by itself, more than once: 16 KiB of them take 60 ms. */
function hasFewEscapes({ url = "" }: IncomingMessage): boolean {
  return url.length < ESCAPES_MAX || url.split("%").length <= ESCAPES_MAX + 1;
}

/** What the adapter refuses (a Host or target that makes no URL), and errors that went uncaught. */
function answerUnfit(error: unknown): Response {
  const { status, headers, text } = bareProblem(
    error instanceof RequestError ? "INVALID_REQUEST" : "INTERNAL",
  );
  return new Response(text, { status, headers });
}

type BareCode = Parameters<typeof bareProblem>[0];

function parserProblem({ code }: ParserError): BareCode {
  if (code === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "REQUEST_TIMEOUT" : "INVALID_REQUEST";
}

/** Answers a request of an unknown method by the app. */
async function hangUpWith(app: Hono, request: Request, socket: Duplex): Promise<void> {
  try {
    const reply = await app.fetch(request, { incoming: { socket } });
    const text = await reply.text();
    const headers = {
      ...Object.fromEntries(reply.headers),
      "content-length": String(Buffer.byteLength(text)),
      connection: "close",
    };
    hangUp(socket, { status: reply.status, headers, text });
  } catch {
    socket.destroy();
  }
}

function hangUp(
  socket: Duplex,
  { status, headers, text }: Omit<BareProblem, "status"> & { readonly status: number },
): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join("\r\n");
  socket.end(`${head}\r\n\r\n${text}`, () => socket.destroy());
}
