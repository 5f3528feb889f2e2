/** `catalog import`: records as the API shows them, upsert by id, all or nothing, every bad field named. */
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import { approveRecord, rejectRecord } from "../../src/catalogue/approve-records.ts";
import { importCatalog } from "../../src/catalogue/import-catalog.ts";
import { listRecords } from "../../src/catalogue/list-records.ts";
import { createGroupCommit } from "../../src/journal/group-commit.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { decidedStar } from "../support/engine.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";

let database: TestDatabase;
let sql: Sql;
let writer: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 3, statementTimeoutMs: 60_000 });
  writer = openPostgres(database.url, { connections: 1, writer: true });
});
test.after(async () => {
  await Promise.all([sql.end(), writer.end()]);
  await database.close();
});
test.before.each(async () => {
  await sql`delete from event`;
  await sql`delete from token`;
  await sql`delete from collection`;
  await sql`delete from project`;
  await sql`delete from event_total`;
});

const waiting = { approve: false, eventSources: ["SOURCE_A", "SOURCE_B"] };
const approved = { ...waiting, approve: true };
const event = { id: "e", title: "E", eventType: "OTHER", startsAt: "2026-11-20T08:00:00Z" };
const token = { id: "0.0.1", symbol: "T", name: "Token" };

const only = async (type: "event" | "token" | "collection" | "project") => {
  const [record, ...others] = await listRecords(sql, type);
  assert.equal(others.length, 0);
  return record;
};

async function refusal(given: unknown, options = waiting): Promise<string> {
  let message = "";
  await assert.rejects(importCatalog(sql, given, options), (error: Error & { code?: string }) => {
    message = error.message;
    return error.code === "INVALID_REQUEST";
  });
  for (const type of ["event", "token", "collection", "project"] as const) {
    assert.deepEqual(await listRecords(sql, type), [], "nothing is stored");
  }
  return message;
}

test("the file that the documentation shows goes in, with every field there is", async () => {
  const page = readFileSync(new URL("../../docs/operating/catalogue.md", import.meta.url), "utf8");
  const [, file = ""] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const given = JSON.parse(file);
  const { imported } = await importCatalog(sql, given, approved);
  assert.deepEqual(imported, { events: 1, tokens: 1, collections: 1, projects: 1 });
  const derived = ["approvedAt", "createdAt"];
  for (const [list, [record]] of Object.entries<object[]>(given)) {
    const type = list.slice(0, -1) as Parameters<typeof only>[0];
    const fields = Object.keys((await only(type)) ?? {}).filter((name) => !derived.includes(name));
    assert.deepEqual(Object.keys(record ?? {}).sort(), fields.sort(), type);
  }
});

test("says how many of each were imported, and how many approved", async () => {
  const catalog = {
    events: [event],
    tokens: [token, { ...token, id: "0.0.2" }],
    collections: [{ id: "0.0.3", name: "C" }],
    projects: [{ id: "p", name: "P", category: "DATA" }],
  };
  const imported = { events: 1, tokens: 2, collections: 1, projects: 1 };
  assert.deepEqual(await importCatalog(sql, catalog, waiting), { imported, approved: 0 });
  assert.deepEqual(await importCatalog(sql, catalog, approved), { imported, approved: 5 });
  const none = { events: 0, tokens: 0, collections: 0, projects: 0 };
  assert.deepEqual(await importCatalog(sql, {}, approved), { imported: none, approved: 0 });
});

test("an exported list can be imported again and changes nothing", async () => {
  const whole = {
    id: "whole",
    title: "Ж “quoted” \\ \u2028 💫",
    description: "x".repeat(4_000),
    eventType: "HACKATHON",
    isForeverMint: false,
    source: "SOURCE_B",
    startsAt: "2026-11-20T08:00:00.000Z",
    endsAt: "2026-11-21T08:00:00.001Z",
    host: "h",
    location: "l",
    imageUrl: "https://i.example/x?y=1#z",
    url: "http://u.example",
    links: [{ label: "", url: "https://l.example" }],
    prizes: [{ title: "p", description: null, value: "v" }],
    createdAt: "2020-01-01T00:00:00.000Z",
  };
  await importCatalog(sql, { events: [whole] }, waiting);
  const { approvedAt, ...listed } = (await only("event")) ?? {};
  assert.deepEqual(listed, whole);
  assert.equal(approvedAt, null);
  await importCatalog(sql, { events: [listed] }, waiting);
  assert.deepEqual(await only("event"), { ...whole, approvedAt: null });
});

