/**
 * Goal: any number of processes may decide at once, and the journal alone settles it. Method:
 * two engines, each with its own memory and connections, on one Postgres.
 */
import * as assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { RULES, type Rules, rulesVersions } from "../../actors/rules.ts";
import { RetryableError } from "../../src/errors.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { castStar } from "../../src/voting/cast-star.ts";
import {
  bodyOf,
  type Engine,
  SEEDED_WITHIN_MS,
  seedDirectory,
  startEngine,
  verdictOf,
} from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";

const test = suite<{ a: Engine; b: Engine; close: () => Promise<void> }>("turns");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const [a, b] = await Promise.all([startEngine(database.url), startEngine(database.url)]);
  await seedDirectory(a.sql);
  Object.assign(context, {
    a,
    b,
    close: async () => {
      await Promise.all([a.close(), b.close()]);
      await database.close();
    },
  });
});
test.after.each((context) => context.close());

test("two processes race on one wallet: five stars are accepted between them (A1 two-heads, P3)", async ({
  a,
  b,
}) => {
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, n) => (n % 2 ? a : b).cast("0.0.501", `token/0.0.${9001 + n}`)),
  );
  const verdicts = results.map(verdictOf);
  assert.equal(verdicts.filter((verdict) => verdict === "accepted").length, 5);
  assert.equal(verdicts.filter((verdict) => verdict === "ALLOWANCE_EXHAUSTED").length, 35);
  const slots = await a.sql<{ slot: number }[]>`select slot from star order by slot`;
  assert.deepEqual(
    slots.map(({ slot }) => slot),
    [1, 2, 3, 4, 5],
  );
});

test("two processes race on one item: one star, and losers and late comers get the same reason (P4)", async ({
  a,
  b,
}) => {
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? a : b).cast("0.0.502", "event/hack")),
  );
  const [won] = results.filter((result) => result.kind === "accepted");
  assert.ok(won);
  const repeats = results.filter((result) => result !== won);
  assert.ok(
    repeats.every(
      (result) =>
        result.kind === "refused" &&
        result.decision.code === "ALREADY_STARRED" &&
        result.decision.starId === bodyOf(won).star.id,
    ),
  );
});

test("two processes race on one serial: it counts once, and each reply has its true weight (P5)", async ({
  a,
  b,
}) => {
  for (const engine of [a, b]) {
    for (let wallet = 600; wallet < 620; wallet += 1) {
      engine.holdings.set(`0.0.${wallet}`, { collectionA: [1, 2, 3], collectionB: [1] });
    }
  }
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? a : b).cast(`0.0.${600 + n}`, "event/meetup")),
  );
  const weights = results.map((result) => bodyOf(result).star.weight);
  // 20 bases, three serials and one bonus, however they fell.
  assert.equal(
    weights.reduce((sum, weight) => sum + weight, 0),
    20 + 3 + 5,
  );
  const [total] = await a.sql`select weight, stars from event_total where event_id = 'meetup'`;
  assert.deepEqual({ ...total }, { weight: 28, stars: 20 });
});

test("sixty-four wallets star one mint in two processes: each NFT counts once, and the total is what counted (A2 hot-mint, P5)", async ({
  a,
  b,
}) => {
  const wallets = Array.from({ length: 64 }, (_, n) => `0.0.${600 + n}`);
  for (const [n, wallet] of wallets.entries()) {
    // Each NFT is brought by four wallets that stand beside each other.
    const serials = [0, 1, 2, 3].map((next) => 1 + ((n + next) % wallets.length));
    for (const engine of [a, b]) {
      engine.holdings.set(wallet, { collectionA: serials, collectionB: n % 8 ? [] : [1 + n] });
    }
  }
  const stars = await Promise.all(
    wallets.map((wallet, n) => (n % 2 ? a : b).cast(wallet, "event/mint")),
  );
  // One for each wallet, one for each A, five for each B.
  const total = 64 + 64 + 5 * 8;
  assert.equal(
    stars.reduce((sum, star) => sum + bodyOf(star).star.weight, 0),
    total,
  );
  const [row] = await a.sql`select weight from event_total where event_id = 'mint'`;
  assert.equal(row?.weight, total);
  assert.deepEqual([...a.contradictions, ...b.contradictions], []);
});

