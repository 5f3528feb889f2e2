import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/**
 * A free TCP port of 127.0.0.1: the preferred one if it can
 * be had, else any. Another process may still take it before the caller does, so the
 * caller tries again when binding fails.
 */
export async function freePort(preferred = 0): Promise<number> {
  return (await tryPort(preferred)) ?? (await tryPort(0)) ?? failToFind();
}

/** Whether a server can listen there now; 0 always can. */
export async function isFree(port: number, host: string): Promise<boolean> {
  return (await tryPort(port, host)) !== undefined;
}

/** The port that a file keeps from an earlier start; 0 without one. */
export function readPort(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}

function tryPort(port: number, host = "127.0.0.1"): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const found = typeof address === "object" ? address?.port : undefined;
      server.close(() => resolve(found));
    });
  });
}

function failToFind(): never {
  throw new Error("no free TCP port on 127.0.0.1");
}
