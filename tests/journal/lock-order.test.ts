/**
 * Goal: what changes the same claims at the same time takes its locks in one order. Method: a
 * transaction of the test's own holds what both need, until both wait.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { bodyOf, type Engine, seedDirectory, startEngine } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";

interface Context {
  engine: Engine;
  /** Each one connection, for a transaction of several statements. */
  one: Sql;
  other: Sql;
  close: () => Promise<void>;
}
const test = suite<Context>("order of locks");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const engine = await startEngine(database.url);
  const [one, other] = [1, 2].map(() => openPostgres(database.url, { connections: 1 }));
  await seedDirectory(engine.sql);
  Object.assign(context, {
    ...{ engine, one, other },
    close: async () => {
      await Promise.all([engine.close(), one?.end(), other?.end()]);
      await database.close();
    },
  });
});
test.after.each((context) => context.close());

const RUN = "00000000-0000-4000-8000-000000000001";
const [SELLER, BUYER] = ["0.0.700", "0.0.701"];

/** Lets the seller star the mint with B 1, which it loses then. @returns that star, and its loss: B 2 carries the +5 on */
async function loseCarrier({ holdings, cast, clock, sql }: Engine) {
  holdings.set(SELLER, { collectionA: [], collectionB: [1, 2] });
  const { star } = bodyOf(await cast(SELLER, "event/mint"));
  const listed = clock.now() + 1;
  await sql`insert into holdings_check_run (id, day, kind, state, started_at)
    values (${RUN}, ${dayOf(listed)}, 'manual', 'running', ${listed})`;
  const ending = {
    ...{ collection: "B", serial: 1, wallet: 700, star_id: star.id, weight: 0, spare: 2 },
    ...{ held_b: [2], counted_b: [2], owner: "0.0.9", deleted: false },
    ...{ listed_at: listed, read_at: listed },
  };
  return { star, entries: JSON.stringify([ending]) };
}

function release(sql: Sql, entries: string) {
  return sql`select release_claims(${RUN}, 'mint', ${entries}::text::json, 4102444800000)`;
}

function waiting(sql: Sql, count: number): () => Promise<boolean> {
  return async () => {
    const rows = await sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return rows.length === count;
  };
}

test("a star claims its NFTs before it takes the mint's total, as the check does: neither waits in vain", async ({
  engine,
  one,
  other,
}) => {
  const { entries } = await loseCarrier(engine);
  engine.holdings.set(BUYER, { collectionA: [], collectionB: [2] });
  await one.unsafe("begin; select from event_total where event_id = 'mint' for update");
  const casting = engine.cast(BUYER, "event/mint");
  await until("the star waits for the total", waiting(engine.sql, 1));
  const releasing = release(other, entries).then(
    () => "",
    ({ code, detail }) => `${code} ${detail}`,
  );
  await until("the check waits too", waiting(engine.sql, 2));
  await one.unsafe("commit");
  assert.equal(await releasing, "SB409 B/1");
  assert.equal(bodyOf(await casting).star.weight, 6);
});

test.run();
