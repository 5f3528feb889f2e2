/**
 * Goal: every page can be read without a script, by anyone, and nothing that stands in the directory
 * or in an address breaks out of its place. Method: a real web process over a directory with
 * hostile names, read as a browser without JavaScript reads it.
 */
import * as assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { suite } from "uvu";
import { DAY_MS, dayOf } from "../../../actors/day.ts";
import type { SigningWallet } from "../../../src/cli/demo-wallet.ts";
import { loadAssets } from "../../../src/http/pages/assets.ts";
import { bundleInto } from "../../../src/http/pages/bundle.ts";
import { issueKey } from "../../../src/keys/api-keys.ts";
import { seedDay } from "../../support/export-seed.ts";
import { temporaryFolder } from "../../support/folder.ts";
import {
  cast,
  newWallet,
  type Reply,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";

const EVIL = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;
/** Shows the text after it from right to left. */
const TURN = "\u202egnp.exe";
const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

interface Context {
  service: Service;
  wallet: string;
  cookie: string;
  star: string;
}

const test = suite<Context>("the directory's pages");

test.before(async (context) => {
  const service = await startService();
  const { sql } = service;
  await sql`update event set title = ${EVIL + TURN}, description = ${`${EVIL}\n\n${EVIL}`}, host = ${EVIL},
    location = ${EVIL}, url = 'javascript:alert(3)', links = ${sql.json([
      { label: EVIL, url: "javascript:alert(4)" },
      { label: "Rules", url: "https://example.org/rules" },
    ])}, prizes = ${sql.json([{ title: EVIL, description: EVIL, value: EVIL }])}
    where id = 'meetup'`;
  await sql`update token set name = ${EVIL + TURN}, symbol = ${EVIL}, price = 0.0123, market_cap = 1230000
    where id = '0.0.9001'`;
  await sql`update token set price = 0.2, market_cap = 0.99999 where id = '0.0.9002'`;
  await sql`update token set price = 1e-18, market_cap = 1e-300 where id = '0.0.9003'`;
  await sql`insert into collection (id, name, created_at, approved_at)
    select '0.0.' || n, 'Cats', 0, 0 from generate_series(8002, 8009) n`;
  await sql`update collection set name = ${EVIL}, owners = 12, supply = 1000`;
  await sql`update collection set owners = 1, supply = 1 where id = '0.0.8002'`;
  await sql`update project set name = ${EVIL}, description = ${EVIL}, country = 'PT',
    website_url = 'https://example.org' where id = 'dex'`;
  await sql`insert into season (id, name, starts_at, ends_at)
    values ('01a1f8c0-0000-7000-8000-000000000001', ${EVIL}, now_ms() - 1000, now_ms() + 86400000)`;
  const voter = await newWallet(service, { a: 3, b: 1 });
  const token = await signIn(service, voter);
  const { body } = await cast(service, token, "token/0.0.9001");
  await cast(service, token, "event/meetup");
  const cookie = `starboard=${token}`;
  Object.assign(context, { service, wallet: voter.id, cookie, star: body.star.id });
});
test.after(({ service }) => service.close());

const get = (
  { service }: Context,
  path: string,
  headers: Record<string, string> = {},
): Promise<Reply> => send(service, `GET ${path}`, { headers: { ...HTML, ...headers } });

/** Every page of the contract, with something real where an id stands. */
const paths = ({ star }: Pick<Context, "star">): readonly string[] => [
  ...["/", "/events", "/events?status=all", "/events/meetup", "/events/mint", "/tokens"],
  ...["/tokens/0.0.9001", "/collections", "/collections/0.0.8001", "/projects", "/projects/dex"],
  ...["/leaderboard", "/stars", `/stars/${star}`],
];

test("every page answers in HTML, with one heading and a strict policy, signed in or not", async (context) => {
  for (const path of paths(context)) {
    for (const headers of [{}, { cookie: context.cookie }]) {
      const { status, headers: given, text } = await get(context, path, headers);
      assert.equal(status, 200, path);
      assert.match(given.get("content-type") ?? "", /^text\/html/);
      assert.match(given.get("cache-control") ?? "", /private, no-cache/);
      const policy = given.get("content-security-policy") ?? "";
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|\*|data:|wss:/);
      assert.equal(given.get("x-content-type-options"), "nosniff");
      assert.equal(given.get("x-frame-options"), "DENY");
      for (const name of ["cross-origin-opener-policy", "cross-origin-resource-policy"])
        assert.equal(given.get(name), "same-origin", name);
      assert.equal(text.match(/<h1[ >]/g)?.length, 1, path);
      assert.match(text, /^<!doctype html>\n<html lang="en">/);
      assert.doesNotMatch(text, / style=|<style|<script(?! type="module" src="\/assets\/)/, path);
      assert.equal(text.includes("data-sign-out"), "cookie" in headers, path);
    }
  }
});

test("a price has its cents, what is one is not many, and what stars weigh is no number of stars", async (context) => {
  const { text: token } = await get(context, "/tokens/0.0.9002");
  assert.match(token, / · \$0\.20 · market cap \$1\.00</);
  const { text: dust } = await get(context, "/tokens/0.0.9003");
  assert.match(dust, / · \$0\.000000000000000001 · market cap \$0\.00</);
  const { text: collection } = await get(context, "/collections/0.0.8002");
  assert.match(collection, /NFT collection · 1 owner · 1 NFT</);
  const { text: starred } = await get(context, "/tokens/0.0.9001");
  assert.match(starred, /\$0\.0123 · market cap \$1\.23M/);
  assert.match(starred, /<dt>Weight in 7 days<\/dt><dd>9<\/dd>/);
});

test("names of every kind stay text: no markup of theirs, no turned lines, no script address", async (context) => {
  for (const path of paths(context)) {
    const { text } = await get(context, path, { cookie: context.cookie });
    assert.doesNotMatch(text, /<script>|<img|onerror=alert\(2\)>|href="javascript:/, path);
    const [head = ""] = text.split("</head>");
    assert.ok(!head.includes("\u202e"), `${path}: a title that turns around`);
    assert.doesNotMatch(text, /aria-label="[^"]*\u202e/, path);
  }
  const { text } = await get(context, "/events/meetup");
  assert.match(text, /<h1><bdi>&quot;&#39;&gt;&lt;script&gt;/);
  assert.match(
    text,
    /href="https:\/\/example\.org\/rules" rel="noopener noreferrer nofollow external"/,
  );
});

test("the star is a button named after its item; a signed-in wallet sees votes and stars", async (context) => {
  const { text } = await get(context, "/tokens", { cookie: context.cookie });
  assert.match(text, /aria-pressed="false" aria-label="Star Token 9002"/);
  assert.match(text, /3 of 5 votes left/);
  assert.match(text, new RegExp(`>${context.wallet}<`));
  assert.match(text, /Your star carried 9\. It opens again at 00:00 UTC\. <a href="\/stars\//);
  assert.match(text, /data-star="token\/0\.0\.9001" data-scope="none" aria-pressed="true"/);
  assert.match(text, /data-counter="token\/0\.0\.9001">9<\/strong> <span>today</);
  assert.doesNotMatch(text, /Premium until/);
  const event = await get(context, "/events/meetup", { cookie: context.cookie });
  assert.match(event.text, /data-counter="event\/meetup">9<\/strong> <span>in all</);
  const receipt = await get(context, `/stars/${context.star}`);
  assert.match(receipt.text, />3 of collection A, 1 of collection B</);
  const stars = await get(context, "/stars", { cookie: context.cookie });
  assert.match(stars.text, new RegExp(`href="/stars/${context.star}"`));
  const board = await get(context, "/leaderboard", { cookie: context.cookie });
  assert.match(board.text, /You are at rank 1 with 2 points, 2 stars and a weight of \d+\./);
});

test("a star of an item that is shown no longer keeps its name, and leads to no page that is not there", async (context) => {
  const { sql } = context.service;
  for (const path of ["/stars", `/stars/${context.star}`]) {
    const read = async (): Promise<string> =>
      (await get(context, path, { cookie: context.cookie })).text;
    const shown = await read();
    assert.match(shown, /<a href="\/tokens\/0\.0\.9001"><bdi>/, path);
    await sql`update token set approved_at = null where id = '0.0.9001'`;
    const hidden = await read();
    await sql`update token set approved_at = 0 where id = '0.0.9001'`;
    assert.doesNotMatch(hidden, /href="\/tokens\/0/, path);
    assert.equal(hidden.match(/<bdi>/g)?.length, shown.match(/<bdi>/g)?.length, path);
  }
});

test("a receipt leads to the mirror node's row and the explorer; an address with an access key is nowhere", async (context) => {
  const { service } = context;
  const day = dayOf(Date.now() - 2 * DAY_MS);
  await seedDay(service.sql, day, 1);
  const [star] = await service.sql`select id from star where day = ${day}`;
  const row = `${service.hedera.mirrorUrl}/api/v1/topics/0.0.502/messages/1`;
  const { text } = await get(context, `/stars/${star?.id}`);
  assert.ok(
    text.includes(`href="${row}" rel="noopener noreferrer external">See the mirror node’s row`),
  );
  const keyed = await startService({
    MIRROR_NODE_URL: "http://127.0.0.1:1/an-access-key",
    EXPLORER_URL: "https://explorer.example/x/",
  });
  await seedDay(keyed.sql, day, 1);
  for (const path of ["/voting/config", "/voting/openapi.json", ...paths({ star: star?.id })]) {
    const reply = await get({ ...context, service: keyed }, path);
    const all = `${reply.text} ${JSON.stringify([...reply.headers])}`;
    assert.doesNotMatch(all, /an-access-key|127\.0\.0\.1:1\//, path);
  }
  const receipt = await get({ ...context, service: keyed }, `/stars/${star?.id}`);
  assert.match(receipt.text, /href="https:\/\/explorer\.example\/x\/transaction\/1\.000000001"/);
  assert.doesNotMatch(receipt.text, /See the mirror node’s row/);
  await keyed.close();
});

test("premium shows 20 votes and until when", async (context) => {
  const { sql } = context.service;
  await sql`insert into premium_pass (wallet, season_id, granted_at)
    select ${Number(context.wallet.slice(4))}, id, now_ms() from season`;
  const { text } = await get(context, "/", { cookie: context.cookie });
  assert.match(text, /18 of 20 votes left/);
  assert.match(text, /Premium until <time datetime="[^"]+">\d+ \w+ \d{4}, \d\d:\d\d UTC<\/time>/);
});

test("a second star on a forever mint has its weight beside its power, and the mint takes another", async (context) => {
  const { service } = context;
  const token = await signIn(service, await newWallet(service, { a: 2 }));
  await cast(service, token, "event/mint");
  const { body } = await cast(service, token, "event/mint");
  const receipt = await get(context, `/stars/${body.star.id}`);
  assert.match(receipt.text, /<dt>Weight<\/dt><dd>0: base 0, A 0, B 0</);
  assert.match(receipt.text, /<dt>Voting power<\/dt><dd>3</);
  const { text } = await get(context, "/events/mint", { cookie: `starboard=${token}` });
  assert.match(text, /data-carries="event\/mint"><\/p>/);
});

test("lists are filtered and paged by their address, page by page; unknown parameters are ignored", async (context) => {
  const ended = await get(context, "/events?status=ended&eventType=HACKATHON&source=&utm_source=x");
  assert.match(ended.text, /href="\/events\/hack"/);
  assert.doesNotMatch(ended.text, /href="\/events\/meetup"/);
  assert.match(ended.text, /<option value="ended" selected>/);
  const first = await get(context, "/projects?limit=1");
  assert.match(first.text, /rel="next" href="\/projects\?limit=1&amp;offset=1"/);
  const all = await get(context, "/events?status=all&limit=1");
  assert.match(all.text, /rel="next" href="\/events\?status=all&amp;limit=1&amp;offset=1"/);
  const portugal = await get(context, "/projects?country=pt");
  assert.match(portugal.text, /href="\/projects\/dex"/);
  assert.doesNotMatch(portugal.text, /href="\/projects\/wiki"/);
});

/** The items of a list, from its first page to its last by the links from page to page. */
async function walk(context: Context, first: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let path: string | undefined = first;
  for (let pages = 0; path !== undefined; pages += 1) {
    assert.ok(pages < 50, `${first} has no last page`);
    const { text }: Reply = await get(context, path);
    const [, main = ""] = text.split('<main id="main"');
    ids.push(...[...main.matchAll(/data-star="\w+\/([^"]+)"/g)].map(([, id = ""]) => id));
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  return ids;
}

test("the markets are read to their last item by links, in the order of the public API", async (context) => {
  const { service } = context;
  const token = (await issueKey(service.sql, "tests")).key;
  for (const market of ["tokens", "collections"]) {
    const { body } = await send(service, `GET /v1/${market}/top?limit=100`, { token });
    const wanted = body[market].map(({ id }: { id: string }) => id);
    assert.ok(wanted.length > 5);
    for (const limit of [1, 7, 50])
      assert.deepEqual(await walk(context, `/${market}?limit=${limit}`), wanted, market);
  }
});

test("the markets are searched by name and symbol, a page at a time, and say when nothing fits", async (context) => {
  const found = ["0.0.9010", "0.0.9011", "0.0.9012", "0.0.9013", "0.0.9014"];
  assert.deepEqual((await walk(context, "/tokens?q=t901&limit=2")).slice(0, 5), found);
  assert.deepEqual(await walk(context, "/tokens?q=%20TOKEN%209017%20"), ["0.0.9017"]);
  const form = await get(context, "/tokens?q=%22%3E%3Cb%3E");
  assert.match(form.text, /<input type="search" name="q" value="&quot;&gt;&lt;b&gt;"/);
  assert.match(form.text, /No token has such a name\./);
  for (const q of ["%00", "x".repeat(101)])
    assert.equal((await get(context, `/tokens?q=${q}`)).status, 400);
});

test("a list that is asked for too far on says so, and leads back to its last records", async (context) => {
  for (const [list, back] of [
    ["/tokens?limit=7", 33],
    ["/events?status=all&limit=1", 2],
    ["/projects?limit=1", 1],
  ]) {
    const { text } = await get(context, `${list}&offset=1000`);
    assert.match(text, /Nothing is listed this far on\./);
    assert.match(text, /<span>\d+ in all<\/span>/);
    const before = /rel="prev" href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    assert.equal(before, `${list}&offset=${back}`);
  }
});

test("a country without a project stays chosen in the form", async (context) => {
  const { text } = await get(context, "/projects?country=is");
  assert.match(text, /<option value="IS" selected>Iceland<\/option>/);
  assert.match(text, /No project fits\./);
});

test("an invalid address gets a page that says so, never a 5xx", async (context) => {
  const odd: readonly (readonly [string, number])[] = [
    ["/events/nothing", 404],
    ["/events/hidden", 404],
    ["/events/%00", 404],
    ["/events/%ff", 404],
    ["/events/..%2f..%2fetc", 404],
    [`/events/${"x".repeat(2_000)}`, 404],
    ["/events/a/b", 404],
    ["/tokens/0.0.0", 404],
    ["/tokens/0.0.999999999999999999", 404],
    ["/tokens/constructor", 404],
    ["/collections/0.0.1", 404],
    ["/projects/__proto__", 404],
    ["/stars/1", 404],
    ["/stars/ffffffff-ffff-ffff-ffff-ffffffffffff", 404],
    ["/no-such-page", 404],
    ["/events?status=maybe", 400],
    ["/events?status=live&status=live", 400],
    ["/events?limit=0", 400],
    ["/events?offset=-1", 400],
    ["/projects?country=xyz", 400],
    ["/stars?day=2026-02-30", 400],
    ["/stars?day=%00", 400],
  ];
  for (const [path, status] of odd) {
    const reply = await get(context, path, { cookie: context.cookie });
    assert.equal(reply.status, status, path);
    assert.match(reply.headers.get("content-type") ?? "", /^text\/html/, path);
    assert.match(reply.text, /<h1>/, path);
    assert.equal(reply.headers.get("cache-control"), "no-store");
    assert.match(reply.headers.get("content-security-policy") ?? "", /^default-src 'none'; script/);
  }
  for (const cookie of ["starboard=", "starboard=x", `starboard=${"a".repeat(43)}`, "a=b;;=;"]) {
    const { status, text } = await get(context, "/", { cookie });
    assert.equal(status, 200);
    assert.match(text, /data-sign-in/);
  }
});

test("the pager of a wallet's stars leads to days that there are", async (context) => {
  for (const [day, links] of [
    ["0001-01-01", ["0001-01-02"]],
    ["2020-01-01", ["2019-12-31", "2020-01-02"]],
    ["9999-12-31", ["9999-12-30"]],
  ] as const) {
    const { status, text } = await get(context, `/stars?day=${day}`, { cookie: context.cookie });
    assert.equal(status, 200);
    const found = [...text.matchAll(/href="\/stars\?day=([^"]+)"/g)].map(([, to]) => to);
    assert.deepEqual(found, links);
  }
});

test("programs get JSON, HEAD works, and other methods are refused", async (context) => {
  const { service } = context;
  for (const path of ["/no-such-page", "/v1/nothing", "/voting/nothing", "/ops/api/nothing"]) {
    const reply = await send(service, `GET ${path}`, { headers: { accept: "application/json" } });
    assert.notEqual(reply.status, 200, path);
    assert.match(reply.headers.get("content-type") ?? "", /^application\/json/, path);
  }
  for (const path of ["/v1/nothing", "/voting/nothing", "/exports/nothing", "/assets/nothing"]) {
    const reply = await get(context, path);
    assert.equal(reply.status, path.startsWith("/exports") ? 400 : 404, path);
    assert.match(reply.headers.get("content-type") ?? "", /^application\/json/, path);
  }
  const head = await fetch(`${service.url}/events`, { method: "HEAD", headers: HTML });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), "");
  const posted = await send(service, "POST /events", { headers: HTML });
  assert.equal(posted.status, 405);
  assert.equal(posted.headers.get("allow"), "GET, HEAD");
});

test("pages and their files are compressed and small, and files are kept by their names", async (context) => {
  const { service } = context;
  const sizeOf = async (path: string): Promise<number> => {
    const { get: node } = await import("node:http");
    return new Promise((resolve, reject) => {
      node(`${service.url}${path}`, { headers: { "accept-encoding": "gzip" } }, (reply) => {
        const pieces: Buffer[] = [];
        reply.on("data", (piece) => pieces.push(piece));
        reply.on("end", () => {
          const bytes = Buffer.concat(pieces);
          const { "content-encoding": encoding } = reply.headers;
          // What is shorter than this fits a packet as it is.
          assert.equal(encoding, bytes.length < 1_024 ? encoding : "gzip", path);
          if (encoding === "gzip") assert.ok(gunzipSync(bytes).length > 1_024);
          if (path.startsWith("/assets/"))
            assert.match(reply.headers["cache-control"] ?? "", /immutable/);
          resolve(bytes.length);
        });
      }).on("error", reject);
    });
  };
  const { text } = await get(context, "/");
  const style = /href="(\/assets\/[^"]+\.css)"/.exec(text)?.[1] ?? "";
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(text)?.[1] ?? "";
  const [page, sheet, code] = [await sizeOf("/"), await sizeOf(style), await sizeOf(script)];
  assert.ok(page + sheet <= 14_000, `first paint: ${page} + ${sheet} bytes`);
  assert.ok(page + sheet + code <= 60_000, `first page: ${page} + ${sheet} + ${code} bytes`);
});

test("a page of another build gets this build's files, kept nowhere, and each works alone", async (context) => {
  const { files } = await loadAssets();
  const kinds = [...files.keys()].filter((name) => name !== "icon.svg");
  assert.equal(kinds.length, 3, String(kinds));
  for (const name of kinds) {
    const other = await get(context, `/assets/${name.replace(/-[A-Z0-9]{8}\./, "-OTHER234.")}`);
    assert.equal(other.headers.get("cache-control"), "no-store");
    const own = await get(context, `/assets/${name}`);
    assert.equal(other.text, own.text, name);
    assert.equal(other.headers.get("content-type"), own.headers.get("content-type"));
    // The next file may come from a process of yet another build.
    if (name.endsWith(".js")) assert.doesNotMatch(own.text, /(?:from|import) ?"\.\//, name);
  }
});

test("a file of the pages that has not changed costs a 304", async (context) => {
  const asset = /src="(\/assets\/[^"]+\.js)"/.exec((await get(context, "/")).text)?.[1] ?? "";
  const { headers } = await get(context, asset);
  const again = await get(context, asset, { "if-none-match": headers.get("etag") ?? "" });
  assert.equal(again.status, 304);
});

test("this machine signs for demo wallets alone, for its own pages alone, and only to sign in", async (context) => {
  const none = await send(context.service, "GET /demo/wallets");
  assert.equal(none.status, 404, "nothing signs where no demo wallet was given");
  const demoWallets: SigningWallet[] = [];
  const service = await startService({ PAGES: "off" }, { demoWallets });
  const wallet = await newWallet(service, { a: 2 });
  demoWallets.push(wallet);
  const listed = await send(service, "GET /demo/wallets");
  assert.deepEqual(listed.body, [{ id: wallet.id, holds: "holds 2 of collection A, 0 of B" }]);
  assert.ok(!listed.text.includes(wallet.key));
  const asked = await send(service, "POST /voting/challenges", { json: { wallet: wallet.id } });
  const { message } = asked.body;
  const sign = (json: object, headers: Record<string, string> = { origin: service.url }) =>
    send(service, "POST /demo/signatures", { json, headers });
  const signed = await sign({ wallet: wallet.id, message });
  assert.deepEqual([signed.status, signed.body.scheme], [200, "hip820"]);
  for (const origin of ["https://evil.example", "null", ""]) {
    assert.equal((await sign({ wallet: wallet.id, message }, { origin })).status, 400, origin);
  }
  const crossSite = { origin: service.url, "sec-fetch-site": "cross-site" };
  assert.equal((await sign({ wallet: wallet.id, message }, crossSite)).status, 400);
  assert.equal((await sign({ wallet: wallet.id, message: "Pay all." })).status, 400);
  assert.equal((await sign({ wallet: "0.0.2", message })).status, 404);
  for (const path of ["/", "/events", "/tokens/0.0.9001", "/assets/icon.svg"]) {
    const reply = await send(service, `GET ${path}`, { headers: HTML });
    assert.equal(reply.status, 404, `PAGES=off leaves no page at ${path}`);
    assert.match(reply.headers.get("content-type") ?? "", /^application\/json/, path);
  }
  await service.close();
});

test("pages load the same scripts from source as from a build", async () => {
  const folder = temporaryFolder("assets");
  await bundleInto(folder);
  const built = await loadAssets(pathToFileURL(`${folder}/`));
  rmSync(folder, { recursive: true });
  const bundled = await loadAssets(pathToFileURL(`${folder}/`));
  assert.deepEqual([...built.files.keys()].sort(), [...bundled.files.keys()].sort());
  assert.deepEqual(built.paths, bundled.paths);
});

test.run();
