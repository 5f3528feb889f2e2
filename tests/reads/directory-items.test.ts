/** What the start page and the filters of the directory show of projects. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { DAY_MS } from "../../actors/day.ts";
import { projectCountries, topProjects } from "../../src/reads/directory-items.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { giveStars } from "../http/v1/house.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const NOW = Date.UTC(2026, 10, 20, 8, 30);

let database: TestDatabase;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 1 });
  for (const [id, createdAt, country, weight, at] of [
    ["starred", 1, "DE", 3, NOW],
    ["aged", 2, null, 100, NOW - DAY_MS],
    ["young", 3, "AT", 1, NOW - 2 * DAY_MS],
    ["hidden", 4, "FR", 1_000, NOW],
  ] as const) {
    await sql`insert into project (id, slug, name, category, country, created_at, approved_at)
      values (${id}, ${id}, ${id}, 'DATA', ${country}, ${createdAt}, ${id === "hidden" ? null : 1})`;
    await giveStars(sql, { type: "project", id, at, weight });
  }
});
test.after(async () => {
  await sql.end();
  await database.close();
});

test("the top projects are those of today, then the newest, and none that is not approved", async () => {
  const top = await topProjects(sql, { limit: 3, now: NOW });
  assert.deepEqual(
    top.map(({ id, totalVotes }) => [id, totalVotes]),
    [
      ["starred", 3],
      ["young", 0],
      ["aged", 0],
    ],
  );
});

test("a country of which no project is approved is no filter", async () => {
  assert.deepEqual(await projectCountries(sql), ["AT", "DE"]);
});

test.run();