test("concurrent twins under one key get one outcome, byte for byte, in every process (P2)", async ({
  a,
  b,
}) => {
  const results = await Promise.all(
    Array.from({ length: 16 }, (_, n) => (n % 2 ? a : b).cast("0.0.503", "event/mint", "same key")),
  );
  const bodies = new Set(results.map((result) => (result.kind === "refused" ? "" : result.body)));
  assert.equal(bodies.size, 1);
  assert.equal(results.filter(({ kind }) => kind === "accepted").length, 1);
  const [row] = await a.sql`select count(*) as stars from star`;
  assert.equal(row?.stars, 1);
});

test("a twin that is stored while a star is decided again answers it", async ({ a, b }) => {
  const [wallet, target, key] = ["0.0.547", "token/0.0.9001", "k"];
  // Hands the first decision back.
  a.beforeTurn = async () => void (await b.cast(wallet, "token/0.0.9002"));
  let twin: Promise<unknown> | undefined;
  const findKeptReply: typeof a.parts.casting.findKeptReply = async (query) => {
    const kept = await a.parts.casting.findKeptReply(query);
    twin ??= b.cast(wallet, target, key);
    await twin;
    return kept;
  };
  const result = await castStar(
    { ...a.parts.casting, findKeptReply },
    {
      voter: { wallet },
      target: { type: "token", id: "0.0.9001" },
      idempotencyKey: key,
      answerBy: performance.now() + SEEDED_WITHIN_MS,
    },
  );
  assert.ok(twin);
  assert.equal(verdictOf(result), "replayed");
});

test("a key is bound by the wallet that used it, and to its request", async ({ a }) => {
  assert.equal(verdictOf(await a.cast("0.0.504", "token/0.0.9001", "k")), "accepted");
  assert.equal(verdictOf(await a.cast("0.0.505", "token/0.0.9002", "k")), "accepted");
  await assert.rejects(a.cast("0.0.504", "token/0.0.9002", "k"), /another request/);
});

test("a refusal binds no key", async ({ a }) => {
  await a.cast("0.0.506", "token/0.0.9001");
  assert.equal(verdictOf(await a.cast("0.0.506", "token/0.0.9001", "k2")), "ALREADY_STARRED");
  assert.equal(verdictOf(await a.cast("0.0.506", "token/0.0.9002", "k2")), "accepted");
});

test("a memory that is behind another process never accepts a sixth star", async ({ a, b }) => {
  for (let n = 0; n < 3; n += 1) await a.cast("0.0.507", `token/0.0.${9001 + n}`);
  for (let n = 3; n < 5; n += 1) await b.cast("0.0.507", `token/0.0.${9001 + n}`);
  assert.equal(verdictOf(await a.cast("0.0.507", "token/0.0.9010")), "ALLOWANCE_EXHAUSTED");
  assert.equal(verdictOf(await a.cast("0.0.507", "token/0.0.9004")), "ALREADY_STARRED");
});

test("a pass granted after an exhausted day was remembered counts at once, in every process (A17 premium-edge)", async ({
  a,
  b,
}) => {
  for (let n = 0; n < 5; n += 1) await a.cast("0.0.508", `token/0.0.${9001 + n}`);
  assert.equal(verdictOf(await a.cast("0.0.508", "token/0.0.9006")), "ALLOWANCE_EXHAUSTED");
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values ('00000000-0000-7000-8000-000000000001', 'One', 0, 4102444800000)`;
  await a.sql`insert into premium_pass values (508, '00000000-0000-7000-8000-000000000001', 0)`;
  const sixth = await a.cast("0.0.508", "token/0.0.9006");
  assert.deepEqual(bodyOf(sixth).allowance.remaining, 14);
  assert.equal(verdictOf(await b.cast("0.0.508", "token/0.0.9007")), "accepted");
});

test("a pass granted while the wallet is remembered shows in the very next reply", async ({
  a,
}) => {
  assert.equal(bodyOf(await a.cast("0.0.516", "token/0.0.9001")).allowance.limit, 5);
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values ('00000000-0000-7000-8000-000000000003', 'Three', 0, 4102444800000)`;
  await a.sql`insert into premium_pass values (516, '00000000-0000-7000-8000-000000000003', 0)`;
  const second = bodyOf(await a.cast("0.0.516", "token/0.0.9002"));
  assert.deepEqual(
    [second.allowance.limit, second.allowance.used, second.allowance.remaining],
    [20, 2, 18],
  );
});

