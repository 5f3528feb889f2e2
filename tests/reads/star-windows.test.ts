/** The short way to count 7 and 30 days equals the plain one: adding up the hours. */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { topRanked } from "../../src/reads/markets.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { giveStars } from "../http/v1/house.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 20, 8, 30);
const IDS = ["0.0.1", "0.0.2", "0.0.3"];
/** Its approval was withdrawn, and its stars stand. */
const HIDDEN = "0.0.4";

let database: TestDatabase;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 2 });
  for (const id of [...IDS, HIDDEN]) {
    await sql`insert into token (id, symbol, name, created_at, approved_at)
      values (${id}, 'T', 'T', 0, ${id === HIDDEN ? null : 1})`;
  }
});
test.after(async () => {
  await sql.end();
  await database.close();
});

const stars = fc.array(
  fc.record({
    id: fc.constantFrom(...IDS, HIDDEN),
    hoursAgo: fc.oneof(
      fc.integer({ min: 0, max: 800 }),
      fc.integer({ min: 0, max: 12 }),
      // Today, so that the day alone decides; and around the edges of both windows and of their first days.
      fc.integer({ min: 140, max: 195 }),
      fc.integer({ min: 690, max: 745 }),
    ),
    weight: fc.integer({ min: 1, max: 50 }),
  }),
  { maxLength: 25 },
);

/** Small ones follow from today's stars alone, whenever so many items have one. */
const limits = fc.constantFrom(1, 2, 3, 10);

test("votes7d, votes30d and totalVotes for any stars at any hour of the day", async () => {
  await fc.assert(
    fc.asyncProperty(
      stars,
      fc.integer({ min: 0, max: DAY_MS - 1 }),
      limits,
      async (given, ofDay, limit) => {
        await sql`delete from item_day`;
        await sql`delete from item_hour`;
        const now = Math.floor(NOW / DAY_MS) * DAY_MS + ofDay;
        const placed = given.map((star) => ({ ...star, at: now - star.hoursAgo * HOUR_MS }));
        for (const star of placed) await giveStars(sql, { type: "token", ...star });
        const sum = (id: string, counts: (at: number) => boolean) =>
          placed
            .filter((star) => star.id === id && counts(star.at))
            .reduce((all, { weight }) => all + weight, 0);
        const firstHour = Math.floor(now / HOUR_MS) * HOUR_MS;
        const wanted = IDS.map((id) => ({
          id,
          totalVotes: sum(id, (at) => dayOf(at) === dayOf(now)),
          votes7d: sum(id, (at) => at >= firstHour - 7 * DAY_MS),
          votes30d: sum(id, (at) => at >= firstHour - 30 * DAY_MS),
        }));
        wanted.sort(
          (a, b) =>
            b.totalVotes - a.totalVotes || b.votes30d - a.votes30d || a.id.localeCompare(b.id),
        );
        const rows = await topRanked(sql, "token", { limit, now });
        assert.deepEqual(
          rows.map(({ id, totalVotes, votes7d, votes30d }) => ({
            id,
            totalVotes,
            votes7d,
            votes30d,
          })),
          wanted.slice(0, limit),
        );
      },
    ),
    { numRuns: 100 },
  );
});

test.run();
