import { createServer } from "node:net";

/**
 * A TCP port of 127.0.0.1 that nobody listens on: the preferred one if it can
 * be had, else any. Somebody may still take it before the caller does, so the
 * caller tries again when binding fails.
 */
export async function freePort(preferred = 0): Promise<number> {
  return (await tryPort(preferred)) ?? (await tryPort(0)) ?? failToFind();
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      const found = typeof address === "object" ? address?.port : undefined;
      server.close(() => resolve(found));
    });
  });
}

function failToFind(): never {
  throw new Error("no free TCP port on 127.0.0.1");
}