test("a pass taken back between decision and commit is not used (A17 premium-edge, P3)", async ({
  a,
}) => {
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values ('00000000-0000-7000-8000-000000000002', 'Two', 0, 4102444800000)`;
  await a.sql`insert into premium_pass values (509, '00000000-0000-7000-8000-000000000002', 0)`;
  for (let n = 0; n < 5; n += 1) await a.cast("0.0.509", `token/0.0.${9001 + n}`);
  a.beforeTurn = async () => {
    await a.sql`delete from premium_pass where wallet = 509`;
  };
  assert.equal(verdictOf(await a.cast("0.0.509", "token/0.0.9006")), "ALLOWANCE_EXHAUSTED");
});

/** From now on it is this instant for the database, epoch ms. */
async function stopClock(sql: Sql, instant: number): Promise<void> {
  await sql.unsafe(
    `create or replace function now_ms() returns bigint language sql volatile as 'select ${instant}::bigint'`,
  );
}

test("a process whose clock is some ms behind the database's takes stars as a season starts and ends (A17 premium-edge)", async ({
  a,
}) => {
  const [row] = await a.sql<{ now: number }[]>`select now_ms() as now`;
  const now = row?.now ?? 0;
  const [ended, started] = [
    "00000000-0000-7000-8000-000000000006",
    "00000000-0000-7000-8000-000000000007",
  ];
  await stopClock(a.sql, now);
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values (${ended}, 'Six', 0, ${now - 10}), (${started}, 'Seven', ${now - 10}, ${now + 3_600_000})`;
  a.clock.now = () => now - 30;
  const grant = async (wallet: number, season: string) => {
    await a.sql`insert into premium_pass values (${wallet}, ${season}, 0)`;
  };
  await grant(530, ended);
  await grant(531, started);
  a.beforeTurn = (wallet) => (wallet === "0.0.532" ? grant(532, started) : Promise.resolve());
  const limits = [];
  for (const wallet of ["0.0.530", "0.0.531", "0.0.532"]) {
    const { star, allowance } = bodyOf(await a.cast(wallet, "token/0.0.9001"));
    limits.push([Date.parse(star.at), allowance.limit]);
  }
  assert.deepEqual(limits, [
    [now, 5],
    [now, 20],
    [now, 20],
  ]);
  assert.deepEqual(a.contradictions, []);
});

test("a wallet in memory stars under the pass that this request has read, not at the instant of an earlier reading", async ({
  a,
}) => {
  const season = "00000000-0000-7000-8000-000000000008";
  const starts = Date.now();
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values (${season}, 'Eight', ${starts}, ${starts + 3_600_000})`;
  await a.sql`insert into premium_pass values (533, ${season}, 0)`;
  a.clock.now = () => starts - 30;
  await stopClock(a.sql, starts - 10);
  assert.equal(bodyOf(await a.cast("0.0.533", "token/0.0.9001")).allowance.limit, 5);
  await stopClock(a.sql, starts + 10);
  const { star, allowance } = bodyOf(await a.cast("0.0.533", "token/0.0.9002"));
  assert.deepEqual([Date.parse(star.at), allowance.limit], [starts + 10, 20]);
  assert.equal(a.batches, 2);
});

test("a star that follows another within its millisecond, as a season starts, is no contradiction", async ({
  a,
}) => {
  const season = "00000000-0000-7000-8000-00000000000c";
  const now = Date.now();
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values (${season}, 'Twelve', ${now + 1}, 4102444800000)`;
  await a.sql`insert into premium_pass values (544, ${season}, 0)`;
  a.clock.now = () => now;
  await stopClock(a.sql, now);
  assert.equal(bodyOf(await a.cast("0.0.544", "token/0.0.9001")).allowance.limit, 5);
  const { star, allowance } = bodyOf(await a.cast("0.0.544", "token/0.0.9002"));
  assert.deepEqual([Date.parse(star.at), allowance.limit], [now + 1, 20]);
  assert.deepEqual(a.contradictions, []);
});

