/** Goal: `/exports` answers as the contract says. Method: a web process' routes over a journal. */
import * as assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { suite } from "uvu";
import { DAY_MS } from "../../../actors/day.ts";
import { openExportSource } from "../../../src/audit/export-source.ts";
import { type ExportChain, type ExportPart, readExport } from "../../../src/audit/read-export.ts";
import { exportList } from "../../../src/journal/export-format.ts";
import { finalizeDueDays } from "../../../src/upkeep/finalize-exports.ts";
import { bodyOf } from "../../support/engine.ts";
import { appOf, type ExportRig, ofKind, startExportRig } from "../../support/export-rig.ts";

const NOON = DAY_MS / 2;
const test = suite<{ rig: ExportRig }>();

// One journal for all: day 1 is final, day 2 has a star to publish, day 3 is today.
test.before(async (context) => {
  const rig = await startExportRig();
  context.rig = rig;
  await rig.setClock(1, NOON);
  rig.engine.holdings.set("0.0.11", { collectionA: [12, 3], collectionB: [7, 8] });
  rig.engine.holdings.set("0.0.12", { collectionA: [3], collectionB: [7] });
  for (const [wallet, target] of [
    ["0.0.11", "event/meetup"],
    ["0.0.12", "event/meetup"],
    ["0.0.11", "event/mint"],
    ["0.0.11", "event/mint"],
    ["0.0.11", "project/dex"],
  ] as const) {
    bodyOf(await rig.engine.cast(wallet, target));
  }
  await rig.publish();
  await rig.setClock(2, NOON);
  bodyOf(await rig.engine.cast("0.0.11", "token/0.0.9001"));
  await rig.setClock(3, NOON);
  await finalizeDueDays(rig.upkeep);
});
test.after(({ rig }) => rig.close());

const get = (rig: ExportRig, path: string, init?: RequestInit) => rig.app().request(path, init);

test("a star's line has what its message leaves out", async ({ rig }) => {
  const text = await (await get(rig, `/exports/${rig.day(1)}`)).text();
  const [header] = ofKind(text, "header");
  assert.deepEqual(header?.excludedWallets, ["0.0.999"]);
  const [first, second, mint, again, project] = ofKind(text, "star");
  assert.deepEqual(first?.held.collectionA, [3, 12]);
  assert.deepEqual(first?.counted, { collectionA: [3, 12], collectionB: 7 });
  assert.deepEqual(
    [first?.scope, first?.weight, first?.target.eventType, first?.limit, first?.slot],
    ["event-day", 8, "ECOSYSTEM_MEETUP", 5, 1],
  );
  // Both of its NFTs had counted on this event today.
  assert.deepEqual(second?.counted, { collectionA: [], collectionB: null });
  assert.deepEqual([second?.weight, second?.votingPower, second?.mintOrder], [1, 7, null]);
  assert.deepEqual([mint?.scope, mint?.target.eventType], ["forever-mint", "FOREVER_MINT"]);
  assert.deepEqual(mint?.counted, { collectionA: [3, 12], collectionB: 7 });
  assert.deepEqual(again?.counted, { collectionA: [], collectionB: null });
  assert.deepEqual([again?.weight, again?.breakdown.base], [0, 0]);
  assert.ok((mint?.mintOrder ?? 0) < (again?.mintOrder ?? 0));
  assert.deepEqual([project?.counted, project?.scope, project?.weight], [null, "none", 8]);
  assert.equal(JSON.parse(project?.message ?? "{}").target_id, "0.0.7001");
  const [footer] = ofKind(text, "footer");
  assert.deepEqual(footer?.sequences, [
    { topicId: "0.0.501", messages: 4, first: first?.seq, last: again?.seq },
    { topicId: "0.0.502", messages: 1, first: project?.seq, last: project?.seq },
  ]);
  assert.equal(footer?.weight, 8 + 1 + 8 + 0 + 8);
});

