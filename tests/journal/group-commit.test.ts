/**
 * Goal: the one statement that stores stars keeps identity, uniqueness and the day, and a batch
 * does not share fate. Method: decided stars are sent straight to it, on a real Postgres.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { DAY_MS } from "../../actors/day.ts";
import { bounds } from "../../src/bounds.ts";
import { RetryableError } from "../../src/errors.ts";
import { createGroupCommit, type GroupCommit } from "../../src/journal/group-commit.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { decidedStar, goingFrom } from "../support/engine.ts";
import { patiently } from "../support/patiently.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";

interface Context {
  url: string;
  sql: Sql;
  commit: GroupCommit["commit"];
  batches: number[];
  now: number;
  /** Postgres' time. */
  clock: () => number;
  close: () => Promise<void>;
}

const test = suite<Context>("group commit");
let wallets = 5_000;
const newWallet = (): string => {
  wallets += 1;
  return `0.0.${wallets}`;
};

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 3, writer: true });
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const batches: number[] = [];
  const now = row?.now ?? 0;
  const clock = goingFrom(now);
  Object.assign(context, {
    url: database.url,
    sql,
    batches,
    now,
    clock,
    commit: createGroupCommit({ sql, now: clock, onBatch: (stars) => batches.push(stars) }).commit,
    close: async () => {
      await sql.end({ timeout: 1 });
      await database.close();
    },
  });
});
test.after.each((context) => context.close());

test("stars decided in one tick share one commit, and each learns its counter (A19 herd)", async (c) => {
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, () => c.commit(decidedStar({ wallet: newWallet(), now: c.now }))),
  );
  assert.deepEqual(c.batches, [50]);
  assert.ok(outcomes.every((outcome) => outcome.kind === "stored" && outcome.totalVotes === 50));
  const [counts] = await c.sql`
    select (select count(*) from star) as stars, (select count(*) from outbox) as messages,
      (select weight from item_day) as today, (select weight from item_hour) as hour`;
  assert.deepEqual({ ...counts }, { stars: 50, messages: 50, today: 50, hour: 50 });
});

test("an event and a project of one id and one batch have counters of their own", async (c) => {
  const named = { id: "meetup", ledgerId: null } as const;
  const outcomes = await Promise.all(
    [
      {
        target: { ...named, type: "event", eventKind: "OTHER" },
        claims: { a: [1], b: null },
      } as const,
      { target: { ...named, type: "project", eventKind: null } } as const,
    ].map((star) => c.commit(decidedStar({ ...star, wallet: newWallet(), now: c.now }))),
  );
  assert.deepEqual(
    outcomes,
    [2, 1].map((totalVotes) => ({ kind: "stored", totalVotes })),
  );
});

test("a batch looks for releases only where there were some since a star was decided", async (c) => {
  await c.sql`
    create or replace function is_released_since(mint text, n bigint, up_to bigint, of_wallet bigint, of_a bigint[], of_b bigint[])
    returns boolean language plpgsql as $$ begin raise 'looked for releases'; end $$`;
  const target = { type: "event", id: "meetup", eventKind: "OTHER", ledgerId: null } as const;
  for (const star of [
    decidedStar({ wallet: newWallet(), now: c.now }),
    decidedStar({ wallet: newWallet(), now: c.now, target }),
    { ...decidedStar({ wallet: newWallet(), now: c.now, target }), releases: null },
  ]) {
    assert.equal((await c.commit(star)).kind, "stored");
  }
});

test("of two stars decided from the same state of a wallet, one is stored and one is stale", async (c) => {
  const wallet = newWallet();
  const other = { type: "token", id: "0.0.9002", eventKind: null, ledgerId: null } as const;
  const outcomes = await Promise.all([
    c.commit(decidedStar({ wallet, now: c.now })),
    c.commit(decidedStar({ wallet, now: c.now, target: other })),
  ]);
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["returned", "stored"]);
  const [row] =
    await c.sql`select count(*) as stars, (select sum(weight) from item_day) as total from star`;
  assert.deepEqual({ ...row }, { stars: 1, total: "1" });
});

test("a star that does not follow the wallet's last one is handed back, also where its place is free", async (c) => {
  const wallet = newWallet();
  const target = { type: "token", id: "0.0.9002", eventKind: null, ledgerId: null } as const;
  const stale = { kind: "returned", reason: "slot" };
  assert.deepEqual(await c.commit(decidedStar({ wallet, now: c.now, slot: 2 })), stale);
  const first = decidedStar({ wallet, now: c.now });
  const { id } = first.star;
  assert.equal((await c.commit(first)).kind, "stored");
  for (const ahead of [
    { now: c.now + 1, slot: 3, follows: id },
    { now: c.now, slot: 2, follows: id },
    // Decided after a star that the journal does not have, as of a copy that it no longer is.
    { now: c.now + 1, slot: 2, follows: newStarId(c.now) },
    { now: c.now + 1, slot: 2 },
  ]) {
    assert.deepEqual(await c.commit(decidedStar({ wallet, target, ...ahead })), stale);
  }
  const next = decidedStar({ wallet, target, now: c.now + 1, slot: 2, follows: id });
  assert.equal((await c.commit(next)).kind, "stored");
});

