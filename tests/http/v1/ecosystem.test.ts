/** GET /v1/ecosystem: "Approved ecosystem projects, newest first. Paged, with `total` and `hasMore`." */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { projectSchema } from "../../../src/http/v1/schemas.ts";
import { categories } from "../../../src/store/enumerations.ts";
import { giveStars, type House, NOW, openHouse } from "./house.ts";
import { badLimits, testBadValues, testRefusals } from "./refusals.ts";

let house: House;
test.before(async () => {
  house = await openHouse();
  const on = (day: number) => `2026-10-0${day}T00:00:00Z`;
  const projects = [
    { id: "old", name: "Old", category: "DEFI", country: "de", createdAt: on(1) },
    { id: "b", name: "B", category: "NFT", country: "US", createdAt: on(2) },
    { id: "a", name: "A", category: "DEFI", createdAt: on(2) },
    {
      id: "new",
      slug: "new-one",
      name: "New",
      category: "WALLET",
      country: "DE",
      description: "A wallet.",
      logoUrl: "https://l.example/x.svg",
      websiteUrl: "https://new.example",
      ledgerId: "0.0.77",
      createdAt: on(3),
    },
  ];
  await importCatalog(house.sql, { projects }, { approve: true, eventSources: [] });
  const hidden = [{ id: "hidden", name: "H", category: "DEFI" }];
  await importCatalog(house.sql, { projects: hidden }, { approve: false, eventSources: [] });
  await giveStars(house.sql, { type: "project", id: "new", at: NOW, weight: 6 });
});
test.after(() => house.close());

const idsOf = async (query: string) => {
  const { projects } = await house.json(`/ecosystem${query}`);
  return projectSchema
    .array()
    .parse(projects)
    .map(({ id }) => id);
};

test("200: newest first, then by id; unapproved projects are left out", async () => {
  assert.deepEqual(await idsOf(""), ["new", "a", "b", "old"]);
});

test("200: `category` and `country` filter, the country in either case", async () => {
  assert.deepEqual(await idsOf("?category=DEFI"), ["a", "old"]);
  assert.deepEqual(await idsOf("?country=de"), ["new", "old"]);
  assert.deepEqual(await idsOf("?country=De&category=DEFI"), ["old"]);
  assert.deepEqual(await idsOf("?country=xx"), []);
});

test("200: a page says `total`, `hasMore`, `limit` and `offset`; past the end it is empty", async () => {
  const { projects, ...page } = await house.json("/ecosystem?limit=2&offset=1");
  assert.equal((projects as unknown[]).length, 2);
  assert.deepEqual(page, { total: 4, hasMore: true, limit: 2, offset: 1 });
  assert.deepEqual(await house.json("/ecosystem?offset=4"), {
    projects: [],
    total: 4,
    hasMore: false,
    limit: 50,
    offset: 4,
  });
});

test("200: a project has exactly the fields of the contract", async () => {
  const { projects } = await house.json("/ecosystem?limit=1");
  assert.deepEqual(projects, [
    {
      id: "new",
      slug: "new-one",
      name: "New",
      category: "WALLET",
      country: "DE",
      description: "A wallet.",
      logoUrl: "https://l.example/x.svg",
      websiteUrl: "https://new.example",
      totalVotes: 6,
      votes7d: 6,
      votes30d: 6,
      createdAt: "2026-10-03T00:00:00.000Z",
    },
  ]);
  assert.deepEqual(Object.keys(projects[0] ?? {}), Object.keys(projectSchema.shape));
});

testBadValues(() => house, {
  path: "/ecosystem",
  parameter: "limit",
  bad: badLimits,
  allowed: "integer 1 to 100",
});
testBadValues(() => house, {
  path: "/ecosystem",
  parameter: "category",
  bad: ["defi", "DEFI,NFT"],
  allowed: categories,
});
testBadValues(() => house, {
  path: "/ecosystem",
  parameter: "country",
  bad: ["D", "DEU", "D1", "%C3%9FE", "D%0A"],
  allowed: "two-letter country code",
});
testRefusals("/ecosystem", () => house);

test.run();
