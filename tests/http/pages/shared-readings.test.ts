/**
 * Goal: a request that joins the reading of another shows nothing that was over when it was made.
 * Method: every page is asked for on both sides of 00:00 UTC at once, over a real database.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { startOfDay } from "../../../actors/day.ts";
import { directoryPages } from "../../../src/http/pages/app.ts";
import { sharedReadings } from "../../../src/http/pages/page.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../../support/postgres.ts";

const YESTERDAY = "2026-11-26";
const MIDNIGHT = startOfDay("2026-11-27");
const SEASONS = ["11111111-1111-7111-8111-111111111111", "22222222-2222-7222-8222-222222222222"];
/** Counters of the day before, an event and a season that ended with it, and the points in that season. */
const OVER = />777<\/strong>|Old event|Old season|777 points/;
const VISITOR = {
  wallet: "0.0.1001",
  allowance: { limit: 5, used: 0, remaining: 5, resetsAt: MIDNIGHT },
  premiumUntil: null,
  starsToday: [],
};

interface Context {
  database: TestDatabase;
  sql: Sql;
}

const test = suite<Context>("readings that pages share");

test.before(async (context) => {
  context.database = await testDatabase({ migrated: true });
  const sql = openPostgres(context.database.url, { connections: 2 });
  context.sql = sql;
  await sql`insert into token (id, symbol, name, created_at, approved_at) values ('0.0.9001', 'T', 'Token', 0, 0)`;
  await sql`insert into collection (id, name, created_at, approved_at) values ('0.0.9002', 'Cats', 0, 0)`;
  await sql`insert into project (id, slug, name, category, created_at, approved_at) values ('dex', 'dex', 'Dex', 'DEFI', 0, 0)`;
  await sql`insert into item_day (target_type, target_id, day, weight, stars)
    select type, id, ${YESTERDAY}, 777, 1
    from (values ('token', '0.0.9001'), ('collection', '0.0.9002'), ('project', 'dex')) as item (type, id)`;
  await sql`insert into event (id, title, event_type, starts_at, ends_at, created_at, approved_at)
    values ('meetup', 'Old event', 'OTHER', 0, ${MIDNIGHT}, 0, 0)`;
  await sql`insert into season (id, name, starts_at, ends_at) values
    (${SEASONS[0] ?? ""}, 'Old season', 0, ${MIDNIGHT}), (${SEASONS[1] ?? ""}, 'New season', ${MIDNIGHT}, ${2 * MIDNIGHT})`;
  await sql`insert into season_score (season_id, wallet, points, stars, weight)
    values (${SEASONS[0] ?? ""}, 1001, 777, 777, 777), (${SEASONS[1] ?? ""}, 1001, 3, 3, 3)`;
});

test.after(async ({ sql, database }) => {
  await sql.end({ timeout: 1 });
  await database.close();
});

test("a page that is asked for at 00:00 UTC shows nothing of the day before, whatever it joins", async ({
  sql,
}) => {
  const share = sharedReadings({ now: () => MIDNIGHT });
  const shown = { eventSources: [], siteName: "Stars", explorerUrl: null, mirrorNodeUrl: null };
  const pages = directoryPages({ sql, share, ...shown });
  const ids: Readonly<Record<string, string>> = {
    "/tokens/:id": "0.0.9001",
    "/collections/:id": "0.0.9002",
    "/projects/:id": "dex",
  };
  for (const { path, show } of pages) {
    if (path.endsWith(":id") && ids[path] === undefined) continue;
    const ask = (now: number) =>
      show({ query: new URLSearchParams(), id: ids[path] ?? "", now, visitor: VISITOR });
    const [, { body }] = await Promise.all([ask(MIDNIGHT - 1), ask(MIDNIGHT)]);
    assert.doesNotMatch(String(await body), OVER, path);
  }
});

test.run();
