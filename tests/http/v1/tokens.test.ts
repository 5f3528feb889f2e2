/** GET /v1/tokens/top: "Approved tokens ordered by `totalVotes`, with price and market cap." */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { z } from "zod";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { dataEndpoints } from "../../../src/http/v1/endpoints.ts";
import { tokenSchema } from "../../../src/http/v1/schemas.ts";
import { bodyOf, createHouse, from, giveStars, type House, NOW, openHouse } from "./house.ts";
import { badLimits, testBadValues, testRefusals } from "./refusals.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const midnight = Date.UTC(2026, 10, 20);
const token = (number: number) => ({
  id: `0.0.${number}`,
  symbol: `T${number}`,
  name: `Token ${number}`,
});
const star = (number: number, at: number, weight: number) =>
  giveStars(house.sql, { type: "token", id: `0.0.${number}`, at, weight });

let house: House;
test.before(async () => {
  house = await openHouse();
  const priced = {
    ...token(9),
    price: 0.000012,
    marketCap: 1_234_567.89,
    iconUrl: "https://i.ex/1",
  };
  const tokens = [token(10), token(100), token(2), token(30), token(4), priced];
  await importCatalog(house.sql, { tokens }, { approve: true, eventSources: [] });
  const hidden = { tokens: [token(5)] };
  await importCatalog(house.sql, hidden, { approve: false, eventSources: [] });
  await star(5, NOW, 1_000);
  await star(30, NOW, 7);
  await star(4, midnight, 3);
  await star(4, midnight - 1, 500);
  await star(10, midnight - 1, 20);
  await star(2, NOW - 20 * DAY, 21);
});
test.after(() => house.close());

const top = async (query = "") => {
  const { tokens, ...rest } = await house.json(`/tokens/top${query}`);
  assert.deepEqual(rest, {});
  return tokenSchema.array().parse(tokens);
};

test("200: by today's votes, then by 30 days, then by the number of the ledger id", async () => {
  const ids = (await top()).map(({ id }) => id);
  assert.deepEqual(ids, ["0.0.30", "0.0.4", "0.0.2", "0.0.10", "0.0.9", "0.0.100"]);
});

test("200: who asks at 00:00 UTC shares no read with who asked before it", async () => {
  const row = dataEndpoints({ sql: house.sql, eventSources: [] }).find(
    ({ path }) => path === "/tokens/top",
  );
  const votes = await Promise.all(
    [midnight - 1, midnight].map(async (now) => {
      const shown = await row?.bind({}, new URLSearchParams()).answer(now);
      const body = row?.response.parse(shown?.body) as { tokens: z.output<typeof tokenSchema>[] };
      return body.tokens.find(({ id }) => id === "0.0.4")?.totalVotes;
    }),
  );
  assert.deepEqual(votes, [500, 3]);
});

test("200: ranks are 1, 2, 3, …, and `limit` cuts them off", async () => {
  assert.deepEqual(
    (await top()).map(({ rank }) => rank),
    [1, 2, 3, 4, 5, 6],
  );
  assert.deepEqual(
    (await top("?limit=2")).map(({ id }) => id),
    ["0.0.30", "0.0.4"],
  );
});

test("200: a token has exactly the fields of the contract, missing ones null", async () => {
  const [first] = await top("?limit=1");
  assert.deepEqual(first, {
    rank: 1,
    id: "0.0.30",
    symbol: "T30",
    name: "Token 30",
    iconUrl: null,
    totalVotes: 7,
    price: null,
    marketCap: null,
    votes7d: 7,
    votes30d: 7,
  });
  const priced = (await top()).find(({ id }) => id === "0.0.9");
  assert.equal(priced?.price, 0.000012);
  assert.equal(priced?.marketCap, 1_234_567.89);
});

test("200: the counter shows today's stars and restarts from zero at 00:00 UTC", async () => {
  const votes = async (instant: number) => {
    house.clock.set(instant);
    const found = (await top()).find(({ id }) => id === "0.0.4");
    house.clock.set(NOW);
    return [found?.totalVotes, found?.votes7d, found?.votes30d];
  };
  assert.deepEqual(await votes(midnight + DAY - 1), [3, 503, 503]);
  assert.deepEqual(await votes(midnight + DAY), [0, 503, 503]);
});

test("200: windows begin at the full UTC hour 7 × 24 and 30 × 24 hours ago", async () => {
  const first = Math.floor(NOW / HOUR) * HOUR;
  await star(100, first - 7 * DAY, 1);
  await star(100, first - 7 * DAY - 1, 10);
  await star(100, first - 30 * DAY, 100);
  await star(100, first - 30 * DAY - 1, 1_000);
  const found = (await top()).find(({ id }) => id === "0.0.100");
  assert.equal(found?.votes7d, 1);
  assert.equal(found?.votes30d, 111);
});

test("200: 30 tokens when `limit` is omitted", async () => {
  const more = Array.from({ length: 40 }, (_, index) => token(1_000 + index));
  await importCatalog(house.sql, { tokens: more }, { approve: true, eventSources: [] });
  assert.equal((await top()).length, 30);
  assert.equal((await top("?limit=100")).length, 46);
});

test("200: all limits that are asked for at the same time cost a few reads together", async () => {
  let rankings = 0;
  const sql = new Proxy(house.sql, {
    apply(target, self, given: unknown[]) {
      if (String(given[0]).includes("with starred")) rankings += 1;
      return Reflect.apply(target, self, given);
    },
  });
  const app = createHouse({ sql, clock: house.clock });
  const headers = { Authorization: `Bearer ${house.key}` };
  const limits = Array.from({ length: 100 }, (_, index) => index + 1);
  const lists = await Promise.all(
    limits.map(async (limit) => {
      const path = `/v1/tokens/top?limit=${limit}`;
      return (await bodyOf(await app.request(path, { headers }, from("192.0.2.1")))).tokens;
    }),
  );
  const whole = lists[99] as unknown[];
  assert.deepEqual(
    lists,
    limits.map((limit) => whole.slice(0, limit)),
  );
  assert.ok(rankings < 20, `${rankings} reads`);
});

testBadValues(() => house, {
  path: "/tokens/top",
  parameter: "limit",
  bad: badLimits,
  allowed: "integer 1 to 100",
});
testRefusals("/tokens/top", () => house);

test.run();