test("a final day may be cached without end; a provisional one not at all", async ({ rig }) => {
  const final = await get(rig, `/exports/${rig.day(1)}`);
  const text = await final.text();
  const [footer] = ofKind(text, "footer");
  assert.equal(final.headers.get("etag"), `"${footer?.sha256}"`);
  assert.equal(final.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(final.headers.get("content-type"), "application/x-ndjson");
  assert.equal(final.headers.get("vary"), "Accept-Encoding");
  assert.match(final.headers.get("ratelimit") ?? "", /^"ip";r=\d+/);
  for (const day of [2, 3]) {
    const open = await get(rig, `/exports/${rig.day(day)}`);
    assert.equal(open.status, 200);
    assert.equal(open.headers.get("cache-control"), "no-store");
    assert.equal(open.headers.get("etag"), null);
    const [header] = ofKind(await open.text(), "header");
    assert.deepEqual([header?.final, header?.previous], [false, null]);
  }
});

test("gzip is the same bytes packed, with a tag of its own; either tag gives 304", async ({
  rig,
}) => {
  const path = `/exports/${rig.day(1)}`;
  const plain = await get(rig, path);
  const packed = await get(rig, path, { headers: { "accept-encoding": "gzip" } });
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  const bytes = gunzipSync(Buffer.from(await packed.arrayBuffer()));
  assert.equal(bytes.toString(), await plain.text());
  const tags = [plain.headers.get("etag"), packed.headers.get("etag")];
  assert.notEqual(tags[0], tags[1]);
  for (const tag of tags) {
    const known = await get(rig, path, { headers: { "if-none-match": String(tag) } });
    assert.deepEqual([known.status, await known.text()], [304, ""]);
  }
  const other = await get(rig, path, { headers: { "if-none-match": `"${"0".repeat(64)}"` } });
  assert.equal(other.status, 200);
  await other.text();
});

test("the list names every day, without a gap", async ({ rig }) => {
  const reply = await get(rig, "/exports");
  const { exports } = exportList.parse(await reply.json());
  assert.deepEqual(
    exports.map(({ day, final }) => [day, final]),
    [
      [rig.day(1), true],
      [rig.day(2), false],
      [rig.day(3), false],
    ],
  );
  const text = await (await get(rig, `/exports/${rig.day(1)}`)).text();
  const [footer] = ofKind(text, "footer");
  assert.deepEqual(exports[0], {
    day: rig.day(1),
    final: true,
    stars: 5,
    releases: 0,
    sha256: footer?.sha256,
    chain: footer?.chain,
    bytes: Buffer.byteLength(text),
  });
  const tag = String(reply.headers.get("etag"));
  const same = await get(rig, "/exports", { headers: { "if-none-match": tag } });
  assert.equal(same.status, 304);
});

test("days without an export are 404, invalid days are 400, other methods are 405", async ({
  rig,
}) => {
  for (const day of [rig.day(0), rig.day(4), "0001-01-01", "9999-12-31"]) {
    const { status, body } = await read(get(rig, `/exports/${day}`));
    assert.deepEqual([status, body.code], [404, "NOT_FOUND"], day);
  }
  for (const day of [
    "2026-02-30",
    "2026-1-1",
    "today",
    "0000-01-01",
    "2026-11-20x",
    "%00",
    "%zz",
  ]) {
    const { status, body } = await read(get(rig, `/exports/${day}`));
    assert.deepEqual([status, body.code, body.parameter], [400, "INVALID_PARAMETER", "day"], day);
    assert.equal(body.allowed, "date YYYY-MM-DD");
  }
  const odd = await read(get(rig, `/exports/${rig.day(1)}?format=csv`));
  assert.deepEqual([odd.status, odd.body.parameter], [400, "format"]);
  const allowed = {
    "/exports": "GET",
    [`/exports/${rig.day(1)}`]: "GET, HEAD",
    "/exports/nothing/here": "GET",
  };
  for (const [path, allow] of Object.entries(allowed)) {
    for (const method of ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      if (allow.includes(method)) continue;
      const reply = await get(rig, path, { method });
      assert.deepEqual([reply.status, reply.headers.get("allow")], [405, allow], method + path);
    }
  }
  assert.equal((await get(rig, "/exports/a/b")).status, 404);
});

test("requests of every method are limited per client", async ({ rig }) => {
  const app = appOf(rig.sql, 2);
  const ask = (method = "GET") => app.request(`/exports/${rig.day(4)}`, { method });
  assert.deepEqual([(await ask()).status, (await ask("POST")).status], [404, 405]);
  const refused = await ask();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
});

test("HEAD of a final day has the headers of GET and no body", async ({ rig }) => {
  const path = `/exports/${rig.day(1)}`;
  const [whole, head] = [await get(rig, path), await get(rig, path, { method: "HEAD" })];
  const text = await whole.text();
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.equal(head.headers.get("content-length"), String(Buffer.byteLength(text)));
  for (const name of ["etag", "content-type", "cache-control", "accept-ranges", "vary"]) {
    assert.equal(head.headers.get(name), whole.headers.get(name), name);
  }
});

test("a cut download of a final day goes on: a single range of the plain bytes, 206 or 416", async ({
  rig,
}) => {
  const path = `/exports/${rig.day(1)}`;
  const whole = await get(rig, path);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const tag = String(whole.headers.get("etag"));
  const { length } = bytes;
  const footer = bytes.lastIndexOf("\n", length - 2) + 1;
  const parts = {
    "bytes=0-0": [0, 0],
    "bytes=10-99": [10, 99],
    // The stars and the footer are made one after the other.
    [`bytes=9-${footer}`]: [9, footer],
    "bytes=700-": [700, length - 1],
    "bytes=-5": [length - 5, length - 1],
    [`bytes=5-${length + 9}`]: [5, length - 1],
    [`bytes=-${length + 9}`]: [0, length - 1],
  } as const;
  for (const [range, [first, last]] of Object.entries(parts)) {
    const headers = { range, "if-range": tag, "accept-encoding": "gzip" };
    const part = await get(rig, path, { headers });
    assert.deepEqual([part.status, part.headers.get("content-encoding")], [206, null], range);
    assert.equal(part.headers.get("content-range"), `bytes ${first}-${last}/${length}`);
    const got = Buffer.from(await part.arrayBuffer());
    assert.ok(got.equals(bytes.subarray(first, last + 1)), range);
    assert.equal(part.headers.get("content-length"), String(got.length));
  }
  for (const range of [`bytes=${length}-`, "bytes=-0"]) {
    const none = await get(rig, path, { headers: { range } });
    assert.deepEqual(
      [none.status, none.headers.get("content-range"), none.headers.get("cache-control")],
      [416, `bytes */${length}`, "no-store"],
    );
  }
});

test("a header that names no single range of these bytes gets the whole export", async ({
  rig,
}) => {
  const ranges = ["bytes=1-2,4-5", "bytes=9-1", "bytes=-", "lines=1-2", "bytes=a-b"];
  const asked = ranges.map((range) => [rig.day(1), { range }] as const);
  const others = [
    [rig.day(1), { range: "bytes=0-9", "if-range": '"another"' }],
    [rig.day(2), { range: "bytes=0-9" }],
  ] as const;
  for (const [day, headers] of [...asked, ...others]) {
    const reply = await get(rig, `/exports/${day}`, { headers });
    assert.equal(reply.status, 200, JSON.stringify(headers));
    await reply.text();
  }
});

test("a client that has a final day gets 304 whatever part it asks for", async ({ rig }) => {
  const path = `/exports/${rig.day(1)}`;
  const head = await get(rig, path, { method: "HEAD" });
  for (const range of ["bytes=0-9", "bytes=999999999-"]) {
    const headers = { range, "if-none-match": String(head.headers.get("etag")) };
    const known = await get(rig, path, { headers });
    assert.deepEqual([known.status, known.headers.get("content-range")], [304, null], range);
    assert.equal(known.headers.get("content-length"), head.headers.get("content-length"));
  }
});

test("a client holds four streams at most, and other clients are not affected", async ({ rig }) => {
  let client = "one";
  const app = appOf(rig.sql, 1_000, () => client);
  const ask = () => app.request(`/exports/${rig.day(1)}`);
  const held = [await ask(), await ask(), await ask(), await ask()];
  const refused = await ask();
  assert.deepEqual(
    [
      refused.status,
      (await read(Promise.resolve(refused))).body.code,
      refused.headers.get("cache-control"),
    ],
    [429, "RATE_LIMITED", "no-store"],
  );
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  client = "another";
  const other = await ask();
  assert.equal(other.status, 200);
  client = "one";
  await held[0]?.text();
  const again = await ask();
  assert.equal(again.status, 200);
  for (const reply of [...held.slice(1), other, again]) await reply.text();
});

test("the chain is checked with head, tail and sha256sum", async ({ rig }) => {
  const text = await (await get(rig, `/exports/${rig.day(1)}`)).text();
  const lines = text.split("\n");
  const before = `${lines.slice(0, -2).join("\n")}\n`;
  const [footer] = ofKind(text, "footer");
  assert.equal(createHash("sha256").update(before).digest("hex"), footer?.sha256);
});

async function read(reply: Response | Promise<Response>) {
  const response = await reply;
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body };
}