test("a pass granted while a star waits, for a season that ends meanwhile, is no contradiction", async ({
  a,
}) => {
  const season = "00000000-0000-7000-8000-000000000009";
  const now = Date.now();
  await a.sql`insert into season (id, name, starts_at, ends_at) values (${season}, 'Nine', 0, ${now + 10})`;
  a.clock.now = () => now;
  await stopClock(a.sql, now);
  let granted = 0;
  a.beforeTurn = async () => {
    granted += 1;
    await a.sql`insert into premium_pass values (534, ${season}, 0)`;
    await stopClock(a.sql, now + 20);
  };
  const { star, allowance } = bodyOf(await a.cast("0.0.534", "token/0.0.9001"));
  assert.deepEqual([Date.parse(star.at), allowance.limit, granted], [now + 20, 5, 1]);
  assert.deepEqual(a.contradictions, []);
});

test("a pass that begins with its season and is taken back while its star is decided again is no contradiction", async ({
  a,
}) => {
  const season = "00000000-0000-7000-8000-00000000000b";
  const starts = Date.now();
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values (${season}, 'Eleven', ${starts}, 4102444800000)`;
  await a.sql`insert into premium_pass values (537, ${season}, 0)`;
  a.clock.now = () => starts - 10;
  await stopClock(a.sql, starts - 10);
  a.beforeTurn = async () => {
    a.clock.now = () => starts + 10;
    await stopClock(a.sql, starts + 10);
  };
  const { commit } = a.parts.casting;
  const returned: string[] = [];
  Object.assign(a.parts.casting, {
    commit: async (...given: Parameters<typeof commit>) => {
      const outcome = await commit(...given);
      if (outcome.kind === "returned") returned.push(outcome.reason);
      await a.sql`delete from premium_pass where wallet = 537`;
      return outcome;
    },
  });
  const { allowance } = bodyOf(await a.cast("0.0.537", "token/0.0.9001"));
  assert.deepEqual([returned, allowance.limit, a.contradictions], [["pass"], 5, []]);
});

test("a journal that looks for another pass than the machines is found out at the first star", async ({
  a,
}) => {
  const season = "00000000-0000-7000-8000-00000000000a";
  await a.sql`insert into season (id, name, starts_at, ends_at) values (${season}, 'Ten', 0, 4102444800000)`;
  await a.sql`insert into premium_pass values (535, ${season}, 0)`;
  const [found] = await a.sql<{ definition: string }[]>`
    select pg_get_functiondef('cast_stars'::regproc) as definition`;
  const [right, wrong] = ["starts_at <= offered.at", "starts_at > offered.at"];
  const definition = found?.definition ?? "";
  assert.ok(definition.includes(right));
  await a.sql.unsafe(definition.replace(right, wrong));
  await assert.rejects(a.cast("0.0.535", "token/0.0.9001"), /the journal refuses \(pass\)/);
  assert.equal(a.contradictions.length, 1);
});

test("nothing is stored after a star that the journal has lost, and no later star refused for it", async ({
  a,
  b,
}) => {
  const lost = bodyOf(await a.cast("0.0.536", "token/0.0.9001")).star;
  // An older copy takes the journal's place, and no connection breaks.
  await a.sql.unsafe(
    "set session_replication_role = replica; delete from star; reset session_replication_role",
  );
  let kept = lost;
  a.beforeTurn = async () => {
    a.beforeTurn = () => Promise.resolve();
    kept = bodyOf(await b.cast("0.0.536", "token/0.0.9001")).star;
  };
  const next = bodyOf(await a.cast("0.0.536", "token/0.0.9002"));
  assert.equal(next.allowance.used, 2);
  const refused = await a.cast("0.0.536", "token/0.0.9001");
  assert.ok(refused.kind === "refused" && refused.decision.code === "ALREADY_STARRED");
  assert.notEqual(kept.id, lost.id);
  assert.equal(refused.decision.starId, kept.id);
});

test("a star waits while a recovery takes another out of its wallet's day, and leaves no gap behind it", async ({
  a,
  b,
}) => {
  const [first, second] = [
    bodyOf(await a.cast("0.0.537", "token/0.0.9001")).star,
    bodyOf(await a.cast("0.0.537", "token/0.0.9002")).star,
  ];
  for (const [wallet, step] of [
    ["0.0.538", "settle_repeats()"],
    ["0.0.539", "recover_stars('[]')"],
  ] as const) {
    const connection = await reserveConnection(a.sql);
    await connection.unsafe("begin");
    await connection.unsafe(`select ${step}`);
    let isDone = false;
    const casting = a.cast(wallet, "token/0.0.9001").then(() => {
      isDone = true;
    });
    await setTimeout(100);
    assert.equal(isDone, false, step);
    await connection.unsafe("commit");
    connection.release();
    await casting;
  }
  const connection = await reserveConnection(a.sql);
  await connection.unsafe("begin; select settle_repeats()");
  const casting = a.cast("0.0.537", "token/0.0.9003");
  await connection`select set_aside_star(${first.id}, ${first.day}, ${second.id})`;
  await connection.unsafe("commit");
  connection.release();
  assert.equal(bodyOf(await casting).allowance.used, 2);
  const slots = await a.sql`select slot from star where wallet = 537 order by slot`;
  assert.deepEqual(
    slots.map(({ slot }) => slot),
    [1, 2],
  );
  assert.equal(bodyOf(await b.cast("0.0.537", "token/0.0.9004")).allowance.used, 3);
});

for (const id of ["mint", "meetup"]) {
  test(`a star that a recovery overtakes counts the NFTs of the star that was taken out: ${id}`, async ({
    a,
  }) => {
    a.holdings.set("0.0.540", { collectionA: [1, 2], collectionB: [] });
    a.holdings.set("0.0.541", { collectionA: [2, 3], collectionB: [] });
    const gone = bodyOf(await a.cast("0.0.540", `event/${id}`)).star;
    const kept = bodyOf(await a.cast("0.0.540", "token/0.0.9001")).star;
    let weights: number[] = [];
    const { commit } = a.parts.casting;
    const overtaken: typeof commit = async (decided, answerBy) => {
      weights = [...weights, decided.star.weight];
      // The decision knows of the other wallet's serial.
      if (decided.star.weight === 2) {
        await a.sql`select set_aside_star(${gone.id}, ${gone.day}, ${kept.id})`;
      }
      return commit(decided, answerBy);
    };
    const star = await castStar(
      { ...a.parts.casting, commit: overtaken },
      { voter: { wallet: "0.0.541" }, target: { type: "event", id }, idempotencyKey: null },
    );
    assert.equal(bodyOf(star).star.weight, 3, String(weights));
    assert.deepEqual(weights.slice(-2), [2, 3]);
    // A wallet that knows of no claim, and one that holds nothing, are not sent back for it.
    for (const [wallet, serials] of [
      [542, []],
      [543, [9]],
    ] as const) {
      a.holdings.set(`0.0.${wallet}`, { collectionA: serials, collectionB: [] });
      const batches = a.batches;
      await a.cast(`0.0.${wallet}`, `event/${id}`);
      assert.equal(a.batches, batches + 1);
    }
    assert.deepEqual(a.contradictions, []);
  });
}

test("after a pass ended, a process that missed stars under it refuses with their true reason and count", async ({
  a,
  b,
}) => {
  const season = "00000000-0000-7000-8000-000000000004";
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values (${season}, 'Four', 0, now_ms() + 3600000)`;
  for (const wallet of [523, 524]) {
    await a.sql`insert into premium_pass values (${wallet}, ${season}, 0)`;
    for (let n = 0; n < 5; n += 1) await a.cast(`0.0.${wallet}`, `token/0.0.${9001 + n}`);
    for (let n = 5; n < 8; n += 1) await b.cast(`0.0.${wallet}`, `token/0.0.${9001 + n}`);
  }
  await a.sql`update season set ends_at = now_ms()`;
  assert.equal(verdictOf(await a.cast("0.0.523", "token/0.0.9007")), "ALREADY_STARRED");
  const other = await a.cast("0.0.524", "token/0.0.9020");
  assert.ok(other.kind === "refused" && other.decision.code === "ALLOWANCE_EXHAUSTED");
  assert.deepEqual([other.decision.limit, other.decision.used], [5, 8]);
});