test("the same item twice on one day is stored once even in another slot", async (c) => {
  const wallet = newWallet();
  const star = decidedStar({ wallet, now: c.now });
  const first = await c.commit(star);
  const again = { wallet, now: c.now + 1, slot: 2, follows: star.star.id };
  const second = await c.commit(decidedStar(again));
  assert.deepEqual([first.kind, second.kind], ["stored", "returned"]);
});

test("a star that lost a serial is not stored at all, and the rest of its batch is", async (c) => {
  const target = { type: "event", id: "meetup", eventKind: "OTHER", ledgerId: null } as const;
  const winner = decidedStar({
    wallet: newWallet(),
    now: c.now,
    target,
    claims: { a: [7], b: null },
  });
  assert.equal((await c.commit(winner)).kind, "stored");
  const [loser, bystander] = await Promise.all([
    c.commit(decidedStar({ wallet: newWallet(), now: c.now, target, claims: { a: [6, 7], b: 1 } })),
    c.commit(decidedStar({ wallet: newWallet(), now: c.now, target, claims: { a: [8], b: null } })),
  ]);
  assert.deepEqual(loser, { kind: "returned", reason: "claim" });
  assert.deepEqual(bystander, { kind: "stored", totalVotes: 4 });
  const claims = await c.sql<{ serial: number }[]>`select serial from serial_claim order by serial`;
  assert.deepEqual(
    claims.map(({ serial }) => serial),
    [7, 8],
  );
});

test("two stars of one batch that bring the same serial: one counts it, the other is handed back after that commit", async (c) => {
  const target = { type: "event", id: "meetup", eventKind: "OTHER", ledgerId: null } as const;
  const claims = { a: [11], b: null };
  const outcomes = await Promise.all([
    c.commit(decidedStar({ wallet: newWallet(), now: c.now, target, claims })),
    c.commit(decidedStar({ wallet: newWallet(), now: c.now, target, claims })),
  ]);
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["returned", "stored"]);
});

test("wallets with thousands of NFTs are stored a few at a time, and no star waits behind them", async (c) => {
  const target = { type: "event", id: "meetup", eventKind: "OTHER", ledgerId: null } as const;
  const holding = (first: number, count: number) => ({
    a: Array.from({ length: count }, (_, n) => first + n),
    b: null,
  });
  const stars = [1, 3_001, 6_001].map((first) => holding(first, 3_000));
  for (let n = 0; n < 10; n += 1) stars.push(holding(20_000 + n, 1));
  const outcomes = await Promise.all(
    stars.map((claims) =>
      c.commit(decidedStar({ wallet: newWallet(), now: c.now, target, claims })),
    ),
  );
  assert.ok(outcomes.every(({ kind }) => kind === "stored"));
  assert.deepEqual(c.batches, [11, 1, 1]);
});

test("a star that claims more than several large ones may is sent alone, one at a time, and holds up no other", async (c) => {
  const small = () => decidedStar({ wallet: newWallet(), now: c.now });
  // A statement with a huge star waits until the others are stored.
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = new Proxy(c.sql, {
    apply(query, self, args: Parameters<Sql>) {
      const send = () => Reflect.apply(query, self, args);
      return String(args[1]).length > 10_000 ? held.then(send) : send();
    },
  });
  const batches: number[] = [];
  const { commit } = createGroupCommit({
    ...{ sql: slow, now: c.clock },
    onBatch: (stars) => batches.push(stars),
  });
  const huges = [huge(c, 1), huge(c, 10_001)].map((star) => patiently(() => commit(star)));
  const together = await Promise.all([commit(small()), commit(small())]);
  const later = await commit(small());
  assert.deepEqual(
    [...together, later].map(({ kind }) => kind),
    ["stored", "stored", "stored"],
  );
  assert.deepEqual(batches, [1, 2, 1]);
  release();
  const outcomes = await Promise.all(huges);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ["stored", "stored"],
  );
});

test("a star that goes alone is the next one, however many came after it", async (c) => {
  const small = () => decidedStar({ wallet: newWallet(), now: c.now });
  const later = Array.from({ length: bounds.commitBatchMax + 1 }, small);
  // Which statement each goes with, also where a busy machine does not store it in time.
  await Promise.allSettled([small(), huge(c, 1), ...later].map((star) => c.commit(star)));
  assert.deepEqual(c.batches, [bounds.commitBatchMax, 1, 2]);
});