test("an event without an end gets one: mints 7 days later, others at the end of their first UTC day", async () => {
  const endOf = async (given: object) => {
    await importCatalog(sql, { events: [{ ...event, ...given }] }, waiting);
    return (await only("event"))?.endsAt;
  };
  assert.equal(await endOf({ eventType: "MINT_EVENT" }), "2026-11-27T08:00:00.000Z");
  for (const eventType of ["OTHER", "HACKATHON", "ECOSYSTEM_MEETUP"]) {
    assert.equal(await endOf({ eventType, endsAt: null }), "2026-11-21T00:00:00.000Z");
  }
  assert.equal(await endOf({ startsAt: "2026-11-20T23:30:00-02:00" }), "2026-11-22T00:00:00.000Z");
  assert.equal(await endOf({ startsAt: "2026-11-20T00:00:00Z" }), "2026-11-21T00:00:00.000Z");
  assert.equal(await endOf({ eventType: "MINT_EVENT", isForeverMint: true }), null);
});

test("a re-import replaces by id, and keeps the date and the approval", async () => {
  await importCatalog(sql, { tokens: [{ ...token, price: 1 }] }, approved);
  const first = await only("token");
  assert.ok(first?.approvedAt);
  await importCatalog(sql, { tokens: [{ ...token, name: "Renamed" }] }, waiting);
  const second = await only("token");
  assert.equal(second?.name, "Renamed");
  assert.equal(second?.price, null, "what is missing now is null");
  assert.equal(second?.createdAt, first?.createdAt);
  assert.equal(second?.approvedAt, first?.approvedAt);
  await rejectRecord(sql, "token", token.id);
  await importCatalog(sql, { tokens: [token] }, waiting);
  assert.equal((await only("token"))?.approvedAt, null, "a rejected record stays hidden");
  await importCatalog(sql, { tokens: [{ ...token, createdAt: "2021-01-01T00:00:00Z" }] }, approved);
  assert.equal((await only("token"))?.createdAt, "2021-01-01T00:00:00.000Z");
});

test("every bad field is named by its record's index and id, all at once", async () => {
  const message = await refusal({
    events: [
      event,
      { ...event, id: "bad id", title: "", eventType: "MINT", startsAt: "2026-11-20", foo: 1 },
      { ...event, id: "f", isForeverMint: true, endsAt: "2026-11-19T00:00:00Z", url: "ftp://x" },
      { ...event, id: "g", title: 5, isForeverMint: true },
      null,
      { ...event, id: "h", startsAt: 1e300 },
    ],
    tokens: [{ id: "0.0.01", symbol: "x".repeat(301) }, 7, null],
    collections: [{ id: "0.0.5", name: "C", owners: 1.5, supply: -1 }, null],
    projects: [{ id: "p", name: "P", category: "defi", country: "DEU", rank: 1 }, null],
    extra: [],
  });
  const named = [
    /events\[1\] \(id "bad id"\) id is not/,
    /events\[1\] \(id "bad id"\) title is blank/,
    /events\[1\] \(id "bad id"\) eventType must be one of MINT_EVENT, /,
    /events\[1\] \(id "bad id"\) startsAt is no RFC 3339 instant/,
    /events\[1\] \(id "bad id"\) foo is not a known field/,
    /events\[2\] \(id "f"\) url is no http\(s\) URL/,
    /events\[2\] \(id "f"\) isForeverMint only a MINT_EVENT/,
    /events\[2\] \(id "f"\) endsAt a forever mint has no end/,
    /events\[2\] \(id "f"\) endsAt is before startsAt/,
    /events\[3\] \(id "g"\) title must be string/,
    /events\[3\] \(id "g"\) isForeverMint only a MINT_EVENT/,
    /events\[4\] must be object/,
    /events\[5\] \(id "h"\) startsAt must be string/,
    /tokens\[0\] \(id "0\.0\.01"\) id is no ledger id/,
    /tokens\[0\] \(id "0\.0\.01"\) symbol has more than 300 characters/,
    /tokens\[0\] \(id "0\.0\.01"\) name is missing/,
    /tokens\[1\] must be object/,
    /tokens\[2\] must be object/,
    /collections\[0\] \(id "0\.0\.5"\) owners must be int/,
    /collections\[0\] \(id "0\.0\.5"\) supply is negative/,
    /collections\[1\] must be object/,
    /projects\[1\] must be object/,
    /projects\[0\] \(id "p"\) category must be one of DEFI, /,
    /projects\[0\] \(id "p"\) country is no two-letter country code/,
    /projects\[0\] \(id "p"\) rank is not a known field/,
    /; extra is not a known field/,
  ];
  for (const pattern of named) assert.match(message, pattern);
  assert.doesNotMatch(message, /events\[0\]/);
  assert.doesNotMatch(message, /\n/);
});

