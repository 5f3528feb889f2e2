import type { Server, Socket } from "node:net";

/** A crowd behind one address opens fewer; 8,192 silent ones would shut every other client out. */
const SOCKETS_PER_ADDRESS_MAX = 256;

/**
 * Closes at once what one address opens beyond its bound.
 *
 * @param nameOf what a remote address counts for; undefined when it is not counted
 */
export function boundSocketsPerAddress(
  server: Server,
  nameOf: (remoteAddress: string | undefined) => string | undefined,
  max: number = SOCKETS_PER_ADDRESS_MAX,
): void {
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const name = nameOf(socket.remoteAddress);
    if (name === undefined) return;
    const count = (open.get(name) ?? 0) + 1;
    if (count > max) {
      socket.destroy();
      return;
    }
    open.set(name, count);
    socket.once("close", () => {
      const left = (open.get(name) ?? 1) - 1;
      if (left > 0) open.set(name, left);
      else open.delete(name);
    });
  });
}
