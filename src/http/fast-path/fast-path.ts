import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import { dateByClock, nameOf, SECURITY_HEADERS } from "../middleware/every-reply.ts";
import { requestNote } from "../middleware/request-log.ts";
import { PlainRequest, type Prechecked } from "./request-like.ts";

/**
 * The fast path: frequent requests whose answer is ready are answered without the adapter and Hono's
 * layers, which cost as much as all of our own work. The app alone serves some 0.8 as many of them.
 * The path knows one outcome, the good one. In any other case the app is asked, with what was
 * already found out (`Prechecked`), so that a request is counted once and its key is looked up once.
 */
export type FastPath = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  askApp: AskApp,
) => void;

export type AskApp = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  prechecked?: Prechecked,
) => void;

export interface ReadyAnswer {
  readonly status: 200 | 304;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly bytes: Uint8Array | null;
  /** Path and route pattern, as the log and the metrics name them. */
  readonly path: string;
  readonly keyId: string;
}

/**
 * Finds the ready answer to a request.
 *
 * @returns undefined at once when there is none to look for, and a promise of what was found out
 *   when the look came to nothing
 */
export type FindAnswer = (request: PlainRequest) => Promise<ReadyAnswer | Prechecked> | undefined;

/** What every reply of an app has, whichever way it takes. */
export interface CommonParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The service's clock, epoch ms, which dates replies. */
  readonly now: () => number;
}

/** Makes the fast path of a server whose app is made of the same parts. */
export function fastPath(find: FindAnswer, { log, metrics, now }: CommonParts): FastPath {
  const note = requestNote(log, metrics);
  const date = dateByClock(now);

  const send = (answer: ReadyAnswer, request: PlainRequest, outgoing: ServerResponse): void => {
    const { status, bytes, path, keyId } = answer;
    const requestId = nameOf(request);
    const headers = ["Date", date(), "X-Request-Id", requestId, ...SAFE, ...answer.headers];
    if (bytes === null) {
      outgoing.writeHead(status, headers).end();
    } else {
      headers.push("Content-Type", "application/json", "Content-Length", String(bytes.length));
      outgoing.writeHead(status, headers).end(bytes);
    }
    const ms = performance.now() - request.startedAt;
    note({ requestId, method: "GET", path, route: path, status, ms, keyId });
  };
  return (incoming, outgoing, askApp) => {
    const request = PlainRequest.of(incoming);
    const found = request && find(request);
    if (request === undefined || found === undefined) return askApp(incoming, outgoing);
    found.then(
      (answer) => {
        if ("status" in answer) send(answer, request, outgoing);
        else askApp(incoming, outgoing, answer);
      },
      () => askApp(incoming, outgoing),
    );
  };
}

const SAFE = SECURITY_HEADERS.flat();
