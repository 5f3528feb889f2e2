/**
 * Goal: the benchmark's rival keeps the same rules as the service, or its speed means nothing.
 * Method: the same stars go to both, each on a database of its own, one after the other; the
 * replies are compared, then the facts in both journals. What only concurrency shows follows.
 */
import * as assert from "node:assert/strict";
import type { Hono } from "hono";
import { test } from "uvu";
import { TerminalError } from "../../src/errors.ts";
import { createApp } from "../../src/http/app.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type Engine, seedDirectory, startEngine } from "../support/engine.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { installPlain, plainRoutes } from "./plain.ts";

const WALLETS = [1001, 1002, 1003, 1004, 1005, 1006].map((number) => `0.0.${number}`);
const PREMIUM = 1006;
const TARGETS = [
  ...["event/meetup", "event/hack", "event/mint", "event/mint", "event/hidden"],
  ...["token/0.0.9001", "token/0.0.9002", "token/0.0.9003", "collection/0.0.8001"],
  ...["project/dex", "project/wiki"],
];

let databases: readonly TestDatabase[];
let engine: Engine;
let sql: Sql;
let app: Hono;

test.before(async () => {
  const [ours, rival] = await Promise.all([
    testDatabase({ migrated: true }),
    testDatabase({ migrated: true }),
  ]);
  databases = [ours, rival];
  engine = await startEngine(ours.url);
  sql = openPostgres(rival.url, { connections: 8, writer: true });
  for (const each of [engine.sql, sql]) await seed(each);
  await installPlain(sql);
  const routes = plainRoutes({
    sql,
    collectionKeys: { a: "alpha", b: "beta" },
    readHoldings: async (wallet) => ({
      ...(engine.holdings.get(wallet) ?? { collectionA: [], collectionB: [] }),
      readAt: engine.clock.now(),
    }),
  });
  app = createApp({
    log: silentLogger,
    metrics: createMetrics(),
    mounts: [{ path: "/voting", app: routes }],
  });
});

test.after(async () => {
  await engine.close();
  await sql.end({ timeout: 1 });
  for (const database of databases) await database.close();
});

async function seed(into: Sql): Promise<void> {
  await seedDirectory(into);
  await into`insert into session (token_hash, wallet, created_at, expires_at, key_fingerprint)
    select sha256(lpad(n::text, 43, '0')::bytea), n, 0, now_ms() + 3600000, sha256('key') from generate_series(1001, 2000) n`;
  const [season] = await into<{ id: string }[]>`
    insert into season (id, name, starts_at, ends_at)
    values (gen_random_uuid(), 'on', 0, 4102444800000) returning id`;
  await into`insert into premium_pass values (${PREMIUM}, ${season?.id ?? ""}, 0)`;
}

interface Answer {
  readonly verdict: string;
  readonly body: unknown;
}

async function askEngine(wallet: string, target: string, key?: string): Promise<Answer> {
  try {
    const result = await engine.cast(wallet, target, key);
    return result.kind === "refused"
      ? { verdict: result.decision.code, body: null }
      : { verdict: result.kind, body: comparable(result.body) };
  } catch (error) {
    if (error instanceof TerminalError) return { verdict: error.code, body: null };
    throw error;
  }
}

async function askPlain(wallet: string, target: string, key?: string): Promise<Answer> {
  const [type, id] = target.split("/");
  const response = await app.request("/voting/stars", {
    method: "POST",
    headers: {
      authorization: `Bearer ${wallet.slice("0.0.".length).padStart(43, "0")}`,
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify({ target: { type, id } }),
  });
  const text = await response.text();
  if (response.status !== 201) return { verdict: JSON.parse(text).code, body: null };
  const isReplay = response.headers.get("idempotent-replayed") === "true";
  return { verdict: isReplay ? "replayed" : "accepted", body: comparable(text) };
}

/** Without what no two services can have in common: the id and the instant. */
function comparable(body: string): unknown {
  const { star, ...rest } = JSON.parse(body);
  const { id, at, ...fields } = star;
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16), Date.parse(at));
  // Order of fields is part of the reply.
  return JSON.stringify({ star: fields, ...rest });
}

/** The same numbers on every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Every NFT is somewhere, and moves about. */
function dealNfts(roll: (sides: number) => number): void {
  const owners = (count: number) => Array.from({ length: count }, () => roll(WALLETS.length));
  const [ownersOfA, ownersOfB] = [owners(20), owners(4)];
  const heldBy = (all: readonly number[], owner: number) =>
    all.flatMap((each, index) => (each === owner ? [index + 1] : []));
  for (const [index, wallet] of WALLETS.entries()) {
    engine.holdings.set(wallet, {
      collectionA: heldBy(ownersOfA, index),
      collectionB: heldBy(ownersOfB, index),
    });
  }
}

