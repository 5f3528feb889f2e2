/** Strong validators, one per representation; compressed bodies; nothing shared by caches. */
import * as assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { giveStars, type House, NOW, openHouse } from "./house.ts";

let house: House;
test.before(async () => {
  house = await openHouse();
  const tokens = Array.from({ length: 30 }, (_, index) => ({
    id: `0.0.${index + 1}`,
    symbol: "T",
    name: "Token",
  }));
  await importCatalog(house.sql, { tokens }, { approve: true, eventSources: [] });
});
test.after(() => house.close());

const get = (headers: Record<string, string> = {}) => house.get("/tokens/top", headers);
const tagOf = (response: Response) => response.headers.get("etag") ?? "";

test("data may be kept by its caller alone, for a second, and pages of other origins may not read it", async () => {
  for (const from of [{}, { Origin: "https://app.example" }] as Record<string, string>[]) {
    const { headers } = await get(from);
    assert.equal(headers.get("cache-control"), "private, max-age=1");
    assert.equal(headers.get("vary"), "Accept-Encoding");
    assert.equal(headers.has("access-control-allow-origin"), false);
  }
});

test("an equal body has an equal strong tag, a changed one another", async () => {
  const first = tagOf(await get());
  assert.match(first, /^"[\w-]+"$/);
  assert.equal(tagOf(await get()), first);
  await giveStars(house.sql, { type: "token", id: "0.0.9", at: NOW, weight: 1 });
  assert.notEqual(tagOf(await get()), first);
});

test("gzip: the same body, compressed, with a tag of its own", async () => {
  const plain = await get();
  const zipped = await get({ "Accept-Encoding": "br, gzip;q=0.5" });
  assert.equal(zipped.headers.get("content-encoding"), "gzip");
  assert.equal(tagOf(zipped), tagOf(plain).replace(/"$/, '-gzip"'));
  const bytes = Buffer.from(await zipped.arrayBuffer());
  assert.equal(gunzipSync(bytes).toString(), await plain.text());
});

test("gzip is not used for clients that refuse it, nor for small bodies", async () => {
  for (const accepted of ["", "identity", "gzip;q=0", "br", "gzip;q=0, *"]) {
    const response = await get({ "Accept-Encoding": accepted });
    assert.equal(response.headers.has("content-encoding"), false, accepted);
  }
  for (const accepted of ["GZIP", "*", "x-gzip"]) {
    const response = await get({ "Accept-Encoding": accepted });
    assert.equal(response.headers.get("content-encoding"), "gzip", accepted);
  }
  const small = await house.get("/tokens/top?limit=1", { "Accept-Encoding": "gzip" });
  assert.equal(small.headers.has("content-encoding"), false);
  assert.equal(small.headers.get("vary"), "Accept-Encoding");
});

test("304: If-None-Match takes either form of the tag, weak or in a list", async () => {
  const tag = tagOf(await get());
  const zippedTag = tag.replace(/"$/, '-gzip"');
  for (const known of [tag, zippedTag, `W/${tag}`, `"x", ${zippedTag}`, "*"]) {
    for (const accepted of ["identity", "gzip"]) {
      const response = await get({ "If-None-Match": known, "Accept-Encoding": accepted });
      assert.equal(response.status, 304, known);
      assert.equal(await response.text(), "");
      assert.equal(tagOf(response), accepted === "gzip" ? zippedTag : tag);
      assert.equal(response.headers.get("cache-control"), "private, max-age=1");
      assert.equal(response.headers.get("vary"), "Accept-Encoding");
    }
  }
  for (const known of ['"other"', tag.slice(1, -1), ""]) {
    assert.equal((await get({ "If-None-Match": known })).status, 200, known);
  }
});

test("errors are not kept", async () => {
  const response = await house.get("/tokens/top?limit=0");
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.equal(response.headers.has("etag"), false);
});

test.run();
