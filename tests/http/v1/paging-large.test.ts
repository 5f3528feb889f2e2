// timeout: 180 s
/** The property of paging on thousands of records of each list, most of them tied: nothing twice, nothing left out. */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { type House, openHouse } from "./house.ts";

const RECORDS = 10_000;
const INSTANTS = 7;

let house: House;
test.before(async () => {
  house = await openHouse();
  // Seven instants for all records: some 1,400 share each.
  const instant = (index: number) =>
    new Date(Date.UTC(2027, 0, 1 + (index % INSTANTS))).toISOString();
  const ids = Array.from(
    { length: RECORDS },
    (_, index) => `${"aAzZ_-09"[index % 8]}${(index * 7_919) % RECORDS}`,
  );
  const events = ids.map((id, index) => ({
    id,
    title: id,
    eventType: "OTHER",
    startsAt: instant(index),
  }));
  const projects = ids.map((id, index) => ({
    id,
    name: id,
    category: "DATA",
    createdAt: instant(index),
  }));
  await importCatalog(house.sql, { events, projects }, { approve: true, eventSources: [] });
});
test.after(() => house.close());

interface Page {
  readonly ids: readonly string[];
  readonly hasMore: boolean;
  readonly total: number;
}

async function page(path: string, list: string, limit: number, offset: number): Promise<Page> {
  const body = await house.json(`${path}?limit=${limit}&offset=${offset}`);
  const ids = (body[list] as { id: string }[]).map(({ id }) => id);
  return { ids, hasMore: Boolean(body.hasMore), total: Number(body.total) };
}

async function walk(path: string, list: string, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (;;) {
    const { ids, hasMore } = await page(path, list, limit, seen.length);
    seen.push(...ids);
    if (!hasMore) return seen;
    assert.equal(ids.length, limit);
  }
}

for (const [path, list] of [
  ["/events", "events"],
  ["/ecosystem", "projects"],
] as const) {
  test(`${path}: all records by pages of 100 and of 73 are the same, each once`, async () => {
    const whole = await walk(path, list, 100);
    assert.equal(whole.length, RECORDS);
    assert.equal(new Set(whole).size, RECORDS);
    assert.deepEqual(await walk(path, list, 73), whole);

    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 100 }),
        fc.oneof(
          fc.integer({ min: 0, max: RECORDS + 200 }),
          // Around the edges between instants, and around the end.
          fc
            .tuple(fc.integer({ min: 1, max: INSTANTS }), fc.integer({ min: -3, max: 3 }))
            .map(([edge, away]) => Math.ceil((edge * RECORDS) / INSTANTS) + away),
        ),
        async (limit, offset) => {
          const { ids, hasMore, total } = await page(path, list, limit, offset);
          assert.deepEqual(ids, whole.slice(offset, offset + limit));
          assert.equal(hasMore, offset + ids.length < RECORDS && ids.length > 0);
          assert.equal(total, RECORDS);
        },
      ),
      { numRuns: 60 },
    );
  });
}

test.run();
