import { BlockList, isIPv4, isIPv6, type Server, type Socket } from "node:net";
import { expandIPv6 } from "hono/utils/ipaddr";
import { ConfigurationError } from "../../config.ts";
import { envOf, type RequestLike } from "../fast-path/request-like.ts";

/**
 * Names the client of a request as limits count it: an IPv4 address, or the /64 of an IPv6
 * one (the holder of one address there holds them all).
 *
 * @returns `192.0.2.7`, `2001:db8:0:7::/64`, or `unknown` for a socket that is gone
 */
export type ClientAddress = (c: RequestLike) => string;

/** A longer chain of trusted proxies than any real one; the walk ends here. */
const HOPS_MAX = 32;

/**
 * The socket's address counts; `X-Forwarded-For` only when that peer is a trusted proxy,
 * and then from the right: each proxy appends whom it saw, everything further left is what
 * the client chose to write.
 *
 * @param trustedProxies addresses and CIDR ranges (`TRUSTED_PROXIES`)
 * @throws ConfigurationError naming a range that cannot be read
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = trustIn(trustedProxies);
  return (c) => {
    const peer = parseAddress(envOf(c)?.incoming?.socket?.remoteAddress ?? "");
    if (peer === undefined) return "unknown";
    return bucketOf(isTrusted(peer) ? nearestUntrusted(c, peer, isTrusted) : peer);
  };
}

/**
 * Names what a socket counts for where sockets are counted: its address as `clientAddress` names
 * it. A trusted proxy brings the sockets of many clients and counts for nothing.
 *
 * @returns undefined for a socket that is not counted
 */
export function socketAddress(
  trustedProxies: readonly string[],
): (remoteAddress: string | undefined) => string | undefined {
  const isTrusted = trustIn(trustedProxies);
  return (remoteAddress) => {
    const peer = parseAddress(remoteAddress ?? "");
    return peer === undefined || isTrusted(peer) ? undefined : bucketOf(peer);
  };
}

function trustIn(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = blockList(trustedProxies);
  return (address) =>
    trustedProxies.length > 0 && trusted.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function nearestUntrusted(
  c: RequestLike,
  peer: string,
  isTrusted: (address: string) => boolean,
): string {
  let nearest = peer;
  const hops = (c.req.header("x-forwarded-for") ?? "").split(",").slice(-HOPS_MAX).reverse();
  for (const hop of hops) {
    const address = parseAddress(withoutPort(hop.trim()));
    // What a trusted proxy did not write as an address is useless: the proxy counts as the client.
    if (address === undefined) break;
    nearest = address;
    if (!isTrusted(address)) break;
  }
  return nearest;
}

/** `1.2.3.4:5`, `[::1]:5` and `[::1]` are written by some proxies. */
function withoutPort(hop: string): string {
  return /^\[(.*)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;
}

/** The one spelling of an address: IPv4-mapped IPv6 becomes IPv4 by its bits, zones go. */
function parseAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [bare = ""] = text.split("%", 1);
  if (!isIPv6(bare)) return undefined;
  // A zone may hold what looks like further groups.
  const groups = expandIPv6(bare)
    .split(":")
    .map((group) => Number.parseInt(group, 16));
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
    ? groups
        .slice(6)
        .flatMap((group) => [group >> 8, group & 0xff])
        .join(".")
    : groups.map((group) => group.toString(16)).join(":");
}

function bucketOf(address: string): string {
  if (isIPv4(address)) return address;
  return `${address.split(":").slice(0, 4).join(":")}::/64`;
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [text = "", bits] = range.split("/");
    const address = parseAddress(text);
    if (address === undefined)
      throw new ConfigurationError(`TRUSTED_PROXIES: ${range} is no address`);
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    const width = family === "ipv4" ? 32 : 128;
    // ::ffff:10.0.0.0/104 is 10.0.0.0/8 in the other notation.
    const offset = family === "ipv4" && text.includes(":") ? 96 : 0;
    const prefix = bits === undefined ? width : Number(bits) - offset;
    if (!(prefix >= 0 && prefix <= width)) {
      throw new ConfigurationError(`TRUSTED_PROXIES: ${range} is no range`);
    }
    list.addSubnet(address, prefix, family);
  }
  return list;
}

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