test("after a pass came and went unnoticed by a process, it refuses with the true reason and count", async ({
  a,
  b,
}) => {
  const season = "00000000-0000-7000-8000-000000000005";
  await a.sql`insert into season (id, name, starts_at, ends_at)
    values (${season}, 'Five', 0, now_ms() + 3600000)`;
  for (const wallet of [527, 528, 529]) {
    for (let n = 0; n < 4; n += 1) await a.cast(`0.0.${wallet}`, `token/0.0.${9001 + n}`);
  }
  for (const wallet of [527, 528]) await a.cast(`0.0.${wallet}`, "token/0.0.9005");
  const passing = async (wallet: number, first: number) => {
    await a.sql`insert into premium_pass values (${wallet}, ${season}, 0)`;
    for (let n = first; n < 8; n += 1) await b.cast(`0.0.${wallet}`, `token/0.0.${9001 + n}`);
    await a.sql`delete from premium_pass where wallet = ${wallet}`;
  };
  await passing(527, 5);
  assert.equal(verdictOf(await a.cast("0.0.527", "token/0.0.9007")), "ALREADY_STARRED");
  await passing(528, 5);
  const other = await a.cast("0.0.528", "token/0.0.9020");
  assert.ok(other.kind === "refused" && other.decision.code === "ALLOWANCE_EXHAUSTED");
  assert.deepEqual([other.decision.limit, other.decision.used], [5, 8]);

  // Between the early check and the turn: the fifth star of this process comes first.
  let isFirst = true;
  a.beforeTurn = async () => {
    if (!isFirst) return;
    isFirst = false;
    await a.cast("0.0.529", "token/0.0.9005");
    await passing(529, 5);
  };
  assert.equal(verdictOf(await a.cast("0.0.529", "token/0.0.9007")), "ALREADY_STARRED");
});