function huge({ now }: Context, first: number) {
  const target = { type: "event", id: "meetup", eventKind: "OTHER", ledgerId: null } as const;
  const claims = { a: Array.from({ length: 4_001 }, (_, n) => first + n), b: null };
  return decidedStar({ wallet: newWallet(), now, target, claims });
}

test("a star decided for another UTC day is handed back, and the rest is stored", async (c) => {
  const [yesterday, today] = await Promise.all([
    c.commit(decidedStar({ wallet: newWallet(), now: c.now - DAY_MS })),
    c.commit(decidedStar({ wallet: newWallet(), now: c.now })),
  ]);
  assert.deepEqual([yesterday.kind, today.kind], ["returned", "stored"]);
});

test("a star whose caller has given up is not sent, and its neighbour is", async (c) => {
  const [late, timely] = await Promise.allSettled([
    c.commit(decidedStar({ wallet: newWallet(), now: c.now }), performance.now() - 1),
    c.commit(decidedStar({ wallet: newWallet(), now: c.now }), performance.now() + 3_000),
  ]);
  assert.ok(late.status === "rejected" && late.reason instanceof RetryableError);
  assert.equal(timely.status === "fulfilled" && timely.value.kind, "stored");
  assert.deepEqual(c.batches, [1]);
});

test("a star beyond those that may wait is refused at once, and the others are stored (A20 overload)", async (c) => {
  const cast = () => c.commit(decidedStar({ wallet: newWallet(), now: c.now }));
  const waiting = Array.from({ length: bounds.turnsWaitingMax }, () => patiently(cast));
  await assert.rejects(cast(), { code: "UNAVAILABLE", message: "too many stars are waiting" });
  assert.deepEqual(c.batches, []);
  const outcomes = await Promise.all(waiting);
  assert.ok(outcomes.every(({ kind }) => kind === "stored"));
  assert.equal((await c.commit(decidedStar({ wallet: newWallet(), now: c.now }))).kind, "stored");
});

test("a month without a partition gets one by itself", async (c) => {
  const [{ name } = { name: "" }] = await c.sql<{ name: string }[]>`
    select 'star_' || to_char(utc_day(now_ms()), 'YYYY_MM') as name`;
  await c.sql`drop table ${c.sql(name)}`;
  const outcome = await c.commit(decidedStar({ wallet: newWallet(), now: c.now }));
  assert.equal(outcome.kind, "stored");
});

test("a violated check that names no constraint, and no partition cures, fails its star alone", async (c) => {
  const poison = decidedStar({ wallet: newWallet(), now: c.now });
  await c.sql.unsafe(`create function refuse_poison() returns trigger language plpgsql as $$ begin
      if new.id = '${poison.star.id}' then raise exception 'refused' using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger refuses_poison before insert on star for each row execute function refuse_poison()`);
  const results = await Promise.allSettled([
    c.commit(decidedStar({ wallet: newWallet(), now: c.now })),
    c.commit(poison),
  ]);
  assert.deepEqual(
    results.map((result) =>
      result.status === "fulfilled" ? result.value.kind : result.reason.code,
    ),
    ["stored", "23514"],
  );
});

test("one bad row among many fails alone (A9 poison-row)", async (c) => {
  const poison = decidedStar({ wallet: newWallet(), now: c.now });
  const bad = { ...poison, star: { ...poison.star, weight: -3 } };
  const results = await Promise.allSettled([
    ...Array.from({ length: 9 }, () => c.commit(decidedStar({ wallet: newWallet(), now: c.now }))),
    c.commit(bad),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value.kind : "rejected")),
    [...Array.from({ length: 9 }, () => "stored"), "rejected"],
  );
});

test("a statement that starts after its deadline writes nothing; its answer in time says that the clocks differ", async (c) => {
  const { commit } = createGroupCommit({ sql: c.sql, now: () => c.now - 60_000 });
  const outcome = await commit(decidedStar({ wallet: newWallet(), now: c.now }));
  assert.deepEqual(outcome, { kind: "returned", reason: "day" });
  const [row] = await c.sql`select count(*) as stars from star`;
  assert.equal(row?.stars, 0);
});