test("ids have 64 characters, names 300 and descriptions 4,000 at most; a count and a price may be 0", async () => {
  const fits = {
    events: [
      { ...event, id: "e".repeat(64), title: "🎉".repeat(300), description: "🎉".repeat(4_000) },
    ],
    tokens: [{ ...token, id: "0.0.123456789012", price: 0, marketCap: 0 }],
    collections: [{ id: "0.0.5", name: "C", owners: 0, supply: 0 }],
    projects: [{ id: "p".repeat(64), name: "P", category: "DATA", slug: "s".repeat(64) }],
  };
  await importCatalog(sql, fits, waiting);
  assert.equal((await only("event"))?.id, "e".repeat(64));
  assert.deepEqual([(await only("token"))?.price, (await only("token"))?.marketCap], [0, 0]);
  assert.deepEqual(
    [(await only("collection"))?.owners, (await only("collection"))?.supply],
    [0, 0],
  );
  assert.equal((await only("project"))?.slug, "s".repeat(64));
  for (const type of ["event", "token", "collection", "project"])
    await sql`delete from ${sql(type)}`;
  const message = await refusal({
    events: [{ ...event, id: "e".repeat(65), description: "d".repeat(4_001) }],
    tokens: [{ ...token, id: "0.0.1234567890123", price: -1, marketCap: -0.01 }],
    collections: [{ id: "0.0.0", name: "C", owners: -1, supply: 0.5 }],
    projects: [{ id: "p", name: "P", category: "DATA", slug: "s".repeat(65) }],
  });
  for (const [place, flaw] of [
    ["events[0]", "id is not 1–64"],
    ["events[0]", "description has more than 4000 characters"],
    ["tokens[0]", "id is no ledger id"],
    ["tokens[0]", "price is negative"],
    ["tokens[0]", "marketCap is negative"],
    ["collections[0]", "id is no ledger id"],
    ["collections[0]", "owners is negative"],
    ["collections[0]", "supply must be int"],
    ["projects[0]", "slug is not 1–64"],
  ] as const) {
    const said = message.split("; ").some((each) => each.includes(place) && each.includes(flaw));
    assert.ok(said, `${place} ${flaw}: ${message}`);
  }
});

test("what may be null may be given as null, and what may not is named where it is or is missing", async () => {
  const nothing = (...names: string[]) => Object.fromEntries(names.map((name) => [name, null]));
  const project = { id: "p", name: "P", category: "DATA" };
  const optional = {
    events: nothing("description", "source", "endsAt", "host", "location", "imageUrl", "url"),
    tokens: nothing("iconUrl", "price", "marketCap"),
    collections: nothing("imageUrl", "owners", "supply"),
    projects: nothing("country", "description", "logoUrl", "websiteUrl", "ledgerId"),
  };
  const needed = {
    events: event,
    tokens: token,
    collections: { id: "0.0.5", name: "C" },
    projects: project,
  };
  const kinds = ["events", "tokens", "collections", "projects"] as const;
  const flaws = [];
  for (const kind of kinds) {
    for (const field of Object.keys(needed[kind])) {
      const { [field]: _, ...lacking } = needed[kind] as Record<string, unknown>;
      for (const given of [lacking, { ...lacking, [field]: null }]) {
        const message = await refusal({ [kind]: [given] });
        if (!new RegExp(`\\b${field} (is missing|must be)`).test(message)) flaws.push(message);
      }
    }
  }
  assert.deepEqual(flaws, []);
  const file = Object.fromEntries(
    kinds.map((kind) => [kind, [{ ...needed[kind], ...optional[kind] }]]),
  );
  await importCatalog(sql, file, waiting);
  const listed = await only("event");
  assert.deepEqual([listed?.endsAt, listed?.host], ["2026-11-21T00:00:00.000Z", null]);
});

