/**
 * Goal: the check costs the mirror node what its size asks for and no more: collections by whole
 * pages, never wallet by wallet or mint by mint; nor does it cost Postgres more. Method: 10,000 serials count on each of three
 * mints; a server answers by the recorded rules of the mirror node and counts what it is asked.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { openAuditMirror } from "../../../src/audit/audit-mirror.ts";
import { bounds } from "../../../src/bounds.ts";
import { table } from "../../../src/cli/output.ts";
import { compareMint } from "../../../src/journal/fold-mint.ts";
import { MirrorError } from "../../../src/ledger/mirror/error.ts";
import { MirrorClient } from "../../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../../src/log.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import { createHoldingsCheck } from "../../../src/upkeep/holdings-check/check.ts";
import { listMints } from "../../../src/upkeep/holdings-check/claims.ts";
import { reportRun } from "../../../src/upkeep/holdings-check/progress.ts";
import { readCollections } from "../../../src/upkeep/holdings-check/readings.ts";
import { mirrorStub, nftRow, type Reply, sendJson } from "../../ledger/mirror/stub.ts";
import { decidedStar, type Engine, seedDirectory, startEngine } from "../../support/engine.ts";
import { testDatabase } from "../../support/postgres.ts";
import { brief } from "./stage.ts";

const SERIALS = 10_000;
const WALLETS = 100;
const MINTS = ["mint", "mint-2", "mint-3"];
const collections = { A: "0.0.5001", B: "0.0.5002" };
/** Id of a star of 2024. */
const LONG_AGO = "01900000-0000-7000-8000-000000000000";
/** Held by wallets that have not voted. */
const SOLD_TO = "0.0.77";

/** Wallet n holds every hundredth serial of collection A, and one of B. */
const holder = (serial: number): string => `0.0.${1_000 + (serial % WALLETS)}`;

