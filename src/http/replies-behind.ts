import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Replies that wait on a connection for those to earlier requests of a pipeline. */
const behind = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Closes a reply with its connection also where its turn has not come. Node closes the one that is being
 * sent alone: a stream behind it would stay open, and hold its place among all streams, without end.
 */
export function closeWithConnection({ socket }: IncomingMessage, reply: ServerResponse): void {
  if (reply.socket !== null) return;
  const known = behind.get(socket);
  const replies = known ?? new Set();
  replies.add(reply);
  reply.once("socket", () => replies.delete(reply));
  if (known !== undefined) return;
  behind.set(socket, replies);
  socket.once("close", () => {
    for (const each of replies) each.destroy().emit("close");
  });
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