test("duplicate ids, texts that cannot be stored and malformed files are refused", async () => {
  assert.match(
    await refusal({ tokens: [token, token] }),
    /tokens\[1\] \(id "0\.0\.1"\) id is there twice/,
  );
  assert.match(await refusal({ tokens: [{ ...token, name: "a\0b" }] }), /name has characters/);
  assert.match(await refusal({ tokens: [{ ...token, name: "a\ud800b" }] }), /name has characters/);
  assert.match(await refusal({ tokens: [{ ...token, price: "1" }] }), /price must be number/);
  assert.match(
    await refusal({ events: [{ ...event, startsAt: "1969-12-31T23:59:59Z" }] }),
    /before 1970/,
  );
  assert.match(
    await refusal({ events: [{ ...event, links: [{ label: "x" }] }] }),
    /links\.0\.url is missing/,
  );
  for (const odd of [null, [], 1, "x"]) assert.match(await refusal(odd), /the file must be object/);
  assert.match(await refusal({ events: {} }), /events must be array/);
});

test("blank titles, urls that are not plain http(s) and texts with bidirectional overrides are refused", async () => {
  const project = { id: "p", name: "P", category: "DATA" };
  const named: readonly [object, RegExp][] = [
    [{ events: [{ ...event, title: " \u00a0" }] }, /title is blank/],
    [{ events: [{ ...event, prizes: [{ title: "\t" }] }] }, /prizes\.0\.title is blank/],
    [{ tokens: [{ ...token, name: " " }] }, /name is blank/],
    [{ tokens: [{ ...token, name: "\u200b \u2800\u3164\u00ad" }] }, /name is blank/],
    [{ tokens: [{ ...token, name: "a\u202eb" }] }, /name has bidirectional overrides/],
    [{ events: [{ ...event, description: "\u2067x" }] }, /description has bidirectional/],
    [{ events: [{ ...event, url: "https://a.example/b c" }] }, /url has a space/],
    [{ events: [{ ...event, url: " https://a.example" }] }, /url has a space/],
    [{ events: [{ ...event, url: "https://me:secret@a.example" }] }, /url bears credentials/],
    [{ events: [{ ...event, url: "", imageUrl: "u" }] }, /imageUrl is no http.* url is no http/],
    [{ tokens: [{ ...token, iconUrl: "//a.example/i.png" }] }, /iconUrl is no http\(s\) URL/],
    [{ projects: [{ ...project, slug: "a b" }] }, /slug is not 1–64/],
    [{ projects: [{ ...project, slug: "" }] }, /slug is not 1–64/],
  ];
  for (const [given, pattern] of named) assert.match(await refusal(given), pattern);
});

test("no instant is after the year 9999, and no default end", async () => {
  const late = { ...event, startsAt: "9999-12-28T00:00:00Z" };
  const mint = { ...late, eventType: "MINT_EVENT" };
  assert.match(await refusal({ events: [mint] }), /endsAt is needed: .* after the year 9999/);
  const last = { ...event, startsAt: "9999-12-31T00:00:00Z" };
  assert.match(await refusal({ events: [last] }), /endsAt is needed/);
  const over = { ...event, startsAt: "9999-12-31T23:59:59-01:00" };
  assert.match(await refusal({ events: [over] }), /startsAt is after the year 9999/);
  await importCatalog(sql, { events: [late] }, waiting);
  assert.equal((await only("event"))?.endsAt, "9999-12-29T00:00:00.000Z");
  await importCatalog(sql, { events: [{ ...mint, isForeverMint: true }] }, waiting);
});

