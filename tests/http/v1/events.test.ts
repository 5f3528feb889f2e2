/** GET /v1/events: "Approved events, soonest first. Paged, with `total` and `hasMore`." */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { eventSchema } from "../../../src/http/v1/schemas.ts";
import { EVENT_SOURCES, giveStars, type House, NOW, openHouse } from "./house.ts";
import { badLimits, testBadValues, testRefusals } from "./refusals.ts";

const HOUR = 3_600_000;
const at = (hours: number) => new Date(NOW + hours * HOUR).toISOString();
const options = { approve: true, eventSources: EVENT_SOURCES };
const statuses = ["upcoming", "live", "ended", "all"];
const eventTypes = ["MINT_EVENT", "ECOSYSTEM_MEETUP", "HACKATHON", "OTHER"];

let house: House;
test.before(async () => {
  house = await openHouse();
  const other = { title: "t", eventType: "OTHER" };
  const events = [
    { ...other, id: "live-b", startsAt: at(-1), endsAt: at(1) },
    { ...other, id: "live-a", startsAt: at(-1), endsAt: at(1), source: "SOURCE_B" },
    { ...other, id: "soon", startsAt: at(1), endsAt: at(2), source: "SOURCE_A" },
    { ...other, id: "past", startsAt: at(-3), endsAt: at(-2) },
    { ...other, id: "mint", startsAt: at(-5), eventType: "MINT_EVENT", isForeverMint: true },
    {
      id: "whole",
      title: "Hack week",
      description: "Build.",
      eventType: "HACKATHON",
      source: "SOURCE_B",
      startsAt: "2026-12-01T10:00:00+02:00",
      endsAt: "2026-12-08T10:00:00.5Z",
      host: "The foundation",
      location: "Lisbon",
      imageUrl: "https://img.example/1.png",
      url: "https://hack.example",
      links: [{ label: "Join", url: "https://join.example" }],
      prizes: [{ title: "First" }],
      createdAt: "2026-11-01T00:00:00Z",
    },
  ];
  await importCatalog(house.sql, { events }, options);
  const hidden = { ...other, id: "hidden", startsAt: at(1) };
  await importCatalog(house.sql, { events: [hidden] }, { ...options, approve: false });
});
test.after(() => house.close());

const idsOf = async (query: string) => {
  const { events } = (await house.json(`/events${query}`)) as { events: { id: string }[] };
  return events.map(({ id }) => id);
};

test("200: soonest first, then by id; ended and unapproved events are left out", async () => {
  assert.deepEqual(await idsOf(""), ["mint", "live-a", "live-b", "soon", "whole"]);
});

test("200: `status` asks for one status, or all", async () => {
  assert.deepEqual(await idsOf("?status=upcoming"), ["soon", "whole"]);
  assert.deepEqual(await idsOf("?status=live"), ["mint", "live-a", "live-b"]);
  assert.deepEqual(await idsOf("?status=ended"), ["past"]);
  assert.deepEqual(await idsOf("?status=all"), [
    "mint",
    "past",
    "live-a",
    "live-b",
    "soon",
    "whole",
  ]);
});

test("200: `eventType` and `source` filter, alone and together", async () => {
  assert.deepEqual(await idsOf("?eventType=MINT_EVENT"), ["mint"]);
  assert.deepEqual(await idsOf("?source=SOURCE_B"), ["live-a", "whole"]);
  assert.deepEqual(await idsOf("?source=SOURCE_B&eventType=OTHER&status=live"), ["live-a"]);
  assert.deepEqual(await idsOf("?eventType=ECOSYSTEM_MEETUP"), []);
});

test("200: a page says `total`, `hasMore`, `limit` and `offset`", async () => {
  const { events, ...page } = await house.json("/events?limit=2&offset=1");
  assert.equal((events as unknown[]).length, 2);
  assert.deepEqual(page, { total: 5, hasMore: true, limit: 2, offset: 1 });
  const last = await house.json("/events?limit=2&offset=3");
  assert.equal(last.hasMore, false);
});

test("200: an offset past the end gives an empty list and no more", async () => {
  for (const offset of ["5", "999999999"]) {
    const { events, total, hasMore } = await house.json(`/events?offset=${offset}`);
    assert.deepEqual({ events, total, hasMore }, { events: [], total: 5, hasMore: false });
  }
});

test("200: an integer has up to nine digits, zeros in front among them", async () => {
  const { limit, offset } = await house.json("/events?limit=000000100&offset=000000001");
  assert.deepEqual([limit, offset], [100, 1]);
});

test("200: 20 events when `limit` is omitted", async () => {
  assert.equal((await house.json("/events")).limit, 20);
  assert.equal((await house.json("/events")).offset, 0);
});

test("200: an event has exactly the fields of the contract, missing ones null", async () => {
  await giveStars(house.sql, { type: "event", id: "whole", at: NOW, weight: 16 });
  const { events } = (await house.json("/events")) as { events: Record<string, unknown>[] };
  for (const event of events)
    assert.deepEqual(Object.keys(event), Object.keys(eventSchema.parse(event)), "in its order");
  assert.deepEqual(
    events.find(({ id }) => id === "whole"),
    {
      id: "whole",
      title: "Hack week",
      description: "Build.",
      eventType: "HACKATHON",
      isForeverMint: false,
      status: "upcoming",
      source: "SOURCE_B",
      startsAt: "2026-12-01T08:00:00.000Z",
      endsAt: "2026-12-08T10:00:00.500Z",
      host: "The foundation",
      location: "Lisbon",
      imageUrl: "https://img.example/1.png",
      url: "https://hack.example",
      totalVotes: 16,
      createdAt: "2026-11-01T00:00:00.000Z",
    },
  );
  const mint = events.find(({ id }) => id === "mint");
  assert.equal(mint?.endsAt, null);
  assert.equal(mint?.totalVotes, 0);
  assert.equal(mint?.source, null);
});

test("200: status follows the clock: live from the start, ended from the end", async () => {
  const statusAt = async (instant: number) => {
    house.clock.set(instant);
    const { events } = (await house.json("/events?status=all")) as {
      events: { id: string; status: string }[];
    };
    return events.find(({ id }) => id === "soon")?.status;
  };
  assert.equal(await statusAt(NOW + HOUR - 1), "upcoming");
  assert.equal(await statusAt(NOW + HOUR), "live");
  assert.equal(await statusAt(NOW + 2 * HOUR - 1), "live");
  assert.equal(await statusAt(NOW + 2 * HOUR), "ended");
  house.clock.set(NOW);
});

testBadValues(() => house, {
  path: "/events",
  parameter: "limit",
  bad: badLimits,
  allowed: "integer 1 to 100",
});
testBadValues(() => house, {
  path: "/events",
  parameter: "offset",
  bad: ["-1", "1.5", "1e3", "9999999999", "a"],
  allowed: "integer 0 to 999999999",
});
testBadValues(() => house, {
  path: "/events",
  parameter: "status",
  bad: ["LIVE", "live%20", "lïve", "past"],
  allowed: statuses,
});
testBadValues(() => house, {
  path: "/events",
  parameter: "eventType",
  bad: ["mint_event", "FOREVER_MINT", "MINT_EVENT,OTHER"],
  allowed: eventTypes,
});
testBadValues(() => house, {
  path: "/events",
  parameter: "source",
  bad: ["source_b", "OTHER"],
  allowed: EVENT_SOURCES,
});
testRefusals("/events", () => house);

test.run();
