// timeout: 600 s
/**
 * Goal: nothing moves while a page is still arriving, wherever the network cuts it.
 * Method: a relay before a real web process sends a page in pieces, with a pause after each that a
 * headless Chromium uses to draw what it has. What would move after one cut moves after one of
 * several, so that a few readings of a page prove all its cuts.
 */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as delay } from "node:timers/promises";
import { browserSuite, openTab } from "./browser-place.ts";
import { openPlace, type Place } from "./served-pages.ts";

const test = browserSuite<Place>("a page that arrives in pieces", openPlace);

/** Long enough for a browser to draw what it has. */
const PAUSE_MS = 120;

/** So many times a page is read: each time it is cut at other places. */
const READINGS = 4;

/** A relay that pauses at each of some places of a document: before a tag, or between a tag and its text. */
async function openRelay(to: string) {
  const relay = {
    url: "",
    /** Whether it pauses at the nth place. */
    cutsAt: (_n: number): boolean => false,
    cuts: 0,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  const server = createServer(async ({ url = "/", headers }, reply) => {
    const { cookie = "", "sec-fetch-dest": wanted } = headers;
    const left = new AbortController();
    reply.once("close", () => left.abort());
    const asked = fetch(to + url, { headers: { cookie }, signal: left.signal });
    const answer = await asked.catch(() => undefined);
    // The page was left.
    if (answer === undefined) return reply.destroy();
    reply.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    reply.flushHeaders();
    if (wanted !== "document")
      return Readable.fromWeb(answer.body as ReadableStream)
        .on("error", () => reply.destroy())
        .pipe(reply);
    const text = await answer.text();
    const places = [...text.matchAll(/(?=<)|(?<=>)/g)].map(({ index }) => index);
    const shown = places.filter((at) => at > text.indexOf("<body"));
    const cuts = shown.filter((_, n) => relay.cutsAt(n));
    relay.cuts += cuts.length;
    for (const [n, at] of cuts.entries()) {
      reply.write(text.slice(cuts[n - 1] ?? 0, at));
      await delay(PAUSE_MS);
    }
    reply.end(text.slice(cuts.at(-1) ?? 0));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return relay;
}

test("nothing moves, wherever it is cut", async (place) => {
  const relay = await openRelay(place.url);
  const { session, browser } = place;
  for (const { path, step, to = Number.POSITIVE_INFINITY, ...look } of [
    { width: 360, session, path: "/events/meetup", step: 18 },
    { width: 768, session, path: "/events/meetup", step: 6 },
    { width: 768, session, path: "/", step: 58 },
    // The header, in one column with the wallet and in two without.
    { width: 360, session, path: "/collections", step: 2, to: 70 },
    { width: 1280, path: "/collections", step: 1, to: 40 },
  ]) {
    const tab = await openTab({ browser, url: relay.url }, look);
    relay.cuts = 0;
    for (let reading = 0; reading < READINGS; reading += 1) {
      relay.cutsAt = (n) => n >= 1 && n < to && (n - 1) % (step * READINGS) === step * reading;
      assert.equal(await tab.visit(path), 200);
      assert.equal(await tab.shift(), 0, `${path} in reading ${reading}: ${await tab.moves()}`);
    }
    assert.ok(relay.cuts >= 10, `${path} was cut at ${relay.cuts} places`);
    await tab.close();
  }
  relay.close();
});