test("unapproved targets do not exist", async ({ a }) => {
  await assert.rejects(a.cast("0.0.510", "event/hidden"), { code: "NOT_FOUND" });
  await assert.rejects(a.cast("0.0.510", "token/0.0.1"), { code: "NOT_FOUND" });
});

test("a forever mint counts a wallet's base once, and only new NFTs when starred again", async ({
  a,
  b,
}) => {
  a.holdings.set("0.0.511", { collectionA: [1, 2], collectionB: [5, 6] });
  b.holdings.set("0.0.511", { collectionA: [1, 2, 3], collectionB: [5, 6] });
  assert.equal(bodyOf(await a.cast("0.0.511", "event/mint")).star.weight, 1 + 2 + 5);
  const again = bodyOf(await b.cast("0.0.511", "event/mint"));
  assert.deepEqual(
    [again.star.weight, again.star.votingPower, again.counter.totalVotes, again.allowance.used],
    [1, 9, 9, 2],
  );
});

test("an event counts each NFT once per UTC day whichever wallet brings it, and the lowest free +5", async ({
  a,
  b,
}) => {
  a.holdings.set("0.0.512", { collectionA: [1, 2], collectionB: [3, 4] });
  b.holdings.set("0.0.513", { collectionA: [2, 9], collectionB: [3, 4] });
  b.holdings.set("0.0.514", { collectionA: [1], collectionB: [3, 4] });
  const weights = [];
  weights.push(bodyOf(await a.cast("0.0.512", "event/meetup")).star.weight);
  weights.push(bodyOf(await b.cast("0.0.513", "event/meetup")).star.weight);
  weights.push(bodyOf(await b.cast("0.0.514", "event/meetup")).star.weight);
  assert.deepEqual(weights, [8, 7, 1]);
  const spent = await a.sql<{ serial: number }[]>`
    select serial from serial_claim where collection = 'B' order by serial`;
  assert.deepEqual(
    spent.map(({ serial }) => serial),
    [3, 4],
  );
});

