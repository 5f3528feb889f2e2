import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * An address that leads to a server, and can be led to another one, as a proxy or a name does. It
 * ends with its process.
 */
export interface Relay {
  readonly port: number;
  /** From now on; connections that are open are cut, unless they are to stay. */
  leadTo(port: number, open?: "cut" | "kept"): void;
  /** Cuts what is open and takes no more, as a network that is broken. */
  cut(): void;
}

/** @param target a port of 127.0.0.1 */
export async function openRelay(target: number): Promise<Relay> {
  let leadsTo: number | undefined = target;
  const sockets = new Set<Socket>();
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (leadsTo === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(leadsTo, "127.0.0.1");
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.setNoDelay(true);
      one.on("error", () => undefined);
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port, open = "cut") {
      leadsTo = port;
      if (open === "cut") cutAll();
    },
    cut() {
      leadsTo = undefined;
      cutAll();
    },
  };
}
