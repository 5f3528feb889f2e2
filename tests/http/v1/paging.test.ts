/** Paging an unchanged set gives each approved record once, at any ties and page size. */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { type House, openHouse } from "./house.ts";

const EVENTS = 57;
const PROJECTS = 43;

let house: House;
test.before(async () => {
  house = await openHouse();
  // Few instants for many records: almost every position is a tie.
  const instant = (index: number) => new Date(Date.UTC(2027, 0, 1 + (index % 3))).toISOString();
  const ids = (count: number) =>
    Array.from({ length: count }, (_, index) => `${"aAzZ_-09"[index % 8]}${(index * 31) % count}`);
  const events = ids(EVENTS).map((id, index) => ({
    id,
    title: id,
    eventType: "OTHER",
    startsAt: instant(index),
  }));
  const projects = ids(PROJECTS).map((id, index) => ({
    id,
    name: id,
    category: "DATA",
    createdAt: instant(index),
  }));
  await importCatalog(house.sql, { events, projects }, { approve: true, eventSources: [] });
  const hidden = events.map((event) => ({ ...event, id: `hidden${event.id}` }));
  await importCatalog(house.sql, { events: hidden }, { approve: false, eventSources: [] });
});
test.after(() => house.close());

interface Walked {
  readonly id: string;
}

/** Follows `hasMore` as the specification says: "stop when `hasMore` is `false`". */
async function walk(path: string, list: string, limit: number): Promise<Walked[]> {
  const seen: Walked[] = [];
  for (let offset = 0; ; offset += limit) {
    const body = await house.json(`${path}?limit=${limit}&offset=${offset}`);
    const records = body[list] as Walked[];
    seen.push(...records);
    assert.equal(body.hasMore, seen.length < Number(body.total));
    if (!body.hasMore) return seen;
    assert.equal(records.length, limit, "a page that is not the last is full");
  }
}

for (const [path, list, count, order] of [
  ["/events", "events", EVENTS, "startsAt"],
  ["/ecosystem", "projects", PROJECTS, "createdAt"],
] as const) {
  test(`${path}: each record once, for any page size (P16)`, async () => {
    const whole = await walk(path, list, 100);
    assert.equal(new Set(whole.map(({ id }) => id)).size, count);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (limit) => {
        assert.deepEqual(await walk(path, list, limit), whole);
      }),
      { numRuns: 12 },
    );
  });

  test(`${path}: ties are broken by id, in the order of its characters' codes`, async () => {
    const whole = (await walk(path, list, 100)) as (Walked & Record<string, string>)[];
    const direction = order === "startsAt" ? 1 : -1;
    const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
    const sorted = [...whole].sort(
      (a, b) => direction * compare(a[order] ?? "", b[order] ?? "") || compare(a.id, b.id),
    );
    assert.deepEqual(whole, sorted);
  });
}

test.run();
