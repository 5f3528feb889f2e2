// timeout: 600 s
/**
 * Goal: nothing moves while a page is still arriving, wherever the network cuts it.
 * Method: a relay before a real web process sends a page in two pieces, with a pause between them
 * that a headless Chromium uses to draw the first.
 */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { browserSuite, openTab } from "./browser-place.ts";
import { openPlace, type Place } from "./served-pages.ts";

const test = browserSuite<Place>("a page that arrives in two pieces", openPlace);

/** Long enough for a browser to draw what it has. */
const PAUSE_MS = 90;

/** A relay that pauses at each document's `cut`th place: before a tag, or between a tag and its text. */
async function openRelay(to: string) {
  const relay = {
    url: "",
    cut: 0,
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
    relay.cuts = shown.length;
    reply.write(text.slice(0, shown[relay.cut]));
    setTimeout(() => reply.end(text.slice(shown[relay.cut])), PAUSE_MS);
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
    relay.cut = 1;
    do {
      assert.equal(await tab.visit(path), 200);
      assert.equal(await tab.shift(), 0, `${path} cut at ${relay.cut}: ${await tab.moves()}`);
      relay.cut += step;
    } while (relay.cut < Math.min(to, relay.cuts));
    await tab.close();
  }
  relay.close();
});
