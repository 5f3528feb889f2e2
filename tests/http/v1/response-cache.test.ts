/**
 * Goal: a kept body is never older than the question. Method: every write that the API shows is
 * made, also half-way (not yet committed), and every edge of the clock is crossed; each time the
 * kept body is held against what a server that keeps nothing says.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { approveRecord, rejectRecord } from "../../../src/catalogue/approve-records.ts";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import type { Clock } from "../../../src/clock.ts";
import { represent } from "../../../src/http/v1/representation.ts";
import { type Asked, responseCache } from "../../../src/http/v1/response-cache.ts";
import { parseRevision, revisionOf } from "../../../src/store/data-revision.ts";
import { type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { createHouse, fakeClock, giveStars, type House, NOW, openHouse } from "./house.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** What a kept body is counted for beside its own bytes. */
const KEPT_BYTES = 1_024;
const PATHS = [
  "/events",
  "/events?status=all&limit=100",
  "/events/soon",
  "/tokens/top",
  "/collections/top",
  "/leaderboard",
  "/ecosystem",
];
const catalog = {
  events: [
    {
      id: "soon",
      title: "Soon",
      eventType: "OTHER",
      startsAt: new Date(NOW + 1_000).toISOString(),
      endsAt: new Date(NOW + 2_000).toISOString(),
    },
  ],
  tokens: [{ id: "0.0.1", symbol: "T", name: "Token" }],
  collections: [{ id: "0.0.2", name: "Collection" }],
  projects: [{ id: "p", name: "Project", category: "DATA" }],
};
const options = { approve: true, eventSources: [] };

/** Asks as the API does: what is kept, else a reading. */
function asker(clock: Clock, most?: number): (asked: Asked) => Promise<unknown> {
  const bodies = responseCache(clock, most);
  return async (asked) => bodies.find(asked) ?? bodies.read(asked);
}

let house: House;
test.before(async () => {
  house = await openHouse();
  await importCatalog(house.sql, catalog, options);
});
test.after(() => house.close());

/** What each path says: by the server that keeps bodies, and by one that never saw the question. */
async function compare(after: string): Promise<void> {
  const fresh = createHouse({ sql: house.sql, clock: house.clock });
  for (const path of PATHS) {
    const kept = await house.get(path);
    const wanted = await fresh.request(`/v1${path}`, {
      headers: { Authorization: `Bearer ${house.key}` },
    });
    assert.equal(await kept.text(), await wanted.text(), `${path} after ${after}`);
    assert.equal(kept.headers.get("etag"), wanted.headers.get("etag"));
  }
}

const star = (type: "event" | "token" | "collection" | "project", id: string) =>
  giveStars(house.sql, { type, id, at: house.clock.now(), weight: 3 });

/** Every kind of write that the API shows. */
const writes: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["a star on an event", () => star("event", "soon")],
  ["a star on a token", () => star("token", "0.0.1")],
  ["a star on a collection", () => star("collection", "0.0.2")],
  ["a star on a project", () => star("project", "p")],
  ["a second star", () => star("token", "0.0.1")],
  ["weight that a mint lost", () => house.sql`update event_total set weight = weight - 1`],
  ["a rejected event", () => rejectRecord(house.sql, "event", "soon")],
  ["an approved event", () => approveRecord(house.sql, "event", "soon")],
  ["a rejected token", () => rejectRecord(house.sql, "token", "0.0.1")],
  ["an approved token", () => approveRecord(house.sql, "token", "0.0.1")],
  ["a rejected collection", () => rejectRecord(house.sql, "collection", "0.0.2")],
  ["a rejected project", () => rejectRecord(house.sql, "project", "p")],
  ["a new price", () => house.sql`update token set price = 2`],
  [
    "another import",
    () =>
      importCatalog(
        house.sql,
        { ...catalog, tokens: [{ ...catalog.tokens[0], name: "New" }] },
        options,
      ),
  ],
  ["an hour taken away", () => house.sql`delete from item_hour`],
  ["counters emptied", () => house.sql`truncate item_day, event_total`],
  ["records emptied", () => house.sql`truncate token, collection, project`],
];

for (const [name, write] of writes) {
  test(`what is shown is the newest after ${name}`, async () => {
    await compare("nothing");
    await write();
    await compare(name);
  });
}

test("a body read while a change is under way is not kept under the state after it", async () => {
  await importCatalog(house.sql, catalog, options);
  let halfWay = (): void => undefined;
  let goOn = (): void => undefined;
  const hasBegun = new Promise<void>((resolve) => {
    halfWay = resolve;
  });
  const allowed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const changing = house.sql.begin(async (tx) => {
    await tx`update token set name = 'Half-way' where id = '0.0.1'`;
    halfWay();
    await allowed;
  });
  await hasBegun;
  assert.doesNotMatch(await (await house.get("/tokens/top")).text(), /Half-way/);
  goOn();
  await changing;
  assert.match(await (await house.get("/tokens/top")).text(), /Half-way/);
});

test("changes under way at once each count, and none waits for another", async () => {
  const before = await revision(house.sql);
  const changes = await Promise.all(
    [1, 2, 3].map((price) =>
      house.sql.begin(async (tx) => {
        // Rows of their own: only the counters could make one wait for the other.
        await tx`set local lock_timeout = '1s'`;
        const id = `0.0.${100 + price}`;
        await tx`insert into token (id, symbol, name, created_at) values (${id}, 'T', 'T', 0)`;
        await tx`select pg_sleep(0.2)`;
        return price;
      }),
    ),
  );
  const after = await revision(house.sql);
  assert.equal(Number(after.token) - Number(before.token), changes.length);
  assert.equal(after.event, before.event);
});

