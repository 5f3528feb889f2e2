import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Hono } from "hono";
import { directOf } from "./direct.ts";
import { type BareProblem, bareProblem } from "./problem.ts";

export interface HttpServer {
  /** `http://host:port`, the port as it was really bound. */
  readonly url: string;
  /**
   * Accepts nothing new and lets requests in flight finish; each reply from now on closes
   * its connection.
   *
   * @param graceMs when it is over, what is left is cut
   */
  close(graceMs: number): Promise<void>;
}

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

/** How often a draining server hangs up on connections that have become idle. */
const HANG_UP_EVERY_MS = 50;

/** Listens on `host:port` (0: any free port) and answers with the app. */
export async function serveHttp(
  app: Hono,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HttpServer> {
  const askApp = getRequestListener(app.fetch, { errorHandler: answerUnfit });
  const direct = directOf(app);
  let isDraining = false;
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    if (isDraining) response.setHeader("Connection", "close");
    if (hasOneHost(request)) {
      // The app's replies show that a draining server hangs up; the short way knows only one reply.
      const isAnswered = !isDraining && direct?.(request, response, askApp) === true;
      if (!isAnswered) void askApp(request, response);
      return;
    }
    const { status, headers, text } = bareProblem("INVALID_REQUEST");
    response.writeHead(status, headers).end(text);
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on("clientError", refuseUnparsed);
  // Node would answer 417 without a body; what is expected may as well be ignored (RFC 9110).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  // Node would hang up in silence: no tunnel is offered.
  server.on("connect", (_request, socket) => hangUp(socket, bareProblem("METHOD_NOT_ALLOWED")));
  await listen(server, host, port);
  return {
    url: urlOf(server),
    async close(graceMs) {
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

/** With two, a request is smuggled past a proxy that reads the other one. */
function hasOneHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === "host") hosts++;
  }
  return hosts === 1;
}

/** What the adapter refuses (a Host or target that makes no URL) or nobody caught. */
function answerUnfit(error: unknown): Response {
  const { status, headers, text } = bareProblem(
    error instanceof RequestError ? "INVALID_REQUEST" : "INTERNAL",
  );
  return new Response(text, { status, headers });
}

type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/** What Node's parser refuses gets a JSON answer too. */
function refuseUnparsed(error: ParserError, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
  else hangUp(socket, bareProblem(parserProblem(error)));
}

function parserProblem({ code, rawPacket }: ParserError): Parameters<typeof bareProblem>[0] {
  if (code === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "REQUEST_TIMEOUT";
  // A method word that Node does not know is still "a method other than GET".
  const isPublicApi = /^\S+ \/v1[/? ]/.test(rawPacket?.toString("latin1", 0, 200) ?? "");
  return code === "HPE_INVALID_METHOD" && isPublicApi ? "METHOD_NOT_ALLOWED" : "INVALID_REQUEST";
}

function hangUp(socket: Duplex, { status, headers, text }: BareProblem): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join("\r\n");
  socket.end(`${head}\r\n\r\n${text}`, () => socket.destroy());
}