function mirrorOf(sold: ReadonlySet<number>): Reply {
  const row = (token: string, serial: number) => {
    const isSold = token === collections.A && sold.has(serial);
    return nftRow(serial, {
      token_id: token,
      account_id: isSold ? SOLD_TO : holder(serial),
      // After the stars that brought it.
      ...(isSold && { modified_timestamp: "9999999999.000000000" }),
    });
  };
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
  const last = new Map<string, string>();
  for (const [index, id] of MINTS.entries()) {
    const target = { type: "event", id, eventKind: "FOREVER_MINT", ledgerId: null } as const;
    const outcomes = Array.from({ length: WALLETS }, (_, n) => {
      const a = Array.from({ length: 99 }, (_, turn) => turn * WALLETS + (n === 0 ? WALLETS : n));
      const b = n === 0 ? WALLETS : n;
      const wallet = `0.0.${1_000 + n}`;
      const claims = { a, b };
      const place = { slot: index + 1, follows: last.get(wallet) ?? null };
      const decided = decidedStar({ wallet, now: clock.now(), ...place, target, claims });
      last.set(wallet, decided.star.id);
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
  const mirror = new MirrorClient({ urls: [stub.url], log: silentLogger });
  const { sql, clock } = engine;
  const check = createHoldingsCheck({ sql, mirror, clock, log: silentLogger, collections });

  const began = performance.now();
  const unchanged = await reportRun(sql, await check.runNow());
  const tookMs = Math.round(performance.now() - began);
  process.stdout.write(`unchanged: ${stub.asked.length} requests, ${tookMs} ms\n`);
  for (const mint of MINTS) {
    assert.deepEqual(brief(unchanged, mint), { removed: [], kept: SERIALS, deferred: [] });
  }
  assert.ok(stub.asked.length <= 110, `${stub.asked.length} requests`);

  // A wallet sold all it had: two requests more for each, on all mints together.
  for (let serial = 7; serial < SERIALS - WALLETS; serial += WALLETS) sold.add(serial);
  stub.asked.length = 0;
  const changed = await reportRun(sql, await check.runNow());
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

test("a collection of more than 100,000 NFTs is read whole, by the check and by an audit", async () => {
  // As many pages, if not as many NFTs on each.
  const last = bounds.mirrorPagesMax + 1;
  const stub = await mirrorStub((response, path) => {
    const { pathname, searchParams } = new URL(path, "http://stub");
    const serial = 1 + Number(searchParams.get("serialnumber")?.replace("gt:", "") ?? 0);
    const next =
      serial === last ? null : `${pathname}?limit=100&order=asc&serialnumber=gt:${serial}`;
    sendJson(response, 200, { nfts: [nftRow(serial)], links: { next } });
  });
  const options = { urls: [stub.url], log: silentLogger };
  const mirrors = [
    new MirrorClient(options),
    openAuditMirror({ ...options, requestsPerSecond: Number.POSITIVE_INFINITY }),
  ] as const;
  const [mirror, auditing] = mirrors;
  const { signal } = new AbortController();
  const deps = { mirror, clock: { now: Date.now }, collections, signal };
  try {
    const { A } = (await readCollections(deps, new Set(["A"]))).of;
    assert.ok(A !== null && "seen" in A, JSON.stringify(A));
    assert.equal(A.seen.size, last);
    let rows = 0;
    for await (const page of auditing.nftOwners(collections.A)) rows += page.length;
    assert.equal(rows, last);
  } finally {
    for (const each of mirrors) await each.close();
    await stub.close();
  }
});

test("a run of 400,000 releases ends within a worker's statements, and its report has them all", async () => {
  const database = await testDatabase({ migrated: true });
  const engine = await startEngine(database.url);
  await seedDirectory(engine.sql);
  const worker = openPostgres(database.url, { role: "starboard_app" });
  const patient = openPostgres(database.url, { statementTimeoutMs: 120_000 });
  const mirror = {
    nftOwners: () => assert.fail("nothing counts, so nothing is to be read"),
    nft: () => assert.fail("nothing counts, so nothing is to be read"),
    newestBlock: () => assert.fail("nothing counts, so nothing is to be read"),
  };
  const deps = { sql: worker, mirror, clock: engine.clock, log: silentLogger, collections };
  const many = 400_000;
  const end = async (name: string): Promise<void> => {
    if (name !== "forever.reported") return;
    await database.sql`
      insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight,
        owner, deleted, listed_at, read_at, released_at)
      select 'mint', serial, serial, run.id, 'A', serial, 1001, run.id, 1, ${SOLD_TO}, false, 1, 1, 1
      from holdings_check_run run, generate_series(1, ${many}) serial where state = 'running'`;
  };
  await createHoldingsCheck(deps).runDue();
  const tomorrow = { now: () => engine.clock.now() + 86_400_000 };
  const outcome = await createHoldingsCheck({ ...deps, clock: tomorrow, failpoint: end }).runDue();
  assert.ok(outcome.kind === "checked");
  const [run] = await worker`select state from holdings_check_run where id = ${outcome.run.id}`;
  assert.equal(run?.state, "done");
  const { mints } = await reportRun(patient, outcome.run);
  assert.deepEqual(
    mints.map(({ id, removed }) => [id, removed.length]),
    [["mint", many]],
  );
  assert.equal(
    table(
      mints.flatMap(({ removed }) => removed),
      { NFT: "serial" },
    ).split("\n").length,
    many + 1,
  );
  await Promise.all([worker.end(), patient.end()]);
  await engine.close();
  await database.close();
});

test("where more NFTs are in doubt than one statement writes down, their collection stays open as a whole", async () => {
  const database = await testDatabase({ migrated: true });
  const engine = await startEngine(database.url);
  await seedDirectory(engine.sql);
  const many = 10_001;
  await database.sql`
    insert into serial_claim (event_id, collection, serial, wallet, star_id)
    select 'mint', 'A', serial, 1001, ${LONG_AGO} from generate_series(1, ${many}) serial`;
  const nft = (serial: number) => ({
    ...{ tokenId: collections.A, serial, owner: "0.0.1001", deleted: false, changedAt: null },
  });
  let isAway = true;
  const mirror = {
    async *nftOwners() {
      yield isAway ? [nft(many + 1)] : Array.from({ length: many }, (_, n) => nft(n + 1));
    },
    nft: () => Promise.reject(new MirrorError("busy", "HTTP 503")),
    newestBlock: async () => null,
  };
  const { sql, clock } = engine;
  const worker = openPostgres(database.url, { role: "starboard_app" });
  const check = createHoldingsCheck({
    ...{ sql: worker, mirror, clock, log: silentLogger, collections },
    pause: async () => undefined,
  });
  const [doubted] = (await reportRun(sql, await check.runNow())).mints;
  assert.deepEqual([doubted?.removed, doubted?.kept, doubted?.deferred.length], [[], 0, 1]);
  const { reason, ...part } = doubted?.deferred[0] ?? {};
  assert.deepEqual(part, { collection: "A", serial: null, starId: null, wallet: null });
  assert.match(reason ?? "", /^10001 NFTs are in doubt; the first: mirror node: HTTP 503$/);
  isAway = false;
  const [settled] = (await reportRun(sql, await check.runNow())).mints;
  assert.deepEqual([settled?.removed, settled?.kept, settled?.deferred], [[], many, []]);
  await worker.end();
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
    // A transaction asks as a pool does, and knows what it has scanned.
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
