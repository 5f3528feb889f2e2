import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy before a server; its faults last until the next word. */
export interface TcpProxy {
  readonly port: number;
  /** Carries everything again. */
  pass(): void;
  /** Breaks every connection, once. @returns how many there were */
  cut(): number;
  /** Breaks every connection and takes no new one. */
  refuse(): void;
  /** Takes connections and bytes, and passes nothing on, either way. */
  swallow(): void;
  /**
   * Passes requests on, drops the replies to those that hold this text, and breaks their
   * connection: the request takes effect and its client gets no reply.
   */
  keepReplies(to: string): void;
  /** How many connections lost a reply so. */
  repliesKept(): number;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  isMuted: boolean;
}

/** From the first dropped reply to the end of the connection: the rest of the reply is in it. */
const CUT_AFTER_MS = 50;

/** Opens a proxy on a free port of `host` before a server. */
export async function openProxy(
  target: { readonly host: string; readonly port: number },
  host = "127.0.0.1",
): Promise<TcpProxy> {
  const links = new Set<Link>();
  let mode: "pass" | "refuse" | "swallow" = "pass";
  let keep: string | undefined;
  let kept = 0;
  const end = (link: Link): void => {
    links.delete(link);
    link.client.destroy();
    link.server.destroy();
  };
  const listener = createServer((client) => {
    if (mode === "refuse") return void client.destroy();
    const link: Link = { client, server: connect(target), isMuted: false };
    const { server } = link;
    links.add(link);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => end(link));
      socket.on("close", () => end(link));
    }
    client.on("data", (chunk) => {
      if (keep !== undefined && chunk.includes(keep)) link.isMuted = true;
      if (mode === "pass") server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (!link.isMuted) {
        if (mode === "pass") client.write(chunk);
        return;
      }
      if (links.has(link)) kept += 1;
      links.delete(link);
      setTimeout(end, CUT_AFTER_MS, link);
    });
  });
  listener.listen(0, host);
  await once(listener, "listening");
  const cut = (): number => {
    const count = links.size;
    for (const link of links) end(link);
    return count;
  };
  return {
    port: (listener.address() as AddressInfo).port,
    pass() {
      // What was swallowed is missing in the streams: they cannot go on.
      if (mode === "swallow") cut();
      mode = "pass";
      keep = undefined;
    },
    cut,
    refuse() {
      mode = "refuse";
      cut();
    },
    swallow() {
      mode = "swallow";
    },
    keepReplies(to) {
      keep = to;
    },
    repliesKept: () => kept,
    async close() {
      mode = "refuse";
      cut();
      listener.close();
      await once(listener, "close");
    },
  };
}
