import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ReadLimits } from "../../../src/ledger/mirror/limits.ts";
import { MirrorClient, type MirrorNode } from "../../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../../src/log.ts";

/** A server that says what a test wants a mirror node to say. */
export interface MirrorStub {
  readonly url: string;
  /** Paths with queries, as they were asked. */
  readonly asked: string[];
  /** Sockets the client holds open now. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

export type Reply = (response: ServerResponse, path: string, request: IncomingMessage) => void;

/** @param reply answers, or leaves the request hanging by doing nothing */
export async function mirrorStub(reply: Reply): Promise<MirrorStub> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    reply(response, request.url ?? "", request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends JSON as the mirror node does. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

/** The mirror node's answer about an unknown entity. */
export const NOT_FOUND = { _status: { messages: [{ message: "Not found" }] } };

/** Replies one after the other; the last one for all further requests. */
export function inSequence(...replies: readonly Reply[]): Reply {
  let turn = 0;
  return (response, path, request) =>
    replies[Math.min(turn++, replies.length - 1)]?.(response, path, request);
}

/** Runs against stubs with a client of their own, and closes all of it. */
export async function withStubs<T>(
  replies: readonly Reply[],
  run: (mirror: MirrorNode, stubs: readonly [MirrorStub, ...MirrorStub[]]) => Promise<T>,
  { isLasting = false } = {},
): Promise<T> {
  const [first, ...others] = await Promise.all(replies.map(mirrorStub));
  if (first === undefined) throw new RangeError("no stub");
  const stubs = [first, ...others] as const;
  const urls = stubs.map((stub) => stub.url);
  const mirror = new MirrorClient({ urls, log: silentLogger, isLasting });
  try {
    return await run(mirror, stubs);
  } finally {
    await mirror.close();
    await Promise.all(stubs.map((stub) => stub.close()));
  }
}

/** The serials of one collection. */
export async function serialsOf(
  mirror: MirrorNode,
  account: string,
  ...[token, limits]: [token: string, limits?: ReadLimits]
): Promise<readonly number[]> {
  const [serials] = await mirror.nftsOf(account, [token] as const, limits);
  return serials;
}

/** An NFT row as the mirror node gives it. */
export function nftRow(serial: number, overrides: Record<string, unknown> = {}) {
  return {
    account_id: "0.0.1001",
    created_timestamp: "1700000000.000000001",
    delegating_spender: null,
    deleted: false,
    metadata: "aXBmczovL3gx",
    modified_timestamp: "1700000003.000000000",
    serial_number: serial,
    spender: null,
    token_id: "0.0.5001",
    ...overrides,
  };
}

/**
 * `/accounts/{id}/nfts` by the recorded rules: descending serials, `limit`
 * clamped to 100, and a `next` after every full page, even the last.
 *
 * @param serials those of each collection
 */
export function nftLists(serials: Readonly<Record<string, readonly number[]>>): Reply {
  const descending = new Map(
    Object.entries(serials).map(([token, held]) => [token, [...held].sort((a, b) => b - a)]),
  );
  return (response, path) => {
    const url = new URL(path, "http://stub");
    const token = url.searchParams.get("token.id") ?? "";
    const limit = Math.min(Number(url.searchParams.get("limit") ?? 25), 100);
    const edges = url.searchParams.getAll("serialnumber");
    const edge = (operator: string) =>
      edges.find((each) => each.startsWith(operator))?.split(":")[1];
    const below = Number(edge("lt:") ?? Infinity);
    const from = edge("gte:");
    const rows: number[] = [];
    for (const serial of descending.get(token) ?? []) {
      if (rows.length === limit || serial < Number(from ?? 0)) break;
      if (serial < below) rows.push(serial);
    }
    const lower = from === undefined ? "" : `&serialnumber=gte:${from}`;
    const query = `token.id=${token}&limit=${limit}${lower}&serialnumber=lt:${rows.at(-1)}`;
    sendJson(response, 200, {
      nfts: rows.map((serial) => nftRow(serial, { token_id: token })),
      links: { next: rows.length === limit ? `${url.pathname}?${query}` : null },
    });
  };
}

/** 1, 2, … n */
export function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1);
}