test("no two projects share a ledger id or a slug, listed or not", async () => {
  const one = { id: "one", name: "One", category: "DATA", ledgerId: "0.0.7", slug: "same" };
  const two = { ...one, id: "two" };
  const message = await refusal({ projects: [one, two] });
  assert.match(message, /projects\[1\] \(id "two"\) slug is there twice/);
  assert.match(message, /projects\[1\] \(id "two"\) ledgerId is there twice/);
  // A slug is the id where none is given.
  assert.match(await refusal({ projects: [one, { ...two, id: "same", ledgerId: null }] }), /twice/);
  await importCatalog(sql, { projects: [one] }, waiting);
  await assert.rejects(importCatalog(sql, { projects: [{ ...two, slug: "other" }] }, waiting), {
    code: "INVALID_REQUEST",
    message: /projects\[0\] \(id "two"\) ledgerId is that of project one/,
  });
  await assert.rejects(importCatalog(sql, { projects: [{ ...two, ledgerId: null }] }, waiting), {
    message: /projects\[0\] \(id "two"\) slug is that of project one/,
  });
  await assert.rejects(
    sql`insert into project (id, slug, name, category, ledger_id, created_at)
      values ('three', 'three', 'T', 'DATA', '0.0.7', 0)`,
    /project_ledger_id/,
  );
  // One file may exchange them, and give up what another one takes.
  await importCatalog(sql, { projects: [one, { ...two, slug: "b", ledgerId: "0.0.8" }] }, waiting);
  const exchanged = [
    { ...one, slug: "b", ledgerId: "0.0.8" },
    { ...two, slug: "same", ledgerId: "0.0.7" },
  ];
  await importCatalog(sql, { projects: exchanged }, waiting);
  const listed = await listRecords(sql, "project");
  assert.deepEqual(listed.map(({ slug }) => slug).sort(), ["b", "same"]);
});

test("a ledger id that messages of a project's stars bear goes to no other project", async () => {
  const one = { id: "one", name: "One", category: "DATA" };
  const two = { ...one, id: "two" };
  await importCatalog(sql, { projects: [{ ...one, ledgerId: "0.0.7" }, two] }, waiting);
  const now = Date.now();
  const star = decidedStar({
    wallet: "0.0.1001",
    now,
    target: { type: "project", id: "one", eventKind: null, ledgerId: "0.0.7" },
  });
  const message = '{"target_id":"0.0.7","target_type":"project"}';
  const { commit } = createGroupCommit({ sql: writer, now: () => now });
  assert.equal((await commit({ ...star, message })).kind, "stored");
  await importCatalog(sql, { projects: [{ ...one, ledgerId: "0.0.8" }] }, waiting);
  await assert.rejects(
    importCatalog(sql, { projects: [{ ...two, ledgerId: "0.0.7" }] }, waiting),
    /projects\[0\] \(id "two"\) ledgerId is that of project one/,
  );
  await importCatalog(sql, { projects: [{ ...two, ledgerId: "0.0.9" }] }, waiting);
  await importCatalog(sql, { projects: [{ ...one, ledgerId: "0.0.7" }] }, waiting);
});

test("an import that takes no ledger id from a project reads no messages", async () => {
  const one = { id: "one", name: "One", category: "DATA" };
  const two = { ...one, id: "two" };
  await importCatalog(sql, { projects: [{ ...one, ledgerId: "0.0.11" }, two] }, waiting);
  const operator = await reserveConnection(sql);
  await operator`begin`;
  await operator`lock table outbox`;
  await importCatalog(sql, { projects: [{ ...one, ledgerId: "0.0.11" }] }, waiting);
  await importCatalog(sql, { projects: [{ ...two, ledgerId: "0.0.12" }] }, waiting);
  await operator`rollback`;
  operator.release();
});

test("an event's source is one of EVENT_SOURCES, which must be set then", async () => {
  const events = [{ ...event, source: "OTHER" }];
  assert.match(await refusal({ events }), /source must be one of SOURCE_A, SOURCE_B/);
  assert.match(
    await refusal({ events }, { approve: false, eventSources: [] }),
    /EVENT_SOURCES is not set/,
  );
  await importCatalog(
    sql,
    { events: [{ ...event, source: null }] },
    { approve: false, eventSources: [] },
  );
});

test("one bad record keeps all others out", async () => {
  assert.match(
    await refusal({ events: [event], tokens: [token, { ...token, id: "x" }] }),
    /tokens\[1\]/,
  );
});

