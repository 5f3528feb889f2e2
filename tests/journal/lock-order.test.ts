/**
 * Goal: what changes the same claims at the same time does so in one order, in the journal's own and in a
 * mint's history. Method: a transaction of the test's own holds what the others need, until they wait.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { compareMint } from "../../src/journal/fold-mint.ts";
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

/** Lets the seller star the mint with B 1, which it loses then. @returns that star, and its loss as `claim_ending` */
async function loseCarrier({ holdings, cast, clock, sql }: Engine, spare: 2 | null) {
  holdings.set(SELLER, { collectionA: [], collectionB: [1, 2] });
  const { star } = bodyOf(await cast(SELLER, "event/mint"));
  const listed = clock.now() + 1;
  await sql`insert into holdings_check_run (id, day, kind, state, started_at)
    values (${RUN}, ${dayOf(listed)}, 'manual', 'running', ${listed})`;
  const ending = {
    ...{
      collection: "B",
      serial: 1,
      wallet: 700,
      star_id: star.id,
      weight: spare === null ? 5 : 0,
      spare,
    },
    ...{ held_b: spare === null ? [] : [spare], counted_b: spare === null ? [] : [spare] },
    ...{ owner: "0.0.9", deleted: false, listed_at: listed, read_at: listed },
  };
  return { star, ending };
}

type Ending = Awaited<ReturnType<typeof loseCarrier>>["ending"];

async function release(sql: Sql, ending: Ending): Promise<void> {
  const entries = JSON.stringify([ending]);
  await sql`select release_claims(${RUN}, 'mint', ${entries}::text::json, 4102444800000)`;
}

/** The same end as an export tells it, of another run. @returns whether it was written */
async function recoverRelease(sql: Sql, ending: Ending, day: string): Promise<boolean> {
  const run = { event_id: "mint", run_id: "00000000-0000-4000-8000-000000000002", check_day: day };
  const given = JSON.stringify([{ ...ending, ...run, released_at: ending.read_at }]);
  const [row] = await sql<[{ is_written: boolean }]>`
    select recover_release(${given}::text::json) as is_written`;
  return row.is_written;
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
  const { ending } = await loseCarrier(engine, 2);
  engine.holdings.set(BUYER, { collectionA: [], collectionB: [2] });
  // Else the check gives up where this machine is slow. Two that wait for each other are found out in a second.
  await one`alter function release_claims set lock_timeout = '20s'`;
  await one.unsafe("begin; select from event_total where event_id = 'mint' for update");
  const casting = engine.cast(BUYER, "event/mint");
  await until("the star waits for the total", waiting(engine.sql, 1));
  const releasing = release(other, ending).then(
    () => "",
    ({ code, detail }) => `${code} ${detail}`,
  );
  await until("the check waits too", waiting(engine.sql, 2));
  await one.unsafe("commit");
  assert.equal(await releasing, "SB409 B/1");
  assert.equal(bodyOf(await casting).star.weight, 6);
});

test("a star that is taken out goes with the NFT that a check just moved its +5 to", async ({
  engine,
  one,
  other,
}) => {
  const { star, ending } = await loseCarrier(engine, 2);
  await one.unsafe("begin");
  await release(one, ending);
  const taken = (async () => {
    await other.unsafe("begin; select hold_seasons_alone()");
    await other`select set_aside_star(${star.id}, ${star.day}, ${RUN})`;
    await other.unsafe("commit");
  })();
  await until("the check is waited for", waiting(engine.sql, 1));
  await one.unsafe("commit");
  await taken;
  assert.deepEqual([...(await engine.sql`select serial from serial_claim`)], []);
  const [total] = await engine.sql`select weight, stars from event_total where event_id = 'mint'`;
  assert.deepEqual({ ...total }, { weight: 0, stars: 0 });
});

test("an end that comes back while a check ends the same takes its weight once", async ({
  engine,
  one,
  other,
}) => {
  const { star, ending } = await loseCarrier(engine, null);
  await one.unsafe("begin");
  await release(one, ending);
  const recovering = recoverRelease(other, ending, star.day).catch(({ message }) => message);
  await until("the check is waited for", waiting(engine.sql, 1));
  await one.unsafe("commit");
  assert.equal(await recovering, false);
  assert.deepEqual((await compareMint(engine.sql, "mint")).differences, []);
});

test("an end that comes back stands before a star that was cast meanwhile, and the star knows of it", async ({
  engine,
  one,
  other,
}) => {
  const { star, ending } = await loseCarrier(engine, null);
  engine.holdings.set(BUYER, { collectionA: [], collectionB: [1] });
  await one.unsafe("begin; select from serial_claim where collection = 'B' for update");
  const recovering = recoverRelease(other, ending, star.day);
  await until("the end waits", waiting(engine.sql, 1));
  let isDone = false;
  const casting = engine.cast(BUYER, "event/mint").finally(() => {
    isDone = true;
  });
  await until(
    "the star is stored or waits",
    async () => isDone || (await waiting(engine.sql, 2)()),
  );
  await one.unsafe("commit");
  assert.equal(await recovering, true);
  assert.equal(bodyOf(await casting).star.weight, 6);
  assert.deepEqual((await compareMint(engine.sql, "mint")).differences, []);
});

test.run();