// The last, for days become final in it.
test("an auditor reads of each day what its list says, also of days that became final since", async ({
  rig,
}) => {
  const app = rig.app();
  const server = createServer(async (request, response) => {
    const reply = await app.request(request.url ?? "");
    response.writeHead(reply.status).end(Buffer.from(await reply.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
  const { port } = server.address() as AddressInfo;
  const source = openExportSource(`http://127.0.0.2:${port}/exports`);
  const read = async (days: readonly string[]) => {
    const found: ExportPart[] = [];
    let before: ExportChain | undefined;
    for (const day of days) {
      for await (const part of readExport(source, day, before)) {
        if (part.kind === "chain") before = part;
        else if (part.kind !== "star") found.push(part);
      }
    }
    return found.map((part) => (part.kind === "header" ? part.final : part));
  };
  const days = await source.days();
  assert.deepEqual(await read(days), [true, false, false]);
  await rig.publish();
  await rig.setClock(4, NOON);
  await finalizeDueDays(rig.upkeep);
  assert.deepEqual(await read(days), [true, true, true]);
  assert.deepEqual(await read(await source.days()), [true, true, true, false]);
  assert.deepEqual(source.listed(rig.day(3))?.stars, 0);
  server.closeAllConnections();
  server.close();
});

test.run();
