/** GET /v1/leaderboard: "Current season's leaderboard and the season's dates." */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { addSeason } from "../../../src/catalogue/seasons.ts";
import { entrySchema, seasonSchema } from "../../../src/http/v1/schemas.ts";
import { createHouse, type House, NOW, openHouse } from "./house.ts";
import { badLimits, testBadValues, testRefusals } from "./refusals.ts";

const DAY = 86_400_000;
/** The season ends in the middle of a day, the next one begins a day later. */
const ENDS = NOW + 2 * DAY;
const NEXT_STARTS = ENDS + DAY;

let house: House;
let seasonId: string;
test.before(async () => {
  house = await openHouse();
  await addSeason(house.sql, { name: "Last", startsAt: NOW - 9 * DAY, endsAt: NOW - 8 * DAY });
  ({ id: seasonId } = await addSeason(house.sql, {
    name: "Autumn",
    startsAt: NOW - DAY,
    endsAt: ENDS,
  }));
  await addSeason(house.sql, { name: "Winter", startsAt: NEXT_STARTS, endsAt: NEXT_STARTS + DAY });
  await score(1_000, { points: 5, stars: 5, weight: 5 });
});
test.after(() => house.close());

/** Gives a wallet its place, as the journal and the ledger of credits do together. */
async function score(
  wallet: number,
  { points, stars, weight }: { points: number; stars: number; weight: number },
  season = seasonId,
): Promise<void> {
  await house.sql`insert into season_score values (${season}, ${wallet}, ${points}, ${stars}, ${weight})
    on conflict (season_id, wallet) do update set points = ${points}, stars = ${stars}, weight = ${weight}`;
}

async function board(query = "") {
  const { season, leaderboard, ...rest } = await house.json(`/leaderboard${query}`);
  assert.deepEqual(rest, {});
  return {
    season: seasonSchema.nullable().parse(season),
    leaderboard: entrySchema.array().parse(leaderboard),
  };
}
const wallets = async (query?: string) =>
  (await board(query)).leaderboard.map(({ wallet }) => wallet);

test("200: the season that is on with its dates, and entries of exactly the contract's fields", async () => {
  assert.deepEqual(await board(), {
    season: {
      id: seasonId,
      name: "Autumn",
      startsAt: new Date(NOW - DAY).toISOString(),
      endsAt: new Date(ENDS).toISOString(),
    },
    leaderboard: [{ rank: 1, wallet: "0.0.1000", points: 5, stars: 5, weight: 5 }],
  });
});

test("200: by points, then stars, then the lower account number; ranks follow that order", async () => {
  await score(30, { points: 7, stars: 1, weight: 1 });
  await score(4, { points: 7, stars: 2, weight: 1 });
  // As numbers: as text 0.0.100 would come before 0.0.9.
  await score(100, { points: 7, stars: 1, weight: 99 });
  await score(9, { points: 7, stars: 1, weight: 2 });
  await score(2_000, { points: 10, stars: 0, weight: 0 });
  const { leaderboard } = await board();
  assert.deepEqual(
    leaderboard.map(({ rank, wallet }) => [rank, wallet]),
    [
      [1, "0.0.2000"],
      [2, "0.0.4"],
      [3, "0.0.9"],
      [4, "0.0.30"],
      [5, "0.0.100"],
      [6, "0.0.1000"],
    ],
  );
});

test("200: `limit` cuts off, and is 50 when omitted", async () => {
  assert.deepEqual(await wallets("?limit=2"), ["0.0.2000", "0.0.4"]);
  for (let wallet = 5_000; wallet < 5_110; wallet += 1) {
    await score(wallet, { points: 1, stars: 1, weight: 1 });
  }
  assert.equal((await wallets()).length, 50);
  const most = await wallets("?limit=100");
  assert.equal(most.length, 100);
  assert.deepEqual(most.slice(0, 50), await wallets());
});

test("200: a season is half-open, and the clock alone ends one and begins the next", async () => {
  // Each asked once before the edge, so that a body is kept that the clock must end.
  const at = async (instant: number) => {
    house.clock.set(instant);
    const { season, leaderboard } = await board("?limit=1");
    return [season?.name ?? null, leaderboard.length];
  };
  assert.deepEqual(await at(ENDS - 1), ["Autumn", 1]);
  assert.deepEqual(await at(ENDS), [null, 0]);
  assert.deepEqual(await at(NEXT_STARTS - 1), [null, 0]);
  assert.deepEqual(await at(NEXT_STARTS), ["Winter", 0]);
  assert.deepEqual(await at(NEXT_STARTS + DAY - 1), ["Winter", 0]);
  assert.deepEqual(await at(NEXT_STARTS + DAY), [null, 0]);
  assert.deepEqual(await at(NOW - DAY), ["Autumn", 1]);
  assert.deepEqual(await at(NOW - DAY - 1), [null, 0]);
  house.clock.set(NOW);
});

test("200: what is kept is the newest after a score, a correction and a season more or less", async () => {
  const { key, sql, clock } = house;
  const compare = async (after: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    const fresh = await createHouse({ sql, clock }).request("/v1/leaderboard", { headers });
    assert.equal(await (await house.get("/leaderboard")).text(), await fresh.text(), after);
  };
  const writes: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["a new wallet", () => score(7_000, { points: 1_000, stars: 1, weight: 1 })],
    ["more points", () => score(7_000, { points: 2_000, stars: 1, weight: 1 })],
    ["points taken back", () => score(7_000, { points: 0, stars: 1, weight: 1 })],
    ["another name", () => sql`update season set name = 'Fall' where id = ${seasonId}`],
    ["an earlier end", () => sql`update season set ends_at = ${NOW} where id = ${seasonId}`],
    [
      "a season added that is on",
      () => addSeason(sql, { name: "Now", startsAt: NOW, endsAt: NOW + 1 }),
    ],
    ["scores emptied", () => sql`truncate season_score`],
    ["seasons taken away", () => sql`delete from season`],
  ];
  await compare("nothing");
  for (const [name, write] of writes) {
    await write();
    await compare(name);
  }
  assert.deepEqual(await board(), { season: null, leaderboard: [] });
});

testBadValues(() => house, {
  path: "/leaderboard",
  parameter: "limit",
  bad: badLimits,
  allowed: "integer 1 to 100",
});
testRefusals("/leaderboard", () => house);

test.run();