test("gives the same reply as the service to every star of a long day", async () => {
  const roll = dice(7);
  const verdicts = new Set<string>();
  for (let star = 0; star < 240; star += 1) {
    if (star % 20 === 0) dealNfts(roll);
    const wallet = WALLETS[roll(WALLETS.length)] ?? "";
    const target = TARGETS[roll(TARGETS.length)] ?? "";
    const key = roll(3) === 0 ? `key ${roll(6)}` : undefined;
    const ours = await askEngine(wallet, target, key);
    const rival = await askPlain(wallet, target, key);
    assert.deepEqual(rival, ours, `star ${star}: ${wallet} ${target} ${key}`);
    verdicts.add(ours.verdict);
  }
  const all = ["ALLOWANCE_EXHAUSTED", "ALREADY_STARRED", "IDEMPOTENCY_KEY_REUSED", "NOT_FOUND"];
  assert.deepEqual([...verdicts].sort(), [...all, "accepted", "replayed"]);
});

test("writes the same facts as the service", async () => {
  const facts = (of: Sql) => of<{ fact: string }[]>`
    select fact from (
      select concat_ws(' ', 'star', wallet, slot, target_type, target_id, is_forever_mint, voting_power,
        weight, base, counted_a, bonus_b, held_a, held_b, allowance_limit, season_id is null) from star
      union all
      select concat_ws(' ', 'claim', event_id, claim.day is null, collection, serial, claim.wallet, slot)
        from serial_claim claim join star on star.id = star_id
      union all
      select concat_ws(' ', 'message', topic, regexp_replace(message, '"timestamp":\\d+', ''), slot,
        regexp_replace(message, '.*"timestamp":(\\d+).*', '\\1')::bigint = at)
        from outbox join star on star.id = star_id
      union all select concat_ws(' ', 'total', event_id, weight, stars) from event_total
      union all select concat_ws(' ', 'day', target_type, target_id, weight, stars) from item_day
      union all select concat_ws(' ', 'hours', target_type, target_id, sum(weight), sum(stars))
        from item_hour group by target_type, target_id
      union all
      select concat_ws(' ', 'key', kept.wallet, key, encode(request_hash, 'hex'), slot, length(reply))
        from idempotency_key kept join star on star.id = star_id
      union all
      select concat_ws(' ', 'order', event_id, star.wallet, slot, row_number() over (order by mint_star.seq))
        from mint_star join star on star.id = star_id
    ) as known (fact) order by fact`;
  const ours = (await facts(engine.sql)).map(({ fact }) => fact);
  const rival = (await facts(sql)).map(({ fact }) => fact);
  assert.ok(ours.length > 100);
  assert.deepEqual(rival, ours);
});

test("lets a wallet's votes through once each, however many arrive together", async () => {
  const tokens = Array.from({ length: 20 }, (_, index) => `token/0.0.${9001 + index}`);
  const answers = await Promise.all(
    [...tokens, ...tokens].map((token) => askPlain("0.0.1501", token)),
  );
  assert.equal(answers.filter(({ verdict }) => verdict === "accepted").length, 5);
  const [row] =
    await sql`select count(*)::int as stars, max(slot) as last from star where wallet = 1501`;
  assert.deepEqual({ ...row }, { stars: 5, last: 5 });
});

test("counts an NFT once when two wallets bring it at the same time", async () => {
  const wallets = Array.from({ length: 24 }, (_, index) => `0.0.${1600 + index}`);
  for (const [index, wallet] of wallets.entries()) {
    const collectionA = [500 + (index % 4), 510 + (index % 3), 520 + index];
    engine.holdings.set(wallet, { collectionA, collectionB: [90, 91 + (index % 2)] });
  }
  const answers = await Promise.all(wallets.map((wallet) => askPlain(wallet, "event/mint")));
  assert.ok(answers.every(({ verdict }) => verdict === "accepted"));
  const [row] = await sql`
    select (select weight from event_total where event_id = 'mint')
        = (select sum(weight) from star where target_id = 'mint') as adds_up,
      (select count(*) from serial_claim where day is null and collection = 'A' and serial >= 500)::int as a,
      (select count(*) from serial_claim where day is null and collection = 'B' and serial >= 90)::int as b`;
  assert.deepEqual({ ...row }, { adds_up: true, a: 4 + 3 + 24, b: 3 });
});

test("gives concurrent twins of one key one outcome", async () => {
  const twins = Array.from({ length: 8 }, () => askPlain("0.0.1700", "project/dex", "twin"));
  const answers = await Promise.all(twins);
  assert.equal(answers.filter(({ verdict }) => verdict === "accepted").length, 1);
  assert.equal(answers.filter(({ verdict }) => verdict === "replayed").length, 7);
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
});

test("refuses an unknown session", async () => {
  const answer = await askPlain("0.0.999999", "project/dex");
  assert.equal(answer.verdict, "INVALID_SESSION");
});

test.run();
