/**
 * Goal: the check costs the mirror node what its size asks for and no more: collections by whole
 * pages, never wallet by wallet or mint by mint; nor does it cost Postgres more. Method: 10,000 serials count on each of three
 * mints; a server answers by the recorded rules of the mirror node and counts what it is asked.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { compareMint } from "../../../src/journal/fold-mint.ts";
import { createMirrorNode } from "../../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../../src/log.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import { createHoldingsCheck } from "../../../src/upkeep/holdings-check/check.ts";
import { listMints } from "../../../src/upkeep/holdings-check/claims.ts";
import { mirrorStub, nftRow, type Reply, sendJson } from "../../ledger/mirror/stub.ts";
import { decidedStar, type Engine, seedDirectory, startEngine } from "../../support/engine.ts";
import { testDatabase } from "../../support/postgres.ts";
import { brief } from "./stage.ts";

const SERIALS = 10_000;
const WALLETS = 100;
const MINTS = ["mint", "mint-2", "mint-3"];
const collections = { A: "0.0.5001", B: "0.0.5002" };
/** Held by wallets that have not voted. */
const SOLD_TO = "0.0.77";

/** Wallet n holds every hundredth serial of collection A, and one of B. */
const holder = (serial: number): string => `0.0.${1_000 + (serial % WALLETS)}`;

function mirrorOf(sold: ReadonlySet<number>): Reply {
  const row = (token: string, serial: number) =>
    nftRow(serial, {
      token_id: token,
      account_id: token === collections.A && sold.has(serial) ? SOLD_TO : holder(serial),
    });
  return (response, path) => {
    const url = new URL(path, "http://stub");
    const [, , , , token = "", , one] = url.pathname.split("/");
    if (one !== undefined) return sendJson(response, 200, row(token, Number(one)));
    const count = token === collections.A ? SERIALS - WALLETS : WALLETS;
    const after = Number(url.searchParams.get("serialnumber")?.replace("gt:", "") ?? 0);
    const serials = Array.from({ length: Math.min(100, count - after) }, (_, n) => after + 1 + n);
    const next = `${url.pathname}?limit=100&order=asc&serialnumber=gt:${serials.at(-1)}`;
    sendJson(response, 200, {
      nfts: serials.map((serial) => row(token, serial)),
      links: { next: serials.length === 100 ? next : null },
    });
  };
}

async function starAll({ sql, clock, parts }: Engine): Promise<void> {
  await seedDirectory(sql);
  await sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, created_at, approved_at)
    select 'mint-' || n, 'Mint', 'MINT_EVENT', true, 0, 0, 0 from generate_series(2, 3) n`;
  for (const [slot, id] of MINTS.entries()) {
    const target = { type: "event", id, eventKind: "FOREVER_MINT", ledgerId: null } as const;
    const outcomes = Array.from({ length: WALLETS }, (_, n) => {
      const a = Array.from({ length: 99 }, (_, turn) => turn * WALLETS + (n === 0 ? WALLETS : n));
      const b = n === 0 ? WALLETS : n;
      const wallet = `0.0.${1_000 + n}`;
      const claims = { a, b };
      const decided = decidedStar({ wallet, now: clock.now(), slot: slot + 1, target, claims });
      const star = {
        ...decided.star,
        holdings: { ...decided.star.holdings, collectionB: [b] },
        votingPower: 1 + a.length + 5,
        weight: 1 + a.length + 5,
        breakdown: { base: 1, collectionA: a.length, collectionB: 5 },
      } as const;
      return parts.casting.commit({ ...decided, star });
    });
    for (const outcome of await Promise.all(outcomes)) assert.equal(outcome.kind, "stored");
  }
}

test("10,000 serials that did not move are checked on three mints with at most 110 requests", async () => {
  const database = await testDatabase({ migrated: true });
  const engine = await startEngine(database.url);
  await starAll(engine);
  const sold = new Set<number>();
  const stub = await mirrorStub((...asked) => mirrorOf(sold)(...asked));
  const mirror = createMirrorNode({ urls: [stub.url], log: silentLogger });
  const { sql, clock } = engine;
  const check = createHoldingsCheck({ sql, mirror, clock, log: silentLogger, collections });

  const began = performance.now();
  const unchanged = await check.runNow();
  const tookMs = Math.round(performance.now() - began);
  process.stdout.write(`unchanged: ${stub.asked.length} requests, ${tookMs} ms\n`);
  for (const mint of MINTS) {
    assert.deepEqual(brief(unchanged, mint), { removed: [], kept: SERIALS, deferred: [] });
  }
  assert.ok(stub.asked.length <= 110, `${stub.asked.length} requests`);

  // A wallet sold all it had: two requests more for each, on all mints together.
  for (let serial = 7; serial < SERIALS - WALLETS; serial += WALLETS) sold.add(serial);
  stub.asked.length = 0;
  const changed = await check.runNow();
  for (const mint of MINTS) {
    const { removed, kept, deferred } = brief(changed, mint);
    assert.deepEqual([removed.length, kept, deferred], [99, SERIALS - 99, []]);
    assert.deepEqual((await compareMint(sql, mint)).differences, []);
  }
  process.stdout.write(`99 sold: ${stub.asked.length} requests\n`);
  assert.ok(stub.asked.length <= 110 + 2 * 99, `${stub.asked.length} requests`);

  await mirror.close();
  await stub.close();
  await engine.close();
  await database.close();
});

test("which collections count on a mint is looked up by key where claims on mints are most of all", async () => {
  const database = await testDatabase({ migrated: true });
  const { sql } = database;
  const [mints, serials] = [8, 2_000];
  await sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, created_at, approved_at)
    select 'mint-' || n, 'Mint', 'MINT_EVENT', true, 0, 0, 0 from generate_series(1, ${mints}) n`;
  // An event starred on no mint, as most are: its stars are looked for in vain.
  await sql`insert into event_total (event_id, weight, stars) values ('other', 1, 1)`;
  await sql`
    insert into mint_star (event_id, day, wallet, star_id)
    select 'mint-' || n, '2026-11-20', wallet, gen_random_uuid()
    from generate_series(1, ${mints}) n, generate_series(1, ${serials}) wallet`;
  await sql`
    insert into serial_claim (event_id, collection, serial, wallet, star_id)
    select 'mint-' || n, 'A', serial, 7, gen_random_uuid()
    from generate_series(1, ${mints}) n, generate_series(1, ${serials}) serial`;
  await sql`analyze`;
  const fresh = openPostgres(database.url, { connections: 1 });
  const [listed, scanned] = await fresh.begin(async (transaction) => [
    await listMints(transaction as unknown as Sql),
    await transaction`
      select relname, seq_tup_read from pg_stat_xact_user_tables
      where relname in ('serial_claim', 'mint_star') and seq_tup_read > 0`,
  ]);
  await fresh.end();
  await database.close();
  const counting = listed.filter(({ counts }) => counts.join() === "A");
  assert.equal(counting.length, mints);
  assert.deepEqual([...scanned], [], "rows read without an index");
});

test.run();