test("a star of a statement that had to wait until after its caller's deadline is not stored, and its neighbour is", async (c) => {
  const other = openPostgres(c.url, { connections: 1 });
  const startedAt = performance.now();
  const now = () => Math.floor(c.now + performance.now() - startedAt);
  const { commit } = createGroupCommit({ sql: c.sql, now });
  const [early, patient] = [newWallet(), newWallet()];
  const neighbour = decidedStar({ wallet: patient, now: c.now });
  const [answerBy, deadline] = [performance.now() + 200, now() + 201];
  const outcomes = await other.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(hashtext('hold_seasons'))`;
    const both = Promise.allSettled([
      commit(decidedStar({ wallet: early, now: c.now }), answerBy),
      patiently(() => commit(neighbour)),
    ]);
    await until("the statement waits, and the first star's deadline passes", async () => {
      const [row] = await c.sql<{ waits: boolean; now: number }[]>`
        select now_ms() as now, exists (select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock') as waits`;
      return row?.waits === true && row.now > deadline;
    });
    return { both };
  });
  const [late, timely] = await outcomes.both;
  await other.end();
  assert.ok(late.status === "rejected" && late.reason.code === "UNAVAILABLE");
  assert.deepEqual(timely, { status: "fulfilled", value: { kind: "stored", totalVotes: 1 } });
  const stars = await c.sql<{ wallet: number }[]>`select wallet from star`;
  assert.deepEqual(
    stars.map(({ wallet }) => `0.0.${wallet}`),
    [patient],
  );
});

test("a commit whose answer is lost is looked up, and reported as stored (A7 unknown-commit, P1)", async (c) => {
  // The reply to the pool's first statement is cut off, though the statement succeeds.
  let torn = false;
  const cut = new Proxy(c.sql, {
    apply(target, thisArg, args: Parameters<Sql>) {
      const query = Reflect.apply(target, thisArg, args);
      if (torn || !String(args[0]).includes("cast_stars")) return query;
      torn = true;
      return query.then(() => {
        throw Object.assign(new Error("read ECONNRESET"), { code: "CONNECTION_CLOSED" });
      });
    },
  });
  const { commit } = createGroupCommit({ sql: cut, now: c.clock });
  const outcome = await commit(decidedStar({ wallet: newWallet(), now: c.now }));
  assert.deepEqual(outcome, { kind: "stored", totalVotes: 1, keptReply: null });
});

test("the loser of a deadlock was rolled back for certain, and is sent again (A8 deadlock-hunt)", async (c) => {
  let deadlocks = 2;
  const unlucky = new Proxy(c.sql, {
    apply(target, thisArg, args: Parameters<Sql>) {
      if (deadlocks === 0 || !String(args[0]).includes("cast_stars")) {
        return Reflect.apply(target, thisArg, args);
      }
      deadlocks -= 1;
      return Promise.reject(Object.assign(new Error("deadlock detected"), { code: "40P01" }));
    },
  });
  const { commit } = createGroupCommit({ sql: unlucky, now: c.clock });
  const outcome = await commit(decidedStar({ wallet: newWallet(), now: c.now }));
  assert.deepEqual([outcome.kind, deadlocks], ["stored", 0]);
});

test("a conflict that names no star of its batch fails it, and is not sent again", async (c) => {
  let sent = 0;
  const sql = (() => {
    sent += 1;
    if (sent > 1) return Promise.resolve([]);
    const conflict = { code: "SB409", detail: `${newStarId(c.now)} claim` };
    return Promise.reject(Object.assign(new Error("claimed meanwhile"), conflict));
  }) as unknown as Sql;
  const { commit } = createGroupCommit({ sql, now: c.clock });
  const star = decidedStar({ wallet: newWallet(), now: c.now });
  await assert.rejects(commit(star), { message: /^cast_stars lost others/ });
  assert.equal(sent, 1);
});

test("a database that is away gives 503, never a guess", async (c) => {
  const gone = openPostgres("postgres://absent@127.0.0.1:9/nothing", { connections: 1 });
  const { commit } = createGroupCommit({ sql: gone, now: c.clock });
  await assert.rejects(
    commit(decidedStar({ wallet: newWallet(), now: c.now })),
    (error: unknown) => error instanceof RetryableError && error.code === "UNAVAILABLE",
  );
  await gone.end({ timeout: 0 });
});

test("neither the app's role nor the owner changes or deletes a star (P9)", async (c) => {
  const target = { type: "event", id: "meetup", eventKind: "OTHER", ledgerId: null } as const;
  const claims = { a: [1], b: null };
  await c.commit(decidedStar({ wallet: newWallet(), now: c.now, target, claims }));
  const app = openPostgres(c.url, { connections: 1, role: "starboard_app" });
  for (const attempt of [
    () => c.sql`update star set weight = 9`,
    () => c.sql`delete from star`,
    () => c.sql`truncate star`,
    () => c.sql`delete from outbox`,
    () => c.sql`update outbox set message = '{}'`,
    () => c.sql`delete from serial_claim`,
  ]) {
    await assert.rejects(attempt(), /append-only|SB403/);
  }
  for (const attempt of [() => app`update star set weight = 9`, () => app`delete from star`]) {
    await assert.rejects(attempt(), /permission denied/);
  }
  await app.end();
});

test.run();
