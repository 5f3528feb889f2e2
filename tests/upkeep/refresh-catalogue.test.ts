/**
 * Goal: what others know is kept up to date, and no failed or senseless reading ever overwrites
 * what is good. Method: a price source and a mirror node that fail in every way there is.
 */
import * as assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "uvu";
import { MirrorError } from "../../src/ledger/mirror/error.ts";
import type { MirrorNode } from "../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../src/log.ts";
import { every } from "../../src/service.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { startCatalogueRefresh } from "../../src/upkeep/refresh-catalogue.ts";
import { refreshCollections } from "../../src/upkeep/refresh-catalogue-collections.ts";
import { priceSource, refreshPrices } from "../../src/upkeep/refresh-catalogue-prices.ts";
import { type MirrorStub, mirrorStub, type Reply, sendJson } from "../ledger/mirror/stub.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const log = silentLogger;
const { signal } = new AbortController();
let database: TestDatabase;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 2, role: "starboard_app" });
});
test.after(async () => {
  await sql.end();
  await database.close();
});
test.before.each(async () => {
  await sql`delete from token`;
  await sql`delete from collection`;
  await sql`insert into token (id, symbol, name, price, market_cap, created_at, approved_at) values
    ('0.0.1', 'A', 'A', 1, 10, 0, 1), ('0.0.2', 'B', 'B', 2, 20, 0, 1), ('0.0.3', 'C', 'C', 3, 30, 0, null)`;
  await sql`insert into collection (id, name, owners, supply, created_at, approved_at) values
    ('0.0.11', 'A', 1, 1, 0, 1), ('0.0.12', 'B', 2, 2, 0, 1), ('0.0.13', 'C', 3, 3, 0, null)`;
});

type Pair = readonly [number | null, number | null];
const GOOD: Readonly<Record<string, Pair>> = {
  "0.0.1": [1, 10],
  "0.0.2": [2, 20],
  "0.0.3": [3, 30],
};
async function prices(): Promise<Record<string, Pair>> {
  const rows = await sql<{ id: string; price: number; market_cap: number }[]>`
    select id, price, market_cap from token order by id`;
  return Object.fromEntries(rows.map((row) => [row.id, [row.price, row.market_cap] as const]));
}

async function withSource<T>(
  reply: Reply,
  use: (source: ReturnType<typeof priceSource>, stub: MirrorStub) => Promise<T>,
  query = "",
): Promise<T> {
  const stub = await mirrorStub(reply);
  const source = priceSource(`${stub.url}/prices${query}`);
  try {
    return await use(source, stub);
  } finally {
    await source.close();
    await stub.close();
  }
}

const refresh = (reply: Reply, query = "") =>
  withSource(
    reply,
    async (source, { asked }) => ({
      isComplete: await refreshPrices({ sql, source, log, signal }),
      asked,
    }),
    query,
  );
const tokens =
  (...entries: unknown[]): Reply =>
  (response) =>
    sendJson(response, 200, { tokens: entries });

test("prices: price and market cap of approved tokens are what the source says", async () => {
  const { isComplete, asked } = await refresh(
    tokens(
      { id: "0.0.1", price: 0.0731, marketCap: 2_770_000.5, symbol: "more is ignored" },
      { id: "0.0.2", price: 0, marketCap: 0 },
    ),
    "?key=secret",
  );
  assert.deepEqual(asked, ["/prices?key=secret&ids=0.0.1%2C0.0.2"]);
  assert.equal(isComplete, true);
  assert.deepEqual(await prices(), { ...GOOD, "0.0.1": [0.0731, 2_770_000.5], "0.0.2": [0, 0] });
});

test("prices: what the source does not know stays, field by field", async () => {
  await refresh(tokens({ id: "0.0.1", price: 5 }, { id: "0.0.2", price: null, marketCap: null }));
  assert.deepEqual(await prices(), { ...GOOD, "0.0.1": [5, 10] });
});

const senseless: readonly (readonly [string, unknown])[] = [
  ["a negative price", { id: "0.0.1", price: -1, marketCap: 11 }],
  ["a price in text", { id: "0.0.1", price: "7", marketCap: 11 }],
  ["a price that is a truth value", { id: "0.0.1", price: true }],
  ["no object", 7],
  ["null", null],
  ["a token that was not asked for", { id: "0.0.3", price: 9, marketCap: 9 }],
  ["no id", { price: 9 }],
];
for (const [name, entry] of senseless) {
  test(`prices: ${name} spoils itself and no other`, async () => {
    await refresh(tokens(entry, { id: "0.0.2", price: 8, marketCap: 80 }));
    assert.deepEqual(await prices(), { ...GOOD, "0.0.2": [8, 80] });
  });
}

