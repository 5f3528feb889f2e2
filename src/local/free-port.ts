import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const LOOPBACK = "127.0.0.1";
const PORT_MAX = 65_535;

/**
 * A free TCP port: the preferred one if it can be had, else any. Another process may still take
 * it before the caller does, so the caller tries again when binding fails.
 *
 * @throws Error when the host is no address of this machine
 */
export async function freePort(preferred = 0, host = LOOPBACK): Promise<number> {
  const found = (await tryPort(preferred, host)) ?? (await tryPort(0, host));
  if (found === undefined) throw new Error(`no free TCP port on ${host}`);
  return found;
}

/** Whether a server can listen there now; 0 always can. */
export async function isFree(port: number, host: string): Promise<boolean> {
  return (await tryPort(port, host)) !== undefined;
}

/** The port that a file keeps from an earlier start; 0 where it keeps none. */
export function readPort(file: string): number {
  try {
    const port = Number.parseInt(readFileSync(file, "utf8"), 10);
    return port > 0 && port <= PORT_MAX ? port : 0;
  } catch {
    return 0;
  }
}

function tryPort(port: number, host: string): Promise<number | undefined> {
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
