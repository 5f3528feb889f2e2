/**
 * Goal: each commit of stars moves the revision of what it shows, once, and of nothing else; so a
 * kept answer is never older than a star, and lives as long as it may. Method: stars through the
 * engine, the revision read before and after.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { addSeason } from "../../src/catalogue/seasons.ts";
import { parseRevision } from "../../src/store/data-revision.ts";
import { type Engine, seedDirectory, startEngine, verdictOf } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";

const test = suite<{ engine: Engine; close: () => Promise<void> }>("noted changes");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const engine = await startEngine(database.url);
  await seedDirectory(engine.sql);
  context.engine = engine;
  context.close = async () => {
    await engine.close();
    await database.close();
  };
});
test.after.each((context) => context.close());

/** The kinds whose revision moved while something was done, each as often as it moved. */
async function moved({ sql }: Engine, act: () => Promise<unknown>): Promise<readonly string[]> {
  const read = async () => {
    const [row] = await sql<{ revision: string }[]>`select data_revision() as revision`;
    return Object.entries(parseRevision(row?.revision ?? "{}"));
  };
  const before = new Map(await read());
  await act();
  const after = await read();
  return after.flatMap(([kind, count]) =>
    Array.from({ length: Number(count) - Number(before.get(kind)) }, () => kind),
  );
}

test("a star moves its own kind once", async ({ engine }) => {
  const cast = (target: string) => moved(engine, () => engine.cast("0.0.500", target));
  assert.deepEqual(await cast("token/0.0.9001"), ["token"]);
  assert.deepEqual(await cast("collection/0.0.8001"), ["collection"]);
  assert.deepEqual(await cast("project/dex"), ["project"]);
  assert.deepEqual(await cast("event/meetup"), ["event"]);
  assert.deepEqual(await cast("event/mint"), ["event"]);
});

test("a star of a season moves the season too, and a refused one nothing", async ({ engine }) => {
  const now = engine.clock.now();
  await addSeason(engine.sql, { name: "On", startsAt: now - 1_000, endsAt: now + 3_600_000 });
  const cast = async () => verdictOf(await engine.cast("0.0.501", "token/0.0.9001"));
  assert.deepEqual((await moved(engine, cast)).toSorted(), ["season", "token"]);
  assert.deepEqual(await moved(engine, cast), []);
});

test("counters edited by hand move it as well", async ({ engine }) => {
  await engine.cast("0.0.502", "token/0.0.9001");
  await engine.cast("0.0.502", "event/hack");
  const { sql } = engine;
  assert.deepEqual(await moved(engine, () => sql`update item_day set weight = 7`), ["token"]);
  assert.deepEqual(await moved(engine, () => sql`update event_total set weight = 7`), ["event"]);
});

test.run();