test("prices: a number beyond all numbers is none, and of two prices of one id neither is believed", async () => {
  await refresh((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      '{"tokens":[{"id":"0.0.1","price":1e999,"marketCap":5},{"id":"0.0.2","price":8},{"id":"0.0.2","price":9}]}',
    );
  });
  assert.deepEqual(await prices(), GOOD);
});

const raw =
  (status: number, body: string, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
const fresh = JSON.stringify({ tokens: [{ id: "0.0.1", price: 9, marketCap: 9 }] });
const faults: readonly (readonly [string, Reply])[] = [
  ["500 with a body", raw(500, fresh)],
  ["404", raw(404, fresh)],
  ["204", raw(204, "")],
  ["a redirect", raw(302, fresh, { location: "/elsewhere" })],
  ["no JSON", raw(200, "<html>")],
  ["half a body", raw(200, fresh.slice(0, -5))],
  ["another shape", raw(200, '{"0.0.1":9}')],
  ["a list", raw(200, "[]")],
  ["a body without end", (response) => endless(response)],
  ["a connection that breaks", (_response, _path, given) => void given.socket.destroy()],
];
for (const [name, fault] of faults) {
  test(`prices: ${name} changes nothing`, async () => {
    const seen: IncomingMessage[] = [];
    const { isComplete, asked } = await refresh((response, path, given) => {
      seen.push(given);
      fault(response, path, given);
    });
    assert.equal(isComplete, false);
    assert.equal(asked.length, 1, "nothing is followed");
    assert.deepEqual(await prices(), GOOD);
  });
}

function endless(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  const more = (): void => {
    while (!response.destroyed && response.write(" ".repeat(64 * 1024)));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

test("prices: a source that hangs is left, and closing does not wait for it", async () => {
  await withSource(
    () => undefined,
    async (source) => {
      const closing = new AbortController();
      const round = refreshPrices({ sql, source, log, signal: closing.signal });
      closing.abort();
      assert.equal(await round, false);
    },
  );
  assert.deepEqual(await prices(), GOOD);
});

test("prices: tokens are asked for in batches, and a source that is away is not asked for all", async () => {
  await sql`insert into token (id, symbol, name, created_at, approved_at)
    select '0.0.' || n, 'T', 'T', 0, 1 from generate_series(1001, 1500) n`;
  const { asked } = await refresh(tokens());
  assert.deepEqual(
    asked.map((path) => decodeURIComponent(path).split(",").length),
    [100, 100, 100, 100, 100, 2],
  );
  const { asked: tries } = await refresh(raw(503, ""));
  assert.equal(tries.length, 3);
});

test("prices: an equal price moves no revision", async () => {
  const reply = tokens({ id: "0.0.1", price: 4, marketCap: 40 });
  await refresh(reply);
  const revision = () => sql`select data_revision() as now`;
  const [before] = await revision();
  await refresh(reply);
  assert.deepEqual({ ...(await revision())[0] }, { ...before });
});

type Nft = { owner: string | null; deleted: boolean };
const nft = (owner: string | null, deleted = false): Nft => ({ owner, deleted });
const nfts = [
  nft("0.0.501"),
  nft("0.0.502"),
  nft("0.0.501"),
  nft(null, true),
  nft("0.0.503", true),
];
const token = (id: string, totalSupply: bigint, more: object = {}) => ({
  tokenId: id,
  type: "NON_FUNGIBLE_UNIQUE",
  deleted: false,
  totalSupply,
  ...more,
});

interface FakeMirror {
  token?: (id: string, call: number) => unknown;
  pages?: (id: string) => readonly (readonly Nft[] | Error)[];
}

function fakeMirror({ token: answer, pages }: FakeMirror, limits: unknown[] = []) {
  const calls = new Map<string, number>();
  // What a node answers may have any shape here.
  return {
    async token(id: string, given: unknown) {
      limits.push(given);
      const call = calls.get(id) ?? 0;
      calls.set(id, call + 1);
      const said = answer === undefined ? token(id, 3n) : answer(id, call);
      if (said instanceof Error) throw said;
      return said;
    },
    async *nftOwners(id: string, given: unknown) {
      limits.push(given);
      for (const page of pages?.(id) ?? [nfts.slice(0, 2), nfts.slice(2)]) {
        if (page instanceof Error) throw page;
        yield page;
      }
    },
  } as unknown as Pick<MirrorNode, "token" | "nftOwners">;
}

async function collections(): Promise<Record<string, Pair>> {
  const rows = await sql<{ id: string; owners: number; supply: number }[]>`
    select id, owners, supply from collection order by id`;
  return Object.fromEntries(rows.map((row) => [row.id, [row.owners, row.supply] as const]));
}
const OLD = { "0.0.11": [1, 1], "0.0.12": [2, 2], "0.0.13": [3, 3] };
const NEW = { "0.0.11": [2, 3], "0.0.12": [2, 3], "0.0.13": [3, 3] };

test("collections: owners are the accounts that hold an NFT, supply is the ledger's, of the approved", async () => {
  const limits: unknown[] = [];
  const isComplete = await refreshCollections({ sql, log, signal, mirror: fakeMirror({}, limits) });
  assert.equal(isComplete, true);
  assert.deepEqual(await collections(), NEW);
  for (const given of limits) assert.equal((given as { background?: boolean }).background, true);
});

const away = new MirrorError("timeout", "late");
const readings: readonly (readonly [string, FakeMirror])[] = [
  ["a token that is not there", { token: (id) => (id === "0.0.11" ? null : token(id, 3n)) }],
  [
    "a fungible token",
    { token: (id) => token(id, 3n, id === "0.0.11" ? { type: "FUNGIBLE_COMMON" } : {}) },
  ],
  ["a deleted collection", { token: (id) => token(id, 3n, { deleted: id === "0.0.11" }) }],
  ["a failure", { token: (id) => (id === "0.0.11" ? away : token(id, 3n)) }],
  [
    "a failure after the first page",
    { pages: (id) => (id === "0.0.11" ? [nfts.slice(0, 2), away] : [nfts]) },
  ],
  [
    "a failure at the second look",
    { token: (id, call) => (id === "0.0.11" && call === 1 ? away : token(id, 3n)) },
  ],
  [
    "fewer NFTs than the supply",
    { pages: (id) => (id === "0.0.11" ? [nfts.slice(0, 2)] : [nfts]) },
  ],
  ["no NFTs at all", { pages: (id) => (id === "0.0.11" ? [] : [nfts]) }],
  ["more NFTs than the supply", { token: (id) => token(id, id === "0.0.11" ? 2n : 3n) }],
];
for (const [name, fake] of readings) {
  test(`collections: ${name} leaves that one as it was, and no other`, async () => {
    await refreshCollections({ sql, log, signal, mirror: fakeMirror(fake) });
    assert.deepEqual(await collections(), { ...NEW, "0.0.11": OLD["0.0.11"] });
  });
}

test("collections: what is minted while it is read lies between the two supplies", async () => {
  const mirror = fakeMirror({ token: (id, call) => token(id, call === 0 ? 2n : 4n) });
  await refreshCollections({ sql, log, signal, mirror });
  assert.deepEqual((await collections())["0.0.11"], [2, 4]);
});

test("collections: a mirror node that is away is not asked for all", async () => {
  await sql`insert into collection (id, name, created_at, approved_at)
    select '0.0.' || n, 'C', 0, 1 from generate_series(2001, 2020) n`;
  let asked = 0;
  const mirror = fakeMirror({
    token: () => {
      asked += 1;
      return away;
    },
  });
  const isComplete = await refreshCollections({ sql, log, signal, mirror });
  assert.deepEqual([asked, isComplete], [3, false]);
});

test("collections: those that cannot be read hold up none after them", async () => {
  await sql`insert into collection (id, name, created_at, approved_at)
    select '0.0.' || n, 'C', 0, 1 from generate_series(1, 4) n`;
  const unreadable = new MirrorError("pages", "does not end");
  const mirror = fakeMirror({
    pages: (id) => (id.length === 5 ? [nfts, unreadable] : [nfts]),
  });
  const isComplete = await refreshCollections({ sql, log, signal, mirror });
  assert.equal(isComplete, true);
  const { "0.0.11": before, "0.0.12": after } = await collections();
  assert.deepEqual([before, after], [NEW["0.0.11"], NEW["0.0.12"]]);
});

test("rounds: jittered, never two at once, slower while the source fails, ended by close", async () => {
  const waits: number[] = [];
  let rounds = 0;
  let under = 0;
  // Nothing is ever answered.
  const failing = {
    token: async () => {
      rounds += 1;
      under += 1;
      assert.equal(under, 1);
      await new Promise((resolve) => setImmediate(resolve));
      under -= 1;
      throw away;
    },
    nftOwners: () => {
      throw away;
    },
  } as unknown as Pick<MirrorNode, "token" | "nftOwners">;
  let arrived = (): void => undefined;
  const lastPause = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const running = startCatalogueRefresh({
    sql,
    log,
    mirror: failing,
    random: () => 0.75,
    repeat(pauseMs, work, options) {
      assert.ok(typeof pauseMs === "function" && options?.firstAfterMs !== undefined);
      waits.push(options.firstAfterMs);
      const next = (): number => {
        waits.push(pauseMs());
        if (waits.length < 6) return 0;
        arrived();
        return 60_000;
      };
      return every(next, work, { ...options, firstAfterMs: 0 });
    },
  });
  await lastPause;
  await running.close();
  const minute = 60_000 * 1.1;
  assert.deepEqual(waits.map(Math.round), [
    3_750,
    20 * minute,
    40 * minute,
    80 * minute,
    80 * minute,
    80 * minute,
  ]);
  assert.equal(rounds, 10, "two collections a round");
});

test.run();
