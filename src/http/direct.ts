import type { IncomingMessage, ServerResponse } from "node:http";
import type { Hono } from "hono";
import { DirectRequest } from "./direct-request.ts";
import { nameOf } from "./middleware/request-id.ts";
import type { RequestNote } from "./middleware/request-log.ts";
import { SECURITY_HEADERS } from "./middleware/security-headers.ts";

/**
 * The short way for requests that are asked all the time and whose answer lies ready: past the
 * adapter and Hono's layers, which cost as much as all of our own work. It knows one outcome,
 * the good one. Whatever else happens the app is asked, which is given what was already found
 * out (`Begun`), so that a request is counted once and its key is looked up once.
 */

/** A ready answer in JSON. Headers are names and values in turn. */
export interface DirectReply {
  readonly status: 200 | 304;
  readonly headers: readonly string[];
  /** How it stands with the rate limit. */
  readonly rate: readonly string[];
  readonly bytes: Uint8Array | null;
  /** Path and route pattern, as the log and the metrics name them. */
  readonly path: string;
  readonly keyId: string;
}

/**
 * What a part of the service can answer directly.
 *
 * @returns undefined at once when it cannot, and a promise of undefined when it began and found
 *   that it cannot: then it has said what it found out with `begin`
 */
export type DirectPart = (request: DirectRequest) => Promise<DirectReply | undefined> | undefined;

/** Answers a request, or says that the app must be asked. */
export type Direct = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  askApp: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
) => boolean;

/** What every reply of a house has, whichever way it takes. */
interface Common {
  readonly note: RequestNote;
  /** Its `Date`. */
  readonly date: () => string;
}

const parts = new WeakMap<Hono, DirectPart>();
const houses = new WeakMap<Hono, Direct>();

/** Says what an application answers directly when it is mounted in a house at "/". */
export function offerDirectly(app: Hono, part: DirectPart): void {
  parts.set(app, part);
}

/** The short way into a house, for its server; undefined when no part of it offers one. */
export function directOf(house: Hono): Direct | undefined {
  return houses.get(house);
}

/** Opens the short way into a house: what its parts offer, with all that every reply has. */
export function openDirectly(house: Hono, mounted: readonly Hono[], common: Common): void {
  const offered = mounted.flatMap((app) => parts.get(app) ?? []);
  const [part] = offered;
  if (part === undefined) return;
  if (offered.length > 1) throw new RangeError("one part of a house may answer directly");
  houses.set(house, (incoming, outgoing, askApp) => {
    const request = DirectRequest.of(incoming);
    if (request === undefined) return false;
    const answer = part(request);
    if (answer === undefined) return false;
    answer.then(
      (reply) => {
        if (reply === undefined) askApp(incoming, outgoing);
        else send(reply, { request, outgoing, ...common });
      },
      () => askApp(incoming, outgoing),
    );
    return true;
  });
}

const SAFE = SECURITY_HEADERS.flat();

interface Exchange extends Common {
  readonly request: DirectRequest;
  readonly outgoing: ServerResponse;
}

function send(reply: DirectReply, { request, outgoing, note, date }: Exchange): void {
  const { status, bytes, path, keyId } = reply;
  const requestId = nameOf(request);
  const headers = [
    "Date",
    date(),
    "X-Request-Id",
    requestId,
    ...SAFE,
    ...reply.rate,
    ...reply.headers,
  ];
  if (bytes === null) {
    outgoing.writeHead(status, headers).end();
  } else {
    headers.push("Content-Type", "application/json", "Content-Length", String(bytes.length));
    outgoing.writeHead(status, headers).end(bytes);
  }
  const ms = performance.now() - request.startedAt;
  note({ requestId, method: "GET", path, route: path, status, ms, keyId });
}
