/**
 * Goal: every reply is what the published OpenAPI document says, for every status that it names.
 * Method: each endpoint is brought to each status on a real database; the replies are held
 * against the document as it is served, by a judge that wants no field the document does not name.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { addSeason } from "../../../src/catalogue/seasons.ts";
import { bareProblem } from "../../../src/http/problem.ts";
import { issueKey, revokeKey } from "../../../src/keys/api-keys.ts";
import { openPostgres } from "../../../src/store/postgres.ts";
import { testDatabase } from "../../support/postgres.ts";
import { type OpenApi, type Reply, violations } from "./contract.ts";
import {
  bodyOf,
  createHouse,
  EVENT_SOURCES,
  from,
  giveStars,
  type House,
  NOW,
  openHouse,
} from "./house.ts";

let house: House;
let document: OpenApi;
const seen = new Map<string, Set<string>>();
test.before(async () => {
  house = await openHouse();
  await fill(house);
  // JSON has no type; that it is a valid OpenAPI document is a test of its own.
  document = (await bodyOf(await house.get("/openapi.json"))) as unknown as OpenApi;
});
test.after(() => house.close());

async function fill({ sql }: House): Promise<void> {
  const full = {
    description: "x".repeat(4_000),
    source: EVENT_SOURCES[0],
    endsAt: "2026-12-01T00:00:00Z",
    host: "Host",
    location: "Berlin",
    imageUrl: "https://i.example/1.png",
    url: "https://example.org",
    links: [{ label: "Site", url: "https://example.org" }],
    prizes: [{ title: "First" }, { title: "Second", description: "d", value: "1 HBAR" }],
  };
  const events = ["MINT_EVENT", "ECOSYSTEM_MEETUP", "HACKATHON", "OTHER"].map(
    (eventType, index) => ({
      id: index === 0 ? "e" : `e${index}`,
      title: "Event",
      eventType,
      startsAt: new Date(NOW + (index - 1) * 3_600_000).toISOString(),
      ...(index % 2 === 0 ? full : {}),
    }),
  );
  const forever = {
    id: "f",
    title: "F",
    eventType: "MINT_EVENT",
    isForeverMint: true,
    startsAt: "2020-01-01T00:00:00Z",
  };
  const tokens = [
    { id: "0.0.1", symbol: "T", name: "Token" },
    {
      id: "0.0.2",
      symbol: "U",
      name: "Ünïcödé 🌟",
      iconUrl: "https://i.example/2",
      price: 1e-9,
      marketCap: 1e15,
    },
  ];
  const collections = [
    { id: "0.0.3", name: "C" },
    { id: "0.0.4", name: "D", imageUrl: "https://i.example/4", owners: 0, supply: 1_000_000 },
  ];
  const projects = [
    { id: "p", name: "P", category: "DATA" },
    {
      id: "q",
      slug: "q-q",
      name: "Q",
      category: "DEFI",
      country: "de",
      description: "d",
      logoUrl: "https://i.example/q",
      websiteUrl: "https://example.org",
    },
  ];
  const catalog = { events: [...events, forever], tokens, collections, projects };
  await importCatalog(sql, catalog, { approve: true, eventSources: EVENT_SOURCES });
  await giveStars(sql, { type: "token", id: "0.0.1", at: NOW, weight: 7 });
  await giveStars(sql, { type: "event", id: "e", at: NOW, weight: 7 });
  const season = { name: "Autumn", startsAt: NOW - 1, endsAt: NOW + 3_600_000 };
  const { id } = await addSeason(sql, season);
  await sql`insert into season_score values (${id}, 1001, 7, 6, 5), (${id}, 1002, 0, 1, 9)`;
}

async function judge(path: string | null, response: Response): Promise<Reply> {
  const reply = { status: response.status, headers: response.headers, text: await response.text() };
  assert.deepEqual(
    violations(document, path, reply),
    [],
    `${path} ${reply.status}: ${reply.text.slice(0, 300)}`,
  );
  if (path !== null) seen.set(path, (seen.get(path) ?? new Set()).add(String(reply.status)));
  return reply;
}

const ENDPOINTS = [
  "/",
  "/openapi.json",
  "/events",
  "/events/{id}",
  "/tokens/top",
  "/collections/top",
  "/leaderboard",
  "/ecosystem",
] as const;
const OPEN = ["/", "/openapi.json"];
const asked = (path: string): string => path.replace("{id}", "e");
const bearer = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

for (const path of ENDPOINTS) {
  test(`200 and 304: ${path} as the document says`, async () => {
    const reply = await judge(path, await house.get(asked(path)));
    assert.equal(reply.status, 200);
    const tag = reply.headers.get("etag") ?? "";
    const again = await judge(path, await house.get(asked(path), { "If-None-Match": tag }));
    assert.equal(again.status, 304);
  });

  test(`400: ${path}`, async () => {
    assert.equal((await judge(path, await house.get(`${asked(path)}?no=1`))).status, 400);
    assert.equal((await judge(path, await house.get(`${asked(path)}?limit=`))).status, 400);
  });

  test(`405: ${path}`, async () => {
    const response = await house.app.request(`/v1${asked(path)}`, { method: "DELETE" });
    assert.equal((await judge(path, response)).status, 405);
  });

  test(`429: ${path}`, async () => {
    const app = createHouse({ sql: house.sql, clock: house.clock, rateLimit: 1 });
    const ask = () => app.request(`/v1${asked(path)}`, bearer(house.key), from("192.0.2.3"));
    await judge(path, await ask());
    assert.equal((await judge(path, await ask())).status, 429);
  });

  test(`408 and 431: ${path}, as the parser refuses it`, async () => {
    for (const code of ["REQUEST_TIMEOUT", "HEADERS_TOO_LARGE"] as const) {
      const { text, ...init } = bareProblem(code);
      await judge(path, new Response(text, init));
    }
  });

  if (OPEN.includes(path)) continue;
  test(`401: ${path}, with each of the three codes`, async () => {
    const revoked = await issueKey(house.sql, "revoked");
    await revokeKey(house.sql, revoked.id);
    for (const [key, code] of [
      ["", "MISSING_API_KEY"],
      ["starboard_live_000000000000000000000000000000", "INVALID_API_KEY"],
      [revoked.key, "REVOKED_API_KEY"],
    ] as const) {
      const response = await house.app.request(`/v1${asked(path)}`, bearer(key));
      assert.equal(JSON.parse((await judge(path, response)).text).code, code);
    }
  });

  test(`503: ${path} while the database is away; 500 when it is not what it should be`, async () => {
    const { clock } = house;
    const away = openPostgres("postgres://absent@127.0.0.1:1/nowhere");
    const empty = await testDatabase();
    const bare = openPostgres(empty.url, { connections: 1 });
    for (const [sql, status] of [
      [away, 503],
      [bare, 500],
    ] as const) {
      const response = await createHouse({ sql, clock }).request(
        `/v1${asked(path)}`,
        bearer(house.key),
      );
      assert.equal((await judge(path, response)).status, status);
      await sql.end();
    }
    await empty.close();
  });
}

test("404: an unknown event, and an unknown path", async () => {
  assert.equal((await judge("/events/{id}", await house.get("/events/none"))).status, 404);
  for (const path of ["/nothing", "/events/e/links", "/tokens", "//"]) {
    assert.equal((await judge(null, await house.get(path))).status, 404);
  }
});

test("every filter and page of the lists", async () => {
  for (const query of [
    "status=all",
    "status=upcoming",
    "status=live",
    "status=ended",
    "eventType=MINT_EVENT",
    `source=${EVENT_SOURCES[0]}`,
    "limit=1&offset=1",
    "offset=999999999",
  ]) {
    assert.equal((await judge("/events", await house.get(`/events?${query}`))).status, 200, query);
  }
  for (const query of ["category=DEFI", "country=de", "limit=1", "offset=5"]) {
    assert.equal((await judge("/ecosystem", await house.get(`/ecosystem?${query}`))).status, 200);
  }
});

test("a leaderboard while a season is on, and while none is", async () => {
  for (const [at, entries] of [
    [NOW, 2],
    [NOW + 3_600_000, 0],
  ] as const) {
    house.clock.set(at);
    const reply = await judge("/leaderboard", await house.get("/leaderboard"));
    house.clock.set(NOW);
    assert.equal(JSON.parse(reply.text).leaderboard.length, entries);
  }
});

test("every status that the document names was seen, and every endpoint that it has", () => {
  assert.deepEqual([...Object.keys(document.paths)].sort(), [...ENDPOINTS].sort());
  for (const path of ENDPOINTS) {
    // What needs no database cannot lack one.
    const unreachable = OPEN.includes(path) ? ["500", "503"] : [];
    const named = Object.keys(document.paths[path]?.get.responses ?? {});
    const missing = named.filter(
      (status) => !seen.get(path)?.has(status) && !unreachable.includes(status),
    );
    assert.deepEqual(missing, [], path);
  }
});

test("the judge refuses a field too many, one too few, a wrong type and an unnamed status", async () => {
  const reply = await judge("/tokens/top", await house.get("/tokens/top"));
  const body = JSON.parse(reply.text);
  const [token] = body.tokens;
  const { rank: _, ...few } = token;
  for (const [spoilt, status] of [
    [{ tokens: [{ ...token, secret: 1 }] }, 200],
    [{ tokens: [few] }, 200],
    [{ tokens: [{ ...token, rank: "1" }] }, 200],
    [{ tokens: [{ ...token, price: -1 }] }, 200],
    [{ tokens: null }, 200],
    [body, 418],
  ] as const) {
    const given = { ...reply, status, text: JSON.stringify(spoilt) };
    assert.notDeepEqual(violations(document, "/tokens/top", given), []);
  }
});

test.run();