test("a starred event cannot become a forever mint, nor stop being one; nothing of the file is stored", async () => {
  const mint = { ...event, eventType: "MINT_EVENT" };
  await importCatalog(sql, { events: [mint, { ...mint, id: "unstarred" }] }, approved);
  await sql`insert into event_total values ('e', 5, 1)`;
  const forever = { ...mint, isForeverMint: true };
  await importCatalog(sql, { events: [{ ...forever, id: "unstarred" }] }, approved);
  await assert.rejects(importCatalog(sql, { events: [forever], tokens: [token] }, approved), {
    code: "INVALID_REQUEST",
    message: /already starred, so isForeverMint cannot change any more: e$/,
  });
  assert.deepEqual(await listRecords(sql, "token"), []);
  await importCatalog(sql, { events: [{ ...mint, title: "Renamed" }] }, approved);
});

test("approve and reject one record; an unknown one is NOT_FOUND", async () => {
  await importCatalog(sql, { projects: [{ id: "p", name: "P", category: "DATA" }] }, waiting);
  const first = await approveRecord(sql, "project", "p");
  assert.ok(first.approvedAt);
  assert.deepEqual(await approveRecord(sql, "project", "p"), first, "twice is once");
  assert.deepEqual(await rejectRecord(sql, "project", "p"), {
    type: "project",
    id: "p",
    approvedAt: null,
  });
  await assert.rejects(approveRecord(sql, "token", "p"), { code: "NOT_FOUND" });
  await assert.rejects(rejectRecord(sql, "event", "'"), { code: "NOT_FOUND" });
});

test("an approval that is given or withdrawn while an import runs outlives it", async () => {
  const hidden = { ...event, id: "hidden" };
  const catalog = { events: [event, hidden] };
  await importCatalog(sql, catalog, waiting);
  await approveRecord(sql, "event", "e");
  const operator = await reserveConnection(sql);
  await operator`begin`;
  await operator`update event set approved_at = case when id = 'hidden' then now_ms() end`;
  const importing = importCatalog(sql, catalog, waiting);
  await until("the import waits", async () => {
    const [row] = await sql`select count(*) as waiting from pg_locks where not granted`;
    return row?.waiting > 0;
  });
  await operator`commit`;
  operator.release();
  await importing;
  const approvals = (await listRecords(sql, "event")).map(({ id, approvedAt }) => [id, approvedAt]);
  assert.equal(approvals.find(([id]) => id === "e")?.[1], null);
  assert.notEqual(approvals.find(([id]) => id === "hidden")?.[1], null);
});

test("100,000 records are one import", async () => {
  const tokens = Array.from({ length: 60_000 }, (_, n) => ({ ...token, id: `0.0.${n + 1}` }));
  const events = Array.from({ length: 40_000 }, (_, n) => ({ ...event, id: `e${n}` }));
  const started = performance.now();
  await importCatalog(sql, { tokens, events }, approved);
  const seconds = (performance.now() - started) / 1_000;
  assert.equal((await listRecords(sql, "token")).length, 60_000);
  assert.ok(seconds < 60, `${seconds} s`);
  console.log(`100,000 records in ${seconds.toFixed(1)} s`);
});

test("two imports of the same records at once both succeed", async () => {
  const ids = Array.from({ length: 500 }, (_, n) => ({ ...token, id: `0.0.${n + 1}` }));
  const reversed = [...ids].reverse();
  await Promise.all([
    importCatalog(sql, { tokens: ids }, waiting),
    importCatalog(sql, { tokens: reversed }, approved),
    importCatalog(sql, { tokens: ids }, waiting),
  ]);
  assert.equal((await listRecords(sql, "token")).length, 500);
});

test("of two imports at once that give one slug to two projects, one is refused by name", async () => {
  const operator = await reserveConnection(sql);
  await operator`begin`;
  // Both have looked before either stores.
  await operator`lock table project in share mode`;
  const imports = ["one", "two"].map((id) =>
    importCatalog(sql, { projects: [{ id, slug: "same", name: "P", category: "DATA" }] }, waiting),
  );
  const both = Promise.allSettled(imports);
  await until("both wait to store", async () => {
    const [row] = await operator`select count(*) as waiting from pg_locks where not granted`;
    return row?.waiting === 2;
  });
  await operator`commit`;
  operator.release();
  const refused = (await both).flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  assert.deepEqual(
    refused.map(({ code }) => code),
    ["INVALID_REQUEST"],
  );
  assert.match(
    refused[0].message,
    /projects\[0\] \(id "(one|two)"\) slug is that of project (one|two)/,
  );
});

test.run();
