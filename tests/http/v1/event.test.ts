/** GET /v1/events/{id}: "One approved event with its links and prizes." */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { rejectRecord } from "../../../src/catalogue/approve-records.ts";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { eventDetailSchema } from "../../../src/http/v1/schemas.ts";
import { bodyOf, type House, NOW, openHouse } from "./house.ts";
import { testRefusals } from "./refusals.ts";

let house: House;
test.before(async () => {
  house = await openHouse();
  const event = {
    id: "e_1-A",
    title: "Mint",
    eventType: "MINT_EVENT",
    startsAt: new Date(NOW).toISOString(),
    links: [
      { label: "Site", url: "https://a.example" },
      { label: "Chat", url: "http://b.example" },
    ],
    prizes: [{ title: "First", description: null, value: "100 HBAR" }, { title: "Second" }],
  };
  const hidden = { ...event, id: "hidden" };
  const options = { approve: true, eventSources: [] };
  await importCatalog(house.sql, { events: [event, hidden] }, options);
  await rejectRecord(house.sql, "event", "hidden");
});
test.after(() => house.close());

test("200: the event with its links and prizes, and nothing else", async () => {
  const body = eventDetailSchema.parse(await house.json("/events/e_1-A"));
  assert.equal(body.status, "live");
  assert.equal(body.endsAt, "2026-11-27T08:30:00.000Z");
  assert.deepEqual(body.links, [
    { label: "Site", url: "https://a.example" },
    { label: "Chat", url: "http://b.example" },
  ]);
  assert.deepEqual(body.prizes, [
    { title: "First", description: null, value: "100 HBAR" },
    { title: "Second", description: null, value: null },
  ]);
});

test("404 NOT_FOUND: no approved event with the given id", async () => {
  const ids = [
    "none",
    "hidden",
    "E_1-A",
    "e_1-A%00",
    "%2e%2e%2fkeys",
    "a%2Fb",
    "'",
    "x".repeat(99),
  ];
  for (const id of ids) {
    const response = await house.get(`/events/${id}`);
    assert.equal(response.status, 404, id);
    assert.equal((await bodyOf(response)).code, "NOT_FOUND");
  }
});

test("404 NOT_FOUND: a path that the API does not have, before the key is looked at", async () => {
  for (const path of [
    "/events/",
    "/events/a/b",
    "/event",
    "/leaderboards",
    "/tokens",
    "//events",
  ]) {
    const response = await house.app.request(`/v1${path}`);
    assert.equal(response.status, 404, path);
    assert.deepEqual(Object.keys(await bodyOf(response)), ["error", "code"]);
    assert.ok(response.headers.get("ratelimit"), path);
  }
});

test("400 comes before 404: a bad parameter of an unknown event", async () => {
  assert.equal((await house.get("/events/none?limit=5")).status, 400);
});

testRefusals("/events/e_1-A", () => house);

test.run();
