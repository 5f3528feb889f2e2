/** Whom a limit counts: the socket's address, unless a trusted proxy says better. */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import { test } from "uvu";
import { clientAddress, socketAddress } from "../../../src/http/middleware/client-address.ts";

async function addressOf(given: {
  peer?: string;
  forwarded?: string;
  trusted?: readonly string[];
  headers?: Record<string, string>;
}): Promise<string> {
  const { peer, forwarded, trusted = [], headers = {} } = given;
  const client = clientAddress(trusted);
  const app = new Hono().get("/", (c) => c.text(client(c)));
  const all = forwarded === undefined ? headers : { ...headers, "X-Forwarded-For": forwarded };
  const env = peer === undefined ? {} : { incoming: { socket: { remoteAddress: peer } } };
  return (await app.request("/", { headers: all }, env)).text();
}

const PROXY = "10.0.0.5";
const trusted = ["10.0.0.0/8", "2001:db8:ffff::/48"];

test("the socket's address counts when no proxy is trusted, whatever headers say", async () => {
  const headers = {
    "X-Real-IP": "1.1.1.1",
    "CF-Connecting-IP": "1.1.1.1",
    Forwarded: "for=1.1.1.1",
    "True-Client-IP": "1.1.1.1",
  };
  for (const forwarded of ["1.1.1.1", "10.0.0.1, 1.1.1.1", "", "junk"]) {
    assert.equal(await addressOf({ peer: "192.0.2.7", forwarded, headers }), "192.0.2.7");
    assert.equal(await addressOf({ peer: "192.0.2.7", forwarded, headers, trusted }), "192.0.2.7");
  }
});

test("10,000 spoofed values at the left use one bucket", async () => {
  const client = clientAddress(trusted);
  const app = new Hono().get("/", (c) => c.text(client(c)));
  const buckets = new Set<string>();
  for (let n = 0; n < 10_000; n++) {
    const spoofed = `${n & 255}.${n >> 8}.1.1, 192.0.2.7`;
    const env = { incoming: { socket: { remoteAddress: PROXY } } };
    const response = await app.request("/", { headers: { "X-Forwarded-For": spoofed } }, env);
    buckets.add(await response.text());
  }
  assert.deepEqual([...buckets], ["192.0.2.7"]);
});

test("a chain of trusted proxies is walked from the right to the first stranger", async () => {
  const peer = PROXY;
  assert.equal(
    await addressOf({ peer, trusted, forwarded: "6.6.6.6, 9.9.9.9, 10.1.1.1,10.2.2.2" }),
    "9.9.9.9",
  );
  assert.equal(await addressOf({ peer, trusted, forwarded: "10.1.1.1, 10.2.2.2" }), "10.1.1.1");
  assert.equal(await addressOf({ peer, trusted, forwarded: " 9.9.9.9 " }), "9.9.9.9");
});

test("an entry of a trusted proxy that is no address counts as that proxy itself", async () => {
  for (const junk of ["", "unknown", "_hidden", "999.1.1.1", "1.1.1", "9.9.9.9;", "a, b", "::g"]) {
    assert.equal(await addressOf({ peer: PROXY, trusted, forwarded: junk }), PROXY, junk);
    assert.equal(
      await addressOf({ peer: PROXY, trusted, forwarded: `${junk}, 10.9.9.9` }),
      "10.9.9.9",
      junk,
    );
    // What stands left of it may be the client's own words.
    assert.equal(await addressOf({ peer: PROXY, trusted, forwarded: `6.6.6.6, ${junk}` }), PROXY);
  }
});

