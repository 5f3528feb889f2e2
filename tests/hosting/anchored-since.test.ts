import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import { DAY_MS, dayOf, endOfDay } from "../../actors/day.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { castStar } from "../../src/voting/cast-star.ts";
import { bodyOf, seedDirectory, startEngine } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";

const RUN = "00000000-0000-4000-8000-000000000001";

test("a star whose reading began before midnight ends no +5 that was moved to its NFT meanwhile", async () => {
  const database = await testDatabase({ migrated: true });
  const engine = await startEngine(database.url);
  const owner = openPostgres(database.url, { connections: 1 });
  await seedDirectory(owner);
  const goTo = async (instant: number): Promise<void> => {
    await owner.unsafe(`create or replace function now_ms() returns bigint language sql volatile as $$
      select ${instant - Date.now()} + floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$`);
    await engine.clock.measure();
  };
  const midnight = endOfDay(dayOf(Date.now())) + DAY_MS;
  await goTo(midnight - 3_600_000);
  engine.holdings.set("0.0.700", { collectionA: [], collectionB: [1, 2] });
  const { star: first } = bodyOf(await engine.cast("0.0.700", "event/mint"));
  await goTo(midnight - 2_000);
  let isMoved = false;
  const readHoldings = async (wallet: string) => {
    const held = { collectionA: [], collectionB: wallet === "0.0.700" ? [] : [2] };
    const reading = { ...held, readAt: engine.clock.now() };
    if (wallet === "0.0.700" || isMoved) return reading;
    isMoved = true;
    // A check by hand that looked before the sale moves the seller's +5 to the NFT that is sold.
    const listed = reading.readAt - 50;
    await pause(20);
    await owner`insert into holdings_check_run (id, day, kind, state, started_at)
      values (${RUN}, ${dayOf(listed)}, 'manual', 'running', ${listed})`;
    const ending = {
      ...{ collection: "B", serial: 1, wallet: 700, star_id: first.id, weight: 0, spare: 2 },
      ...{ held_b: [2], counted_b: [2], owner: "0.0.9", deleted: false },
      ...{ listed_at: listed, read_at: listed },
    };
    const entries = JSON.stringify([ending]);
    await owner`select release_claims(${RUN}, 'mint', ${entries}::text::json, ${midnight + 60_000})`;
    await goTo(midnight + 100);
    return reading;
  };
  const result = await castStar(
    { ...engine.parts.casting, readHoldings },
    {
      voter: { wallet: "0.0.701" },
      target: { type: "event", id: "mint" },
      idempotencyKey: null,
    },
  );
  assert.equal(bodyOf(result).star.weight, 1);
  assert.deepEqual(engine.contradictions, []);
  await owner.end();
  await engine.close();
  await database.close();
});

test.run();
