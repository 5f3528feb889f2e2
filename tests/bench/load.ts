import { connect, type Socket } from "node:net";
import { takeOrders } from "./observe.ts";
import { requestOf, type Workload } from "./workloads.ts";

/**
 * The clients, in a process of their own: so many connections, each with one request under way.
 * Raw sockets, because on a machine of two cores an HTTP client in JavaScript would use up what
 * it measures.
 */
export interface LoadOrder {
  /** `http://host:port`; with several, each request goes to one of them at random. */
  readonly urls: readonly string[];
  readonly connections: number;
  /** Ends after this time, or … */
  readonly seconds?: number;
  /** … after this many requests. */
  readonly requests?: number;
  /** Number of the first request of the workload. */
  readonly from: number;
  readonly workload: Workload;
}

export interface LoadReport {
  /** Requests that were answered; also how far the workload got. */
  readonly answered: number;
  readonly seconds: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** From the first byte sent to the last one read, milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The slowest of all. */
  readonly maxMs: number;
  /** CPU of the clients, microseconds. */
  readonly cpuUs: number;
  /** A reply that was no 2xx, for the reader. */
  readonly strangest: string;
}

takeOrders(run);

async function run(order: LoadOrder): Promise<LoadReport> {
  const { urls, connections, seconds = Number.POSITIVE_INFINITY, from, workload } = order;
  const requests = order.requests ?? Number.POSITIVE_INFINITY;
  const latencies: number[] = [];
  const byStatus: Record<string, number> = {};
  let strangest = "";
  let next = 0;
  const clients = await Promise.all(
    Array.from({ length: connections }, () => Promise.all(urls.map(openClient))),
  );
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const work = async (mine: readonly Client[]): Promise<void> => {
    while (next < requests && performance.now() < endsAt) {
      const text = requestOf(workload, from + next);
      next += 1;
      const client = mine[mine.length === 1 ? 0 : Math.floor(Math.random() * mine.length)];
      const sentAt = performance.now();
      const reply = await client?.send(text);
      latencies.push(performance.now() - sentAt);
      const status = reply?.slice(9, 12) ?? "";
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      if (!status.startsWith("2") && strangest === "") strangest = reply ?? "";
    }
  };
  await Promise.all(clients.map(work));
  const elapsed = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const client of clients.flat()) client.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return {
    answered: latencies.length,
    seconds: elapsed / 1_000,
    byStatus,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    cpuUs: user + system,
    strangest: strangest.slice(0, 600),
  };
}

interface Client {
  /** Sends a request and resolves with its whole reply. */
  send(request: string): Promise<string>;
  close(): void;
}

function openClient(url: string): Promise<Client> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.setEncoding("latin1");
    let waiting: ((reply: string) => void) | undefined;
    let received = "";
    const settle = (reply: string): void => {
      const settled = waiting;
      waiting = undefined;
      received = "";
      settled?.(reply);
    };
    socket.on("data", (chunk: string) => {
      received = received === "" ? chunk : received + chunk;
      if (isWhole(received)) settle(received);
    });
    socket.once("error", (error) => {
      reject(error);
      settle("HTTP/1.1 000 the connection failed");
    });
    socket.once("close", () => settle("HTTP/1.1 000 the connection was closed"));
    socket.once("connect", () =>
      resolve({
        send: (request) =>
          new Promise((replied) => {
            if (socket.destroyed) return replied("HTTP/1.1 000 there is no connection");
            waiting = replied;
            socket.write(request, "latin1");
          }),
        close: () => socket.destroy(),
      }),
    );
  });
}

function isWhole(reply: string): boolean {
  const end = reply.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const head = reply.slice(0, end);
  const [, length] = /content-length: *(\d+)/i.exec(head) ?? [];
  if (length !== undefined) return reply.length >= end + 4 + Number(length);
  if (/transfer-encoding: *chunked/i.test(head)) return reply.endsWith("0\r\n\r\n");
  return true;
}