test("with Postgres out of reach a star is refused as unavailable, and nothing is remembered of it", async ({
  a,
}) => {
  const killer = openPostgres(a.sql.options.host.length ? urlOf(a) : "", { connections: 1 });
  await a.cast("0.0.515", "token/0.0.9001");
  a.beforeTurn = async () => {
    // Every connection of the writer is cut between the early check and the turn.
    await killer`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
  };
  const result = await a.cast("0.0.515", "token/0.0.9002").then(verdictOf, (error) => error.code);
  assert.ok(["accepted", "UNAVAILABLE"].includes(result), result);
  a.beforeTurn = () => Promise.resolve();
  // By the connection that was not cut: an idle one of the pool may not know yet that it was.
  const [row] = await killer`select count(*) as stars from star where wallet = 515`;
  await killer.end();
  assert.equal(row?.stars, result === "accepted" ? 2 : 1);
  await until("the pool has new connections and the star is there", async () => {
    const verdict = await a
      .cast("0.0.515", "token/0.0.9002")
      .then(verdictOf, (error) => String(error.code));
    assert.ok(["accepted", "ALREADY_STARRED", "UNAVAILABLE"].includes(verdict), verdict);
    return verdict !== "UNAVAILABLE";
  });
});

function urlOf({ sql }: Engine): string {
  const { host, port, database, user, pass } = sql.options;
  return `postgres://${user}:${encodeURIComponent(String(pass ?? ""))}@${host[0]}:${port[0]}/${database}`;
}

test("the database's clock jumps over midnight: the next star is the new day's, in every process (A13 midnight, P10)", async ({
  a,
  b,
}) => {
  for (const n of [1, 2, 3, 4, 5]) await a.cast("0.0.520", `token/0.0.900${n}`);
  assert.equal(verdictOf(await a.cast("0.0.520", "token/0.0.9006")), "ALLOWANCE_EXHAUSTED");
  await a.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + 86400000 $$`);
  const [today] = await a.sql<{ day: string }[]>`select utc_day(now_ms()) as day`;
  const stars = [await b.cast("0.0.521", "token/0.0.9001"), await a.cast("0.0.521", "event/hack")];
  assert.deepEqual(
    stars.map((star) => bodyOf(star).star.day),
    [today?.day, today?.day],
  );
  assert.equal(bodyOf(await a.cast("0.0.520", "token/0.0.9001")).allowance.used, 1);
});

test("a process whose clock is ahead at 00:00 UTC waits for the database's day, however fast it asks", async ({
  a,
}) => {
  const { casting } = a.parts;
  const wallet = "0.0.544";
  const known = await casting.host.reload({ wallet, day: dayOf(a.clock.now()) });
  const host = { ...casting.host, reload: async () => known };
  const clock = { ...a.clock, measure: async () => undefined };
  const cast = (commit: typeof casting.commit) =>
    castStar(
      { ...casting, host, clock, commit },
      { voter: { wallet }, target: { type: "token", id: "0.0.9001" }, idempotencyKey: null },
    );
  const yesterday = { kind: "returned", reason: "day" } as const;
  // Where it goes on for long, the log names the cause.
  await assert.rejects(
    cast(async () => yesterday),
    { code: "UNAVAILABLE", message: "handed back too often, lastly for: day" },
  );
  let isToday = false;
  const soon = setTimeout(60).then(() => {
    isToday = true;
  });
  const star = cast(async (...given) => (isToday ? casting.commit(...given) : yesterday));
  assert.equal(verdictOf(await star), "accepted");
  await soon;
});

test("a machine that fails on an actor raises an alarm, and the wallet's next star rests on the journal", async ({
  a,
}) => {
  const wallet = "0.0.546";
  const { host } = a.parts.casting;
  const key = { wallet, day: dayOf(a.clock.now()) };
  const { state } = await host.reload(key);
  const tear = async () => host.keep(key, { state: { ...state, value: "torn" }, isProved: true });
  const torn = () => assert.rejects(a.cast(wallet, "token/0.0.9001"), /torn/);
  // Met by the early look, and by the turn.
  await tear();
  await torn();
  a.beforeTurn = tear;
  await torn();
  assert.deepEqual([a.contradictions.length, host.recall(key)], [2, undefined]);
  a.beforeTurn = async () => undefined;
  assert.equal(verdictOf(await a.cast(wallet, "token/0.0.9001")), "accepted");
});

test("a turn may lose as many races as the day's rules allow votes", async ({ a }) => {
  const { casting } = a.parts;
  const wallet = "0.0.545";
  const known = await casting.host.reload({ wallet, day: dayOf(a.clock.now()) });
  const host = { ...casting.host, reload: async () => known };
  let attempts = 0;
  const commit: typeof casting.commit = async () => {
    attempts += 1;
    return { kind: "returned", reason: "day" };
  };
  const [rules] = rulesVersions;
  assert.ok(rules);
  const versions = rulesVersions as Rules[];
  versions.push({ ...rules, version: RULES + 1, freeVotes: 30, premiumVotes: 30 });
  try {
    const cast = castStar(
      { ...casting, host, commit },
      { voter: { wallet }, target: { type: "token", id: "0.0.9001" }, idempotencyKey: null },
    );
    await assert.rejects(cast, { code: "UNAVAILABLE" });
  } finally {
    versions.pop();
  }
  assert.equal(attempts, 31);
});

test("twins under one key on two sides of midnight are one star", async ({ a, b }) => {
  let release = (): void => undefined;
  const midnight = new Promise<void>((resolve) => {
    release = resolve;
  });
  let late: Promise<string> = Promise.resolve("");
  await new Promise<void>((admitted) => {
    b.beforeTurn = () => {
      admitted();
      return midnight;
    };
    late = b.cast("0.0.525", "token/0.0.9001", "k").then(verdictOf);
  });
  assert.equal(verdictOf(await a.cast("0.0.525", "token/0.0.9001", "k")), "accepted");
  await a.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + 86400000 $$`);
  release();
  // By its key alone: the item is free again on the new day.
  assert.equal(await late, "replayed");
  const [row] = await a.sql`select count(*) as stars from star where wallet = 525`;
  assert.equal(row?.stars, 1);
});

test("an event that becomes a forever mint takes no star decided before", async ({ a }) => {
  a.holdings.set("0.0.526", { collectionA: [1, 2], collectionB: [1] });
  const turnOver = async () => {
    await a.sql`update event set is_forever_mint = true, event_type = 'MINT_EVENT', ends_at = null where id = 'meetup'`;
  };
  a.beforeTurn = turnOver;
  const outcome = await a.cast("0.0.526", "event/meetup").then(verdictOf, ({ code }) => code);
  assert.equal(outcome, "UNAVAILABLE");
  a.beforeTurn = () => Promise.resolve();
  assert.equal(bodyOf(await a.cast("0.0.526", "event/meetup")).star.weight, 8);
  const rows = await a.sql`select is_forever_mint, weight from star where wallet = 526`;
  assert.deepEqual([...rows], [{ is_forever_mint: true, weight: 8 }]);
});

test("a turn that starts after its caller got 503 spends no vote", async ({ a }) => {
  await a.cast("0.0.522", "event/mint");
  const connection = await reserveConnection(a.sql);
  await connection.unsafe("begin; lock table star in access exclusive mode");
  const outcomes = await Promise.all(
    [1, 2, 3].map(() => a.cast("0.0.522", "event/mint").then(verdictOf, ({ code }) => code)),
  );
  await connection.unsafe("rollback");
  connection.release();
  assert.deepEqual(outcomes, ["UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE"]);
  await a.parts.casting.host.inMailbox("0.0.522", () => Promise.resolve());
  await a.parts.settled();
  const [row] = await a.sql`select count(*) as stars from star where wallet = 522`;
  assert.equal(row?.stars, 1);
});

test("while no new star is taken, a stored reply is replayed and an invalid session is still refused as such", async ({
  a,
}) => {
  const first = await a.cast("0.0.590", "token/0.0.9001", "kept");
  const behind = new RetryableError("JOURNAL_BEHIND", "the topics hold more than the journal", 60);
  const casting = {
    ...a.parts.casting,
    admitStar: () => {
      throw behind;
    },
  };
  const target = { type: "token", id: "0.0.9001" } as const;
  const again = { voter: { wallet: "0.0.590" }, target, idempotencyKey: "kept" };
  const replayed = await castStar(casting, again);
  assert.equal(replayed.kind, "replayed");
  assert.deepEqual(bodyOf(replayed).star, bodyOf(first).star);
  const another = { ...again, idempotencyKey: null };
  await assert.rejects(castStar(casting, another), behind);
  const unknown = { ...another, voter: { token: "x".repeat(43) } };
  await assert.rejects(castStar(casting, unknown), { code: "INVALID_SESSION" });
});

test("a star that was let in before the journal went back is not stored after it", async ({
  a,
}) => {
  const behind = new RetryableError("JOURNAL_BEHIND", "the topics hold more than the journal", 60);
  let isBehind = false;
  a.beforeTurn = async () => {
    isBehind = true;
  };
  const casting = {
    ...a.parts.casting,
    admitStar: () => {
      if (isBehind) throw behind;
    },
  };
  const target = { type: "token", id: "0.0.9001" } as const;
  const star = { voter: { wallet: "0.0.591" }, target, idempotencyKey: null };
  await assert.rejects(castStar(casting, star), behind);
  const [row] = await a.sql`select count(*) as stars from star where wallet = 591`;
  assert.equal(row?.stars, 0);
});

test.run();