test("a change taken back leaves the revision as it was", async () => {
  const before = await revision(house.sql);
  await house.sql
    .begin(async (tx) => {
      await tx`update token set price = 5`;
      throw new Error("taken back");
    })
    .catch(() => undefined);
  await house.sql`update token set price = 5 where false`;
  assert.deepEqual(await revision(house.sql), before);
});

test("more commits at once than counters: one is added, and counts", async () => {
  const [{ rows: before } = { rows: 0 }] = await counters();
  const counted = Number((await revision(house.sql)).project);
  await house.sql.begin(async (tx) => {
    await tx`select from read_revision where kind = 'project' for update`;
    await house.sql`insert into project (id, slug, name, category, created_at) values ('q', 'q', 'Q', 'DATA', 0)`;
  });
  const [{ rows } = { rows: 0 }] = await counters();
  assert.equal(rows, before + 1);
  assert.equal(Number((await revision(house.sql)).project), counted + 1);
});

test("the clock alone changes what is shown: start, end, full hour, midnight", async () => {
  await importCatalog(house.sql, catalog, options);
  await giveStars(house.sql, { type: "token", id: "0.0.1", at: NOW - 7 * DAY, weight: 9 });
  await giveStars(house.sql, { type: "token", id: "0.0.1", at: NOW, weight: 1 });
  const midnight = Date.UTC(2026, 10, 21);
  const edges = [NOW + 1_000, NOW + 2_000, Math.ceil(NOW / HOUR) * HOUR, midnight];
  for (const edge of edges) {
    for (const at of [edge - 1, edge, edge + 1, edge - 1]) {
      house.clock.set(at);
      await compare(new Date(at).toISOString());
    }
  }
  house.clock.set(NOW);
});

test("an unchanged answer is read once; a changed revision, a full hour, a clock set back read again", async () => {
  const clock = fakeClock(HOUR + 5);
  const show = asker(clock);
  let reads = 0;
  const ask = (revision: string, question = "q") =>
    show({ question, revision, read: async () => ({ body: { reads: ++reads }, until: 2 * HOUR }) });
  await ask("1");
  await ask("1");
  assert.equal(reads, 1);
  await ask("2");
  assert.equal(reads, 2);
  clock.set(2 * HOUR);
  await ask("2");
  assert.equal(reads, 3);
  clock.set(2 * HOUR - 1);
  await ask("2");
  assert.equal(reads, 4);
  await ask("2", "another");
  assert.equal(reads, 5);
});

test("bodies are kept up to a size, the oldest go first; a failed read is not kept", async () => {
  const show = asker(fakeClock(), 100 + 2 * KEPT_BYTES);
  let reads = 0;
  const ask = (question: string, revision = "1") =>
    show({
      question,
      revision,
      read: async () => {
        reads++;
        if (question === "bad") throw new Error("no");
        return { body: "x".repeat(40), until: Number.POSITIVE_INFINITY };
      },
    });
  for (const question of ["a", "b", "a", "c", "b", "c"]) await ask(question);
  assert.equal(reads, 3);
  await ask("a");
  assert.equal(reads, 4, "the oldest had to go");
  for (const revision of ["2", "3", "4"]) await ask("c", revision);
  await ask("a");
  await ask("c", "4");
  assert.equal(reads, 7, "one that is read anew takes the place of the one before it");
  for (let times = 0; times < 2; times++) await assert.rejects(ask("bad"));
  assert.equal(reads, 9);
});

test("the number of nearly empty bodies is bounded too: keeping one costs memory of its own", async () => {
  const questions = 500;
  const show = asker(fakeClock(), (questions / 2) * KEPT_BYTES);
  let reads = 0;
  const ask = (question: number) =>
    show({
      question: String(question),
      revision: "1",
      read: async () => {
        reads++;
        return { body: 0, until: Number.POSITIVE_INFINITY };
      },
    });
  for (let question = 0; question < questions; question++) await ask(question);
  await ask(questions - 1);
  assert.equal(reads, questions, "the newest is kept");
  await ask(questions / 2);
  assert.equal(reads, questions + 1, "half of them had to go");
});

test("a small kept body does not keep the buffer of its neighbours in memory", async () => {
  const small = represent({ events: [], total: 3 });
  assert.equal(small.bytes.buffer.byteLength, small.bytes.length);
  const compressed = await represent("x".repeat(2_000)).gzipped();
  assert.equal(compressed.buffer.byteLength, compressed.length);
});

async function revision(sql: TestDatabase["sql"]) {
  const [row] = await sql<{ text: string }[]>`select data_revision() as text`;
  return parseRevision(row?.text ?? "");
}

function counters() {
  return house.sql<{ rows: number }[]>`
    select count(*) as rows from read_revision where kind = 'project'`;
}

test("a dump restored beside the database, or into it, has another revision", async () => {
  const [lost, restored] = [
    await testDatabase({ migrated: true }),
    await testDatabase({ migrated: true }),
  ];
  const kinds = ["token"] as const;
  try {
    // As many changes as before the loss, and they are others.
    const before = await revision(lost.sql);
    const beside = await revision(restored.sql);
    assert.equal(beside.token, before.token);
    assert.notEqual(revisionOf(beside, kinds), revisionOf(before, kinds));
    await lost.sql`alter table read_revision rename to replaced`;
    await lost.sql`create table read_revision as select * from replaced`;
    const within = await revision(lost.sql);
    assert.equal(within.token, before.token);
    assert.notEqual(revisionOf(within, kinds), revisionOf(before, kinds));
  } finally {
    await Promise.all([lost.close(), restored.close()]);
  }
});

test("a server that was restarted has another revision", () => {
  const kinds = ["token"] as const;
  assert.notEqual(
    revisionOf({ token: "1", server: "100" }, kinds),
    revisionOf({ token: "1", server: "101" }, kinds),
  );
});

test.run();
