/** GET /v1/collections/top: "Approved NFT collections ordered by `totalVotes`, with owners and supply." */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { collectionSchema } from "../../../src/http/v1/schemas.ts";
import { giveStars, type House, NOW, openHouse } from "./house.ts";
import { badLimits, testBadValues, testRefusals } from "./refusals.ts";

let house: House;
test.before(async () => {
  house = await openHouse();
  const collections = [
    { id: "0.0.20", name: "Twenty", owners: 12, supply: 1_000, imageUrl: "https://i.ex/20.png" },
    { id: "0.0.3", name: "Three" },
  ];
  await importCatalog(house.sql, { collections }, { approve: true, eventSources: [] });
  // A token of the same id is something else.
  await giveStars(house.sql, { type: "token", id: "0.0.3", at: NOW, weight: 99 });
  await giveStars(house.sql, { type: "collection", id: "0.0.20", at: NOW, weight: 8 });
});
test.after(() => house.close());

test("200: by today's votes, every field there, missing ones null", async () => {
  const { collections, ...rest } = await house.json("/collections/top");
  assert.deepEqual(rest, {});
  assert.deepEqual(collectionSchema.array().parse(collections), [
    {
      rank: 1,
      id: "0.0.20",
      name: "Twenty",
      imageUrl: "https://i.ex/20.png",
      totalVotes: 8,
      owners: 12,
      supply: 1_000,
      votes7d: 8,
      votes30d: 8,
    },
    {
      rank: 2,
      id: "0.0.3",
      name: "Three",
      imageUrl: null,
      totalVotes: 0,
      owners: null,
      supply: null,
      votes7d: 0,
      votes30d: 0,
    },
  ]);
});

test("200: `limit` cuts the ranking off", async () => {
  const { collections } = await house.json("/collections/top?limit=1");
  assert.equal((collections as unknown[]).length, 1);
});

test("200: of equal votes the lower ledger number comes first, and none is 0, not null", async () => {
  const collections = [
    { id: "0.0.100", name: "Empty", owners: 0, supply: 0 },
    { id: "0.0.9", name: "Nine" },
  ];
  await importCatalog(house.sql, { collections }, { approve: true, eventSources: [] });
  const listed = (await house.json("/collections/top")).collections;
  const shown = collectionSchema.array().parse(listed);
  assert.deepEqual(
    shown.map(({ id, owners, supply }) => [id, owners, supply]),
    [
      ["0.0.20", 12, 1_000],
      ["0.0.3", null, null],
      ["0.0.9", null, null],
      ["0.0.100", 0, 0],
    ],
  );
});

testBadValues(() => house, {
  path: "/collections/top",
  parameter: "limit",
  bad: badLimits,
  allowed: "integer 1 to 100",
});
testRefusals("/collections/top", () => house);

test.run();
