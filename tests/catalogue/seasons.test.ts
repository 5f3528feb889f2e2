/**
 * Goal: no voter waits for a change of seasons, however it goes wrong. Method: real
 * connections; a fold is held up in the middle by a lock that the test holds, while another one
 * removes a season, or the client that adds it is stopped.
 */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { suite } from "uvu";
import { addSeason, listSeasons } from "../../src/catalogue/seasons.ts";
import { createGroupCommit } from "../../src/journal/group-commit.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { decidedStar } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { foldedScores, scores } from "../support/xp.ts";

interface Context {
  url: string;
  sql: Sql;
  now: number;
  /** Stores the first star of a wallet. */
  cast(wallet: number): Promise<string>;
  close(): Promise<void>;
}

const test = suite<Context>("changing seasons");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, {
    connections: 8,
    statementTimeoutMs: 60_000,
  });
  const writer = openPostgres(database.url, { connections: 4, writer: true });
  const readNow = async () => (await sql<{ now: number }[]>`select now_ms() as now`)[0]?.now ?? 0;
  let now = await readNow();
  const { commit } = createGroupCommit({ sql: writer, now: () => now });
  Object.assign(context, {
    url: database.url,
    sql,
    now,
    async cast(wallet) {
      now = await readNow();
      return (await commit(decidedStar({ wallet: `0.0.${wallet}`, now }))).kind;
    },
    async close() {
      await Promise.all([sql.end({ timeout: 1 }), writer.end({ timeout: 1 })]);
      await database.close();
    },
  } satisfies Context);
});
test.after.each((context) => context.close());

const spanOf = (now: number) => ({ name: "s", startsAt: now - 600_000, endsAt: now + 600_000 });

/** Makes folds wait until the key is released. */
async function holdUp(sql: Sql): Promise<() => Promise<void>> {
  await sql.unsafe(`alter function xp_between rename to xp_between_freely;
    create function xp_between(span season, after xp_place, up_to xp_place)
    returns setof season_score language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(42);
      return query select * from xp_between_freely(span, after, up_to);
    end $$`);
  const connection = await reserveConnection(sql);
  await connection`select pg_advisory_lock(42)`;
  return async () => {
    await connection`select pg_advisory_unlock(42)`;
    connection.release();
  };
}

/** How many wait for a lock of any kind. */
const waiting = async (sql: Sql) =>
  (
    await sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`
  ).length;

test("a season that is removed while another is added holds up no voter, and both changes take effect", async ({
  sql,
  now,
  cast,
}) => {
  const past = { name: "past", startsAt: now - 900_000, endsAt: now - 600_000 };
  await addSeason(sql, past);
  await cast(1);
  const release = await holdUp(sql);
  const adding = addSeason(sql, spanOf(now));
  await until("the fold is under way", async () => (await waiting(sql)) === 1);
  const removing = sql`delete from season where name = 'past' returning id`.execute();
  await until("the removal waits", async () => (await waiting(sql)) === 2);
  assert.equal(await cast(2), "stored");
  await release();
  const { id } = await adding;
  assert.equal((await removing).length, 1);
  assert.deepEqual(
    (await listSeasons(sql)).map((season) => season.id),
    [id],
  );
});

test("of seasons added at once that overlap, one is added and the others get the reason", async ({
  sql,
  now,
}) => {
  for (let round = 0; round < 10; round += 1) {
    const added = await Promise.allSettled(
      [1, 2, 3].map((n) => addSeason(sql, { ...spanOf(now), startsAt: now - n })),
    );
    const refused = added.filter((each) => each.status === "rejected");
    assert.equal(refused.length, 2);
    for (const { reason } of refused) assert.match(reason.message, /overlaps another one/);
    await sql`delete from season`;
  }
});

test("a season stands although the client that adds it is stopped, and holds up no voter", async ({
  url,
  sql,
  now,
  cast,
}) => {
  const line = await stoppable(url);
  const client = openPostgres(line.url, { connections: 1, statementTimeoutMs: 60_000 });
  try {
    await cast(1);
    const release = await holdUp(sql);
    const adding = addSeason(client, spanOf(now));
    await until("the fold is under way", async () => (await waiting(sql)) === 1);
    line.stop();
    await release();
    const isSeen = async () => (await listSeasons(sql)).length === 1;
    await until("the season is there", isSeen);
    assert.equal(await cast(2), "stored");
    assert.deepEqual(await scores(sql), await foldedScores(sql));
    line.goOn();
    assert.equal((await adding).name, "s");
  } finally {
    line.goOn();
    await client.end({ timeout: 1 });
    await line.close();
  }
});

test("a transaction that cannot see what is booked meanwhile changes no season", async ({
  sql,
  now,
  cast,
}) => {
  for (const level of ["repeatable read", "serializable"]) {
    const connection = await reserveConnection(sql);
    await connection.unsafe(`begin isolation level ${level}; select from season`);
    await cast(level.length);
    const adding = connection`insert into season values (gen_random_uuid(), 's', ${now - 1_000}, ${now + 600_000})`;
    await assert.rejects(adding, /read committed/);
    await connection`rollback`;
    connection.release();
  }
  await addSeason(sql, spanOf(now));
  assert.equal((await scores(sql)).length, 2);
  assert.deepEqual(await scores(sql), await foldedScores(sql));
});

test("a season with a correction in it, but without what that corrects, is refused in words", async ({
  sql,
  now,
}) => {
  await sql`insert into xp_credit (key, wallet, points, reason, at)
    values ('credit', 1, 5, 'r', ${now - 20}), ('undone', 1, -5, 'r', ${now - 10})`;
  const late = { name: "s", startsAt: now - 15, endsAt: now + 600_000 };
  await assert.rejects(addSeason(sql, late), {
    code: "INVALID_REQUEST",
    message: "points are taken back in this season that were not earned in it",
  });
  await addSeason(sql, { ...late, startsAt: now - 25 });
});

/** A connection to the server that, while stopped, passes on nothing from the client. */
async function stoppable(url: string) {
  const to = new URL(url);
  const ways: { stop(): void; goOn(): void }[] = [];
  const proxy = createServer((client) => {
    const server = connect(Number(to.port), to.hostname);
    server.pipe(client);
    client.pipe(server);
    ways.push({ stop: () => client.unpipe(server), goOn: () => client.pipe(server) });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => other.destroy());
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String((proxy.address() as AddressInfo).port);
  return {
    url: through.href,
    stop() {
      for (const way of ways) way.stop();
    },
    goOn() {
      for (const way of ways) way.goOn();
    },
    close: () => new Promise<void>((resolve) => proxy.close(() => resolve())),
  };
}

test.run();
