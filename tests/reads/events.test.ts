/** The database's filter by status and the status that an event shows are one rule. */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "uvu";
import { eventStatus, listEvents } from "../../src/reads/events.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

let database: TestDatabase;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 2 });
});
test.after(async () => {
  await sql.end();
  await database.close();
});

const page = { limit: 100, offset: 0 };

test("each event is found under exactly the status it shows, and without a filter unless ended", async () => {
  const times = fc.tuple(fc.nat(4), fc.option(fc.nat(4)));
  await fc.assert(
    fc.asyncProperty(fc.array(times, { maxLength: 12 }), fc.nat(6), async (given, now) => {
      await sql`delete from event`;
      for (const [index, [startsAt, length]] of given.entries()) {
        const endsAt = length === null ? null : startsAt + length;
        const type = endsAt === null ? "MINT_EVENT" : "OTHER";
        await sql`insert into event (id, title, event_type, is_forever_mint, starts_at, ends_at, created_at, approved_at)
          values (${`e${index}`}, 't', ${type}, ${endsAt === null}, ${startsAt}, ${endsAt}, 0, 0)`;
      }
      const { events: all, until } = await listEvents(sql, { ...page, status: "all", now });
      assert.equal(all.length, given.length);
      // Until then the clock alone changes nothing of it.
      const edges = all.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt ?? 0]);
      assert.equal(until, Math.min(...edges.filter((at) => at > now), Number.POSITIVE_INFINITY));
      for (const status of ["upcoming", "live", "ended"] as const) {
        const { events, total } = await listEvents(sql, { ...page, status, now });
        assert.deepEqual(
          events,
          all.filter((event) => eventStatus(event, now) === status),
        );
        assert.equal(total, events.length);
      }
      const { events } = await listEvents(sql, { ...page, now });
      assert.deepEqual(
        events,
        all.filter((event) => eventStatus(event, now) !== "ended"),
      );
    }),
    { numRuns: 40 },
  );
});

test.run();
