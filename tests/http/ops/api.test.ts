/**
 * Goal: operators, and they alone, see actors and publishing over HTTP. Method: a real web
 * process and real stars.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import { addOperator } from "../../../src/keys/operators.ts";
import { reportAlarms } from "../../../src/publishing/alarms.ts";
import { readDatabaseClock } from "../../../src/store/postgres.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";

const NO_STAR = "01a1f8c0-0000-7000-8000-00000000000f";
const TOKEN = "operator-token-of-the-test";
const test = suite<{ service: Service; wallet: string; voter: string; day: string }>("/ops/api");

test.before(async (context) => {
  context.service = await startService({ OPERATOR_TOKEN: TOKEN });
  const wallet = await newWallet(context.service, { a: 2, b: 1 });
  context.wallet = wallet.id;
  context.voter = await signIn(context.service, wallet);
  const { body } = await cast(context.service, context.voter, "event/meetup");
  context.day = body.star.day;
  await cast(context.service, context.voter, "event/mint");
});
test.after((context) => context.service.close());

test("401 for guests, voters and wrong tokens", async ({ service, voter }) => {
  for (const path of ["actors", "publishing", `actors/forever-mint/mint`]) {
    for (const token of [undefined, voter, "operator-token-of-the-tesT"]) {
      const reply = await send(
        service,
        `GET /ops/api/${path}`,
        token === undefined ? {} : { token },
      );
      assert.equal(reply.status, 401);
      assert.equal(reply.body.code, "INVALID_OPERATOR_TOKEN");
    }
  }
});

test("an actor is shown as the command shows it, with its history", async ({
  service,
  wallet,
  day,
}) => {
  const path = `/ops/api/actors/wallet-day/${wallet}/${day}`;
  const { status, body, headers } = await send(service, `GET ${path}`, { token: TOKEN });
  assert.equal(status, 200);
  assert.equal(headers.get("cache-control"), "no-store");
  assert.deepEqual(Object.keys(body), ["id", "state", "context", "version", "source", "history"]);
  assert.deepEqual([body.state, body.version, body.history.length], ["open", 2, 2]);
  assert.deepEqual(body.history[1].target, { type: "event", id: "meetup" });
  const instants = body.history.map((star: { at: string }) => star.at).reverse();
  assert.deepEqual(
    body.context.stars.map((star: { at: string }) => star.at),
    instants,
  );
  const event = await send(service, `GET /ops/api/actors/event-day/meetup/${day}`, {
    token: TOKEN,
  });
  assert.deepEqual([event.body.state, event.body.context.weight], ["counting", 8]);
});

test("a history has the actor's own order, also where a recovery brought an earlier star back last", async ({
  service,
  voter,
  wallet,
  day,
}) => {
  const other = await signIn(service, await newWallet(service));
  await cast(service, other, "event/mint");
  await cast(service, voter, "token/0.0.9001");
  await service.sql.begin(async (changing) => {
    await changing`set local session_replication_role = replica`;
    await changing`update star set seq = nextval('journal_seq')
      where '0.0.' || wallet = ${wallet} and target_id = 'mint'`;
  });
  const historyOf = async (id: string) => {
    const { body } = await send(service, `GET /ops/api/actors/${id}`, { token: TOKEN });
    return body.history.map((star: { at: string }) => star.at);
  };
  for (const id of [`wallet-day/${wallet}/${day}`, "forever-mint/mint"]) {
    const instants = await historyOf(id);
    assert.deepEqual(instants, instants.toSorted().reverse(), id);
  }
});

test("a wallet-day that used its last vote is spent; one that did not is open", async ({
  service,
  day,
}) => {
  const wallet = await newWallet(service);
  const voter = await signIn(service, wallet);
  const states = [];
  for (let n = 1; n <= 5; n += 1) {
    await cast(service, voter, `token/0.0.${9000 + n}`);
    const { body } = await send(service, `GET /ops/api/actors/wallet-day/${wallet.id}/${day}`, {
      token: TOKEN,
    });
    states.push(body.state);
  }
  assert.deepEqual(states, ["open", "open", "open", "open", "spent"]);
});

test("actors are listed in pages, each once, and found by text and type", async ({
  service,
  wallet,
}) => {
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: { body: { actors: { id: string }[]; cursor: string | null } } = await send(
      service,
      `GET /ops/api/actors?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`,
      { token: TOKEN },
    );
    seen.push(...page.body.actors.map(({ id }) => id));
    cursor = page.body.cursor;
  }
  assert.ok(seen.length >= 3);
  const all = await send(service, "GET /ops/api/actors", { token: TOKEN });
  assert.deepEqual(
    [all.body.cursor, all.body.actors.map(({ id }: { id: string }) => id)],
    [null, seen],
  );
  const found = await send(service, `GET /ops/api/actors?q=${wallet}&type=wallet-day`, {
    token: TOKEN,
  });
  assert.equal(found.body.actors.length, 1);
});

test("an actor is found by its name, also where its event is called as a kind of actor or a day", async ({
  service,
  day,
}) => {
  const { sql } = service;
  const voter = await signIn(service, await newWallet(service));
  const tomorrow = Date.now() + 86_400_000;
  await sql`
    insert into event (id, title, event_type, is_forever_mint, source, starts_at, ends_at, created_at, approved_at)
    select id, id, 'MINT_EVENT', is_mint, 'SOURCE_A', 0, case when not is_mint then ${tomorrow}::bigint end, 0, 0
    from (values ('event-day', false), (${day}, false), ('forever-mint', true)) as named (id, is_mint)`;
  const ids = [
    `event-day/event-day/${day}`,
    `event-day/${day}/${day}`,
    "forever-mint/forever-mint",
  ];
  for (const id of ids) {
    assert.equal((await cast(service, voter, `event/${id.split("/")[1]}`)).status, 201);
    const { body } = await send(service, `GET /ops/api/actors?q=${id}`, { token: TOKEN });
    assert.deepEqual(
      body.actors.map((actor: { id: string }) => actor.id),
      [id],
    );
  }
});

test("bad parameters are named, unknown actors are not found", async ({ service }) => {
  for (const [query, field] of [
    ["type=x", "type"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["day=2026-11-20", "day"],
    ["q=a&q=b", "q"],
    ["cursor=%00", "cursor"],
    [`cursor=${Buffer.from("x event-day").toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from(`${NO_STAR} x`).toString("base64url")}`, "cursor"],
    ["q=%00", "q"],
    [`q=${"/".repeat(301)}`, "q"],
  ]) {
    const { status, body } = await send(service, `GET /ops/api/actors?${query}`, { token: TOKEN });
    assert.deepEqual([status, body.code, body.field], [400, "INVALID_REQUEST", field]);
  }
  for (const path of ["health", "publishing", "actors/forever-mint/mint"]) {
    for (const name of ["json", "constructor", "__proto__"]) {
      const asked = `GET /ops/api/${path}?${name}=1`;
      const { status, body } = await send(service, asked, { token: TOKEN });
      assert.deepEqual([status, body.code, body.field], [400, "INVALID_REQUEST", name], asked);
    }
  }
  for (const id of ["nonsense", "wallet-day/0.0.1", "%ff", "wallet-day/0.0.1/9999-99-99"]) {
    assert.equal((await send(service, `GET /ops/api/actors/${id}`, { token: TOKEN })).status, 404);
  }
});

test("405 with `Allow` for another method, and 404 where there is no path", async ({ service }) => {
  for (const [path, status] of [
    ["actors", 405],
    ["actors/forever-mint/mint", 405],
    ["health", 405],
    ["attention", 405],
    ["publishing", 405],
    ["nothing", 404],
  ] as const) {
    for (const method of ["POST", "PUT", "DELETE"]) {
      const reply = await send(service, `${method} /ops/api/${path}`, { token: TOKEN });
      const shown = [reply.status, reply.body.code, reply.headers.get("allow")];
      const wanted =
        status === 405 ? [405, "METHOD_NOT_ALLOWED", "GET, HEAD"] : [404, "NOT_FOUND", null];
      assert.deepEqual(shown, wanted, `${method} ${path}`);
    }
  }
  assert.equal((await send(service, "POST /ops/api/actors")).status, 401);
});

test("publishing says how many accepted stars are not yet published, and how old the oldest is", async ({
  service,
}) => {
  const { body } = await send(service, "GET /ops/api/publishing", { token: TOKEN });
  const [row] = await service.sql`select count(*) as stars from star`;
  assert.equal(body.pending, row?.stars);
  assert.ok(body.oldestPendingSeconds >= 0);
  assert.deepEqual([body.findings, body.lastFindings, body.alarms], [0, [], []]);
});

test("publishing lists the differences between outbox and topics, and the alarms of workers", async ({
  service,
}) => {
  await service.sql`
    insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.7', 3, 'transaction 0.0.9@1.000000000')`;
  await reportAlarms(service.sql, randomUUID(), [
    {
      ...{ reason: "configuration", subject: "0.0.7", detail: "UNAUTHORIZED" },
      since: performance.now() - 60_000,
    },
  ]);
  const { body } = await send(service, "GET /ops/api/publishing", { token: TOKEN });
  assert.equal(body.findings, 1);
  const [{ kind, topicId, sequenceNumber, noticedAt, resolvedAt }] = body.lastFindings;
  assert.deepEqual([kind, topicId, sequenceNumber, resolvedAt], ["foreign", "0.0.7", 3, null]);
  assert.ok(Date.parse(noticedAt) > 0);
  const [{ raisedAt, ...alarm }, ...others] = body.alarms;
  assert.deepEqual(others, []);
  assert.deepEqual(alarm, { kind: "configuration", subject: "0.0.7", detail: "UNAUTHORIZED" });
  assert.match(raisedAt, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  const now = await readDatabaseClock(service.sql);
  const age = now - Date.parse(raisedAt);
  assert.ok(age >= 60_000 && age < 90_000, `raised ${age} ms ago`);
});

test("attention: the rows of the view, narrowed by window and type, for a viewer's token", async ({
  service,
}) => {
  const { token } = await addOperator(service.sql, { name: "Feed", role: "viewer" });
  const ask = (query: string) => send(service, `GET /ops/api/attention${query}`, { token });
  const all = await ask("");
  assert.equal(all.status, 200);
  const view = await service.sql`select * from attention`;
  assert.equal(all.body.attention.length, view.length);
  const day = await ask("?window=24h&type=event&limit=1");
  const [most] = await service.sql`
    select target_type, target_id, "window", stars, weight::int, wallets from attention
    where "window" = '24h' and target_type = 'event' order by weight desc, stars desc, target_id limit 1`;
  assert.deepEqual(day.body, { attention: [{ ...most }] });
  for (const [query, field] of [
    ["?window=1h", "window"],
    ["?window=", "window"],
    ["?type=nft", "type"],
    ["?limit=0", "limit"],
    ["?limit=1001", "limit"],
    ["?window=7d&window=24h", "window"],
    ["?offset=1", "offset"],
  ]) {
    const { status, body } = await ask(query ?? "");
    assert.deepEqual([status, body.code, body.field], [400, "INVALID_REQUEST", field], query);
  }
});

test.run();
