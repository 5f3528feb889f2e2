import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Replies that wait on a connection for those to earlier requests of a pipeline. */
const behind = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Behind a stream they wait without end, at some 13 KB each, and a packet holds 1,700 requests. Load
 * generators pipeline a hundred, other clients a page's files.
 */
const BEHIND_MAX = 128;

/**
 * Closes a reply with its connection also where its turn has not come. Node closes the one that is being
 * sent alone: a stream behind it would stay open, and hold its place among all streams, without end.
 * A connection on which too many wait is closed.
 *
 * @returns false where it is closed: then the request is not to be answered
 */
export function closeWithConnection({ socket }: IncomingMessage, reply: ServerResponse): boolean {
  // The parser goes on to the end of the packet.
  if (socket.destroyed) return false;
  if (reply.socket !== null) return true;
  const known = behind.get(socket);
  const replies = known ?? new Set();
  if (replies.size === BEHIND_MAX) {
    socket.destroy();
    return false;
  }
  replies.add(reply);
  reply.once("socket", () => replies.delete(reply));
  if (known !== undefined) return true;
  behind.set(socket, replies);
  socket.once("close", () => {
    for (const each of replies) each.destroy().emit("close");
  });
  return true;
}

/**
 * Resolves when a reply is the one that its connection sends, or is closed before that.
 *
 * @returns undefined where it is so already
 */
export function turnOf(reply: ServerResponse): Promise<void> | undefined {
  if (reply.socket !== null || reply.destroyed) return undefined;
  return new Promise((resolve) => {
    reply.once("socket", () => resolve());
    reply.once("close", resolve);
  });
}

/**
 * Answers what was refused on a socket once all that came before it there has its reply. The
 * rest of a request whose reply is on its way breaks that reply off.
 *
 * @param newest the reply to the newest request on the socket, while it is under way
 */
export function inTurn(
  newest: ServerResponse | undefined,
  socket: Duplex,
  answer: () => void,
): void {
  if (newest?.req.complete) newest.once("close", () => socket.writable && answer());
  // The socket comes to a reply once those before it are sent.
  else if (newest?.socket === null && !newest.writableFinished)
    newest.once("socket", () => inTurn(newest, socket, answer));
  else if (socket.writable && !newest?.headersSent) answer();
  else socket.destroy();
}