test("ports, brackets and zones are not part of an address", async () => {
  for (const [forwarded, bucket] of [
    ["9.9.9.9:4711", "9.9.9.9"],
    ["[2001:db8::7]:443", "2001:db8:0:0::/64"],
    ["[2001:db8::7]", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::ffff:9.9.9.9%eth0", "9.9.9.9"],
    ["1:2:3::5%a:b:c:d:e:f", "1:2:3:0::/64"],
  ] as const) {
    assert.equal(await addressOf({ peer: PROXY, trusted, forwarded }), bucket, forwarded);
  }
});

test("a chain of 500 hops ends at an address that a proxy wrote", async () => {
  const forwarded = `6.6.6.6, ${new Array(500).fill("10.7.7.7").join(",")}`;
  assert.equal(await addressOf({ peer: PROXY, trusted, forwarded }), "10.7.7.7");
});

test("an IPv6 client is its /64, in any spelling", async () => {
  for (const peer of [
    "2001:db8:1:2::1",
    "2001:0DB8:0001:0002:ffff:ffff:ffff:ffff",
    "2001:db8:1:2:0:0:1.2.3.4",
  ]) {
    assert.equal(await addressOf({ peer }), "2001:db8:1:2::/64", peer);
  }
  assert.equal(await addressOf({ peer: "::1" }), "0:0:0:0::/64");
  assert.equal(await addressOf({ peer: "2001:db8:1:3::1" }), "2001:db8:1:3::/64");
});

test("2^16 addresses of one /64 are one client", async () => {
  const client = clientAddress([]);
  const app = new Hono().get("/", (c) => c.text(client(c)));
  const buckets = new Set<string>();
  for (let n = 0; n < 65_536; n += 17) {
    const env = { incoming: { socket: { remoteAddress: `2001:db8::${n.toString(16)}` } } };
    buckets.add(await (await app.request("/", {}, env)).text());
  }
  assert.deepEqual([...buckets], ["2001:db8:0:0::/64"]);
});

test("IPv4-mapped addresses are the IPv4 clients they are, in both notations", async () => {
  for (const peer of ["::ffff:192.0.2.7", "::FFFF:c000:0207", "0:0:0:0:0:ffff:192.0.2.7"]) {
    assert.equal(await addressOf({ peer }), "192.0.2.7", peer);
  }
  assert.equal(await addressOf({ peer: "::ffff:192.0.2.8" }), "192.0.2.8");
  // Only the bits of ::ffff:0:0/96 make one mapped.
  assert.equal(await addressOf({ peer: "::fffe:192.0.2.7" }), "0:0:0:0::/64");
});

test("a proxy that arrives IPv4-mapped is trusted by its IPv4 range, and the other way round", async () => {
  const forwarded = "9.9.9.9";
  assert.equal(await addressOf({ peer: "::ffff:10.0.0.5", trusted, forwarded }), "9.9.9.9");
  for (const range of ["::ffff:10.0.0.0/104", "::ffff:10.0.0.5", "10.0.0.5", "0.0.0.0/0"]) {
    assert.equal(await addressOf({ peer: PROXY, trusted: [range], forwarded }), "9.9.9.9", range);
  }
  const six = { peer: "2001:db8:ffff::1", trusted, forwarded };
  assert.equal(await addressOf(six), "9.9.9.9");
});

test("a socket counts for the same client as its requests, and one of a trusted proxy for none", () => {
  const nameOf = socketAddress(["10.0.0.0/8"]);
  assert.equal(nameOf("192.0.2.7"), "192.0.2.7");
  assert.equal(nameOf("2001:db8:0:7::9"), "2001:db8:0:7::/64");
  assert.deepEqual(
    [nameOf("10.1.2.3"), nameOf("::ffff:10.1.2.3"), nameOf(undefined)],
    [undefined, undefined, undefined],
  );
});

test("an invalid range stops the start with its name", () => {
  for (const range of [
    "999.0.0.1/8",
    "10.0.0.0/33",
    "10.0.0.0/x",
    "::1/129",
    "::ffff:1.2.3.4/90",
    "1/2/3",
  ]) {
    assert.throws(() => clientAddress([range]), /TRUSTED_PROXIES/, range);
  }
});

test("closed sockets have no address, and share one bucket", async () => {
  assert.equal(await addressOf({}), "unknown");
  assert.equal(await addressOf({ peer: "" }), "unknown");
});

test.run();
