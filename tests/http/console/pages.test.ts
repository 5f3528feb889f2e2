/**
 * Goal: each page shows the truth in words, to operators alone. Method: a real
 * web process with real stars, read as a browser without JavaScript reads it.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { snapshotKey } from "../../../src/hosting/snapshots.ts";
import type { PageRequest, PagesDeps } from "../../../src/http/console/page.ts";
import { eventActor } from "../../../src/http/console/pages/actor-event.ts";
import { walletDayActor } from "../../../src/http/console/pages/actor-wallet-day.ts";
import { actorsPage } from "../../../src/http/console/pages/actors.ts";
import { publishingPage } from "../../../src/http/console/pages/publishing.ts";
import { issueKey } from "../../../src/keys/api-keys.ts";
import { silentLogger } from "../../../src/log.ts";
import type { Sql } from "../../../src/store/postgres.ts";
import { closeRedis, openRedis } from "../../../src/store/redis.ts";
import { until } from "../../support/processes.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { readsOf } from "../../support/table-reads.ts";
import { CONSOLE, sendPlain, signInOperator, TOKEN, type Visitor } from "./browser-session.ts";
import { PAGES } from "./table-of-pages.ts";

interface Context {
  service: Service;
  operator: Visitor;
  wallet: string;
  other: string;
  voter: string;
  day: string;
  /** Star ids by `<wallet's place> <target>`. */
  stars: Record<string, string>;
}

const EVIL = "<script>alert(1)</script>";
const RUN = "01a1f8c0-0000-7000-8000-00000000000f";
const test = suite<Context>("/ops pages");

test.before(async (context) => {
  const service = await startService({ ...CONSOLE, EXPLORER_URL: "https://explorer.example/x/" });
  const [one, two] = [await newWallet(service, { a: 2, b: 1 }), await newWallet(service)];
  const [voter, second] = [await signIn(service, one), await signIn(service, two)];
  context.stars = {};
  const star = async (who: string, token: string, target: string): Promise<void> => {
    const { body } = await cast(service, token, target);
    context.stars[`${who} ${target}`] = body.star?.id;
    context.day = body.star?.day ?? context.day;
  };
  await star("one", voter, "event/meetup");
  await star("one", voter, "event/mint");
  // The NFT goes to another wallet, which brings it again: it counts once per event and day.
  await service.hedera.ledger.transfer(service.collectionA, 1, two.id);
  await star("two", second, "event/meetup");
  await star("one", voter, "token/0.0.9001");
  Object.assign(context, { service, voter, wallet: one.id, other: two.id });
  context.operator = await signInOperator(service);
  await issueKey(service.sql, EVIL);
  await service.sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
    values (${RUN}, ${context.day}, 'manual', 'incomplete', now_ms(), now_ms())`;
});
test.after((context) => context.service.close());

/** Every address of the table, with something real where a star stands. */
function addresses({ wallet, day, stars }: Context): string[] {
  const actor = `wallet-day/${wallet}/${day}`;
  const rest: Record<string, string> = {
    "/actors/*": `/actors/${actor}`,
    "/raw/actors/*": `/raw/actors/${actor}`,
    "/wallets/*": `/wallets/${wallet}`,
    "/stars/*": `/stars/${stars["one event/meetup"]}`,
    "/holdings/runs/*": `/holdings/runs/${RUN}`,
  };
  const pages = PAGES.filter(({ path }) => path !== "/search");
  return pages.map(({ path }) => `/ops${rest[path] ?? path}`);
}

test("every page of the table is closed to guests, voters, key holders and bearers", async (context) => {
  const { service, voter } = context;
  const { key } = await issueKey(service.sql, "a consumer");
  for (const path of addresses(context)) {
    for (const authorization of [undefined, voter, key, TOKEN]) {
      const headers: Record<string, string> = authorization
        ? {
            authorization: `Bearer ${authorization}`,
            cookie: `starboard-operator=${authorization}`,
          }
        : {};
      const reply = await sendPlain(service, path, headers);
      assert.equal(reply.status, 401, `${path} for ${authorization}`);
      assert.match(reply.text, /<h1>Sign in<\/h1>/);
    }
  }
});

test("every page of the table answers an operator, and pages that are not there say so", async (context) => {
  const { operator } = context;
  for (const path of addresses(context).filter((each) => !each.startsWith("/ops/live/"))) {
    assert.equal((await operator.get(path)).status, 200, path);
  }
  for (const path of ["/ops/nothing", "/ops/actors/nonsense", "/ops/stars/x", "/ops/actors/%ff"]) {
    const reply = await operator.get(path);
    assert.equal(reply.status, 404, path);
    assert.match(reply.text, /Nothing here/);
  }
  assert.equal(
    (await operator.get("/ops/api/nothing")).headers.get("content-type"),
    "application/json",
  );
});

test("invalid addresses are refused with a sentence, never with a 5xx", async ({
  operator,
  service,
  wallet,
  day,
}) => {
  for (const path of [
    "/ops/log?before=x",
    "/ops/actors?q=%00",
    "/ops/actors?after=019ABCDE-0000-7000-8000-000000000000",
    "/ops/actors?type=event-day&after=019abcde-0000-4000-8000-000000000000",
    "/ops/stars?before=x",
    "/ops/feed?wallet=x",
    `/ops/actors/wallet-day/${wallet}/${day}?at=-1`,
    "/ops/actors/forever-mint/mint?nft=C/1",
  ]) {
    const reply = await operator.get(path);
    assert.equal(reply.status, 400, path);
    assert.match(reply.text, /That did not work/);
  }
  const led = await sendPlain(service, "/ops/feed?wallet=x", {
    cookie: operator.cookie,
    referer: `${service.url}/ops/feed?event=meetup`,
  });
  assert.match(led.text, /href="\/ops\/feed\?event=meetup">Go back/);
});

test("an address is judged before anything is read: a reading that fails later would end the process", async () => {
  let asked = 0;
  const sql = (() => {
    asked += 1;
    return Promise.resolve([]);
  }) as unknown as Sql;
  const deps = { sql, readNumbers: async () => ({}) } as unknown as PagesDeps;
  const at = (query: string) => ({ query: new URLSearchParams(query), now: 0 }) as PageRequest;
  await assert.rejects(async () => publishingPage(deps).show(at("after=x")), /after must be an id/);
  const mint = { type: "forever-mint", event: "mint" } as const;
  await assert.rejects(eventActor(deps, mint, at("nft=C/1")), /nft must be as A\/7/);
  assert.equal(asked, 0);
});

test("a wallet's day: allowance in words, the drawing with its state marked, the history with reasons", async ({
  operator,
  wallet,
  day,
}) => {
  const { text } = await operator.get(`/ops/actors/wallet-day/${wallet}/${day}`);
  assert.match(text, /<strong>3 of 5<\/strong> votes used, 2 left/);
  assert.match(text, /votes left · 3 stars/);
  const [, current = ""] =
    /class="node state current">[\s\S]*?<text[^>]*>([^<]*)</.exec(text) ?? [];
  assert.equal(current, "open");
  assert.match(text, />spent<\/text>/);
  for (const guard of ["uses the last vote", "was starred already", "leaves a vote"]) {
    assert.ok(text.includes(guard), `${guard} stands in the drawing`);
  }
  assert.match(text, /1 for the wallet, 2 for collection A \(2 held\), 5 for collection B/);
  assert.match(text, /\?at=3#past"[^>]*>open, 3 of 5<\/a>/);
});

test("a wallet across its days: stars, refusals counted, passes, credits, sessions and rank in one time line", async ({
  operator,
  service,
  voter,
  wallet,
  day,
}) => {
  const account = Number(wallet.slice(4));
  await service.sql`insert into season (id, name, starts_at, ends_at)
    values (${RUN}, 'Spring', now_ms() - 3600000, now_ms() + 3600000)`;
  await service.sql`insert into premium_pass (wallet, season_id, granted_at) values (${account}, ${RUN}, now_ms())`;
  await service.sql`insert into xp_credit (key, wallet, points, reason, at) values ('quest', ${account}, 7, 'Quest', now_ms())`;
  for (let n = 0; n < 3; n += 1) await cast(service, voter, "token/0.0.9001");
  const path = `/ops/wallets/${wallet}`;
  await until("the refusals are counted", async () =>
    /Already starred today, 3 times that day/.test((await operator.get(path)).text),
  );
  const { text } = await operator.get(path);
  const line = /Time line[\s\S]*?<\/section>/.exec(text)?.[0] ?? "";
  assert.equal(line.match(/badge good">accepted/g)?.length, 3);
  assert.equal(line.match(/badge warn">refused/g)?.length, 1);
  for (const word of ["premium pass granted", "+7 XP booked", "Quest", "signed in"]) {
    assert.ok(line.includes(word), word);
  }
  assert.match(text, new RegExp(`href="/ops/actors/wallet-day/${wallet}/${day}"`));
  assert.match(text, /<dt>Rank<\/dt><dd>1, with /);
  await service.sql`insert into season_score (season_id, wallet, points, stars, weight) values (${RUN}, 7, 999, 0, 0)`;
  assert.match((await operator.get(path)).text, /<dt>Rank<\/dt><dd>2, with /);
  await service.sql`delete from season_score where wallet = 7`;
  assert.match((await operator.get("/ops/wallets/0.0.7")).text, /Nothing is known of this wallet/);
  assert.equal((await operator.get("/ops/wallets/me")).status, 404);
  await service.sql`delete from premium_pass`;
  await service.sql`delete from season`;
});

test("one search box finds a wallet, a star, a transaction, a message, an actor and an event", async ({
  operator,
  service,
  wallet,
  day,
  stars,
}) => {
  const star = stars["one event/meetup"];
  const id = "0.0.4711@1700000000.000000042";
  await service.sql`insert into topic_reading (topic_id, sequence_number) values ('0.0.4712', 0)
    on conflict do nothing`;
  await service.sql`insert into publish_attempt (star_id, attempt, topic_id, payer, valid_start_ns, reserved_at)
    values (${star ?? ""}, 90, '0.0.4712', '0.0.4711', 1700000000000000042, 0)`;
  // As a recovery brings a star back: no attempt of ours is known.
  const returned = stars["one event/mint"] ?? "";
  const seconds = Math.floor(Date.now() / 1_000);
  await service.sql`update outbox set state = 'published', topic_id = '0.0.4712', sequence_number = 7,
    transaction_id = ${`0.0.4711@${seconds}.000000007`}, consensus_timestamp = ${`${seconds}.999999999`},
    running_hash = 'AA==', published_at = now_ms() where star_id = ${returned}`;
  const found: [string, string][] = [
    [`0.0.4711@${seconds}.7`, `/stars/${returned}`],
    ["0.0.4712#7", `/stars/${returned}`],
    [wallet, `/wallets/${wallet}`],
    [(star ?? "").toUpperCase(), `/stars/${star}`],
    [id, `/stars/${star}`],
    ["0.0.4711-1700000000-000000042", `/stars/${star}`],
    [`wallet-day/${wallet}/${day}`, `/actors/wallet-day/${wallet}/${day}`],
    ["mint", "/actors/forever-mint/mint"],
    ["meetup", "/actors?type=event-day&q=meetup"],
    ["", "/actors"],
  ];
  for (const [q, place] of found) {
    const reply = await operator.get(`/ops/search?${new URLSearchParams({ q })}`);
    assert.deepEqual([reply.status, reply.headers.get("location")], [303, `/ops${place}`], q);
  }
  for (const q of ["0.0.4711@1.2", "0.0.4712#1", "0.0.4712/1"]) {
    const reply = await operator.get(`/ops/search?${new URLSearchParams({ q })}`);
    assert.equal(reply.status, 404, q);
  }
  // The last nanosecond of a second, and so of a day, is not shown as the next one.
  const consensus = new Date(seconds * 1_000 + 999).toISOString();
  const { text } = await operator.get(`/ops/stars/${returned}`);
  assert.match(text, new RegExp(`<dt>Consensus</dt><dd><time datetime="${consensus}"`));
});

test("time travel: the state after each event, by the machine itself", async ({
  operator,
  wallet,
  day,
}) => {
  const id = `/ops/actors/wallet-day/${wallet}/${day}`;
  const states = await Promise.all(
    [0, 1, 3].map(async (at) => {
      const { text } = await operator.get(`${id}?at=${at}`);
      const [, past = ""] = /<section class="card past"[\s\S]*?<\/section>/.exec(text) ?? ["", ""];
      const shown = /<section class="card past"[\s\S]*?<\/section>/.exec(text)?.[0] ?? past;
      return /badge plain">(\w+)</.exec(shown)?.[1];
    }),
  );
  assert.deepEqual(states, ["open", "open", "open"]);
  const walked = (await operator.get(`${id}?at=2`)).text;
  assert.equal(walked.match(/class="card past"/g)?.length, 1);
  assert.match(walked, /State chart, at that time/);
  assert.match(walked, /<dt>Votes used<\/dt><dd>1 → 2<\/dd>/);
  const mint = await operator.get("/ops/actors/forever-mint/mint?at=1");
  assert.match(mint.text, /8 \(\+8 by this event\)/);
  assert.match(mint.text, new RegExp(`A 1 for ${wallet}`));
  const beyond = await operator.get("/ops/actors/forever-mint/mint?at=99");
  assert.match(beyond.text, /After event 1 of 1</);
  const event = await operator.get(`/ops/actors/event-day/meetup/${day}?at=2`);
  assert.match(event.text, /9 \(\+1 by this event\)/);
  assert.match(event.text, /\?at=2#past"[^>]*>after 2<\/a>[\s\S]*\?at=1#past"[^>]*>after 1<\/a>/);
});

test("the replay check says equal, and says different when a snapshot was forged", async ({
  operator,
  service,
  other,
  day,
}) => {
  for (const id of [`wallet-day/${other}/${day}`, `event-day/meetup/${day}`, "forever-mint/mint"]) {
    const { text } = await operator.get(`/ops/actors/${id}?replay=1`);
    assert.match(text, /<span class="badge good">equal<\/span>/, id);
  }
  const redis = openRedis(service.redisUrl, silentLogger);
  await until("Redis is there", () => redis.isReady);
  const snapshot = (await redis.hGet(snapshotKey(day), other)) ?? "";
  const forged = snapshot.replace(/"[a-z]+\/[^"]+"/, '"token/0.0.9029"');
  assert.notEqual(forged, snapshot);
  await redis.hSet(snapshotKey(day), other, forged);
  const { text } = await operator.get(`/ops/actors/wallet-day/${other}/${day}?replay=1`);
  assert.match(text, /<span class="badge bad">different<\/span>/);
  await closeRedis(redis);
});

test("an actor's raw JSON is what `/ops/api` gives, instants as text", async ({
  operator,
  service,
  wallet,
  day,
}) => {
  for (const id of [
    `wallet-day/${wallet}/${day}`,
    `event-day/meetup/${day}`,
    "forever-mint/mint",
  ]) {
    const { text } = await operator.get(`/ops/raw/actors/${id}`);
    const { body } = await send(service, `GET /ops/api/actors/${id}`, { token: TOKEN });
    // What the page has read may rest in Redis since.
    assert.deepEqual({ ...JSON.parse(text), source: "" }, { ...body, source: "" });
  }
});

test("an actor with thousands of stars is not read whole: its page says which command does", async ({
  operator,
  service,
}) => {
  const { sql } = service;
  const [total] = await sql`select stars from event_total where event_id = 'mint'`;
  assert.equal((await operator.get("/ops/raw/actors/forever-mint/mint")).status, 200);
  await sql`update event_total set stars = 5001 where event_id = 'mint'`;
  const refused = await operator.get("/ops/raw/actors/forever-mint/mint");
  assert.equal(refused.status, 400);
  assert.match(refused.text, /Run starboard actors show forever-mint\/mint instead\./);
  const { text } = await operator.get("/ops/actors/forever-mint/mint");
  assert.ok(!text.includes("/ops/raw/"));
  await sql`update event_total set stars = ${total?.stars} where event_id = 'mint'`;
});

test("actors are found by wallet, event and day, each list by its own way", async ({
  operator,
  wallet,
  other,
  day,
}) => {
  const hits = async (query: string): Promise<string[]> => {
    const { text } = await operator.get(`/ops/actors?${query}`);
    return [...text.matchAll(/href="\/ops\/actors\/([^"?]+)"/g)].map(([, id = ""]) => id);
  };
  const [mine, others] = [`wallet-day/${wallet}/${day}`, `wallet-day/${other}/${day}`];
  assert.deepEqual(await hits(""), [mine, others]);
  assert.deepEqual(await hits(`q=${wallet}`), [mine]);
  assert.deepEqual(await hits(`q=${day}`), [mine, others]);
  assert.deepEqual(await hits("q=2020-01-01"), []);
  assert.deepEqual(await hits("q=meet"), [`event-day/meetup/${day}`]);
  assert.deepEqual(await hits("type=forever-mint"), ["forever-mint/mint"]);
  const named = await operator.get(`/ops/actors?q=${mine}`);
  assert.equal(named.headers.get("location"), `/ops/actors/${mine}`);
});

test("a star's page shows which NFTs counted, and for whom the rest had counted before", async ({
  operator,
  stars,
  wallet,
}) => {
  const { text } = await operator.get(`/ops/stars/${stars["one event/meetup"]}`);
  assert.match(text, /<a href="\/ops\/stars" aria-current="true">Stars<\/a>/);
  assert.match(text, /class="way-back"><a href="\/ops\/stars">/);
  assert.match(text, /<td class="number">2<\/td><td class="text">for collection A \(2 held\)</);
  assert.ok(text.includes(`href="https://explorer.example/x/account/${wallet}"`));
  assert.match(text, /A 1, 2<[\s\S]*1 for each, by this star/);
  assert.match(text, /not handed to the ledger yet/);
  assert.match(text, /&quot;type&quot;: &quot;event_vote&quot;/);
  const second = await operator.get(`/ops/stars/${stars["two event/meetup"]}`);
  assert.match(
    second.text,
    /<td class="number">0<\/td><td class="text">for collection A \(1 held, it had counted before\)</,
  );
  assert.match(second.text, new RegExp(`had counted for ${wallet} by star`));
  const token = await operator.get(`/ops/stars/${stars["one token/0.0.9001"]}`);
  assert.match(token.text, /Tokens, collections and projects get the full voting power/);
});

test("stored markup shows as text on every page", async (context) => {
  const { service, operator, wallet } = context;
  const { sql } = service;
  await sql`update event set title = ${EVIL} where id in ('meetup', 'mint')`;
  await sql`update outbox set last_error = ${EVIL} where state <> 'published'`;
  await sql`insert into service_process (id, role, version, host, pid, started_at, seen_at)
    values (gen_random_uuid(), 'web', ${EVIL}, ${EVIL}, 1, now_ms(), now_ms())`;
  await sql`insert into service_minute (minute, name, count)
    values ((now_ms() / 60000)::int, ${`refused ${EVIL}`}, 1)`;
  await sql`insert into operator_log (action_id, phase, operator, session_id, action, subject, notice)
    values (gen_random_uuid(), 'done', ${EVIL}, gen_random_uuid(), ${EVIL}, ${EVIL}, ${EVIL})`;
  await sql`insert into season (id, name, starts_at, ends_at)
    values (gen_random_uuid(), ${EVIL}, 0, 9000000000000)`;
  await sql`insert into xp_credit (key, wallet, points, reason, at) values (${EVIL}, 7, 1, ${EVIL}, now_ms())`;
  await sql`insert into publishing_alarm (worker, reason, subject, detail, raised_at, seen_at)
    values (gen_random_uuid(), ${EVIL}, ${EVIL}, ${EVIL}, now_ms(), now_ms() + 60000)`;
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.5', 1, ${EVIL})`;
  const deferred = [{ collection: "A", serial: null, starId: null, wallet: EVIL, reason: EVIL }];
  await sql`insert into holdings_check_mint (run_id, event_id, kept, deferred)
    values (${RUN}, 'mint', 0, ${sql.json(deferred)})`;
  await sql`update event set approved_at = null where id = 'meetup'`;
  const paths = [
    ...addresses(context).filter((path) => !/^\/ops\/live\/|\.ndjson$/.test(path)),
    `/ops/actors?q=${encodeURIComponent(EVIL)}`,
    "/ops/actors?type=forever-mint",
    "/ops/actors/forever-mint/mint",
    `/ops/stars?q=${encodeURIComponent(EVIL)}`,
    `/ops/feed?event=${encodeURIComponent(EVIL)}&wallet=${wallet}`,
  ];
  for (const path of paths) {
    const { text } = await operator.get(path);
    assert.ok(!text.includes(EVIL), path);
  }
  // Numbers that were read a moment ago are shown once more: hence the waiting.
  const shown = [
    ...["/ops", "/ops/log", "/ops/actors?type=forever-mint", "/ops/publishing", "/ops/catalogue"],
    ...["/ops/seasons", "/ops/premium", "/ops/xp", "/ops/keys", `/ops/holdings/runs/${RUN}`],
  ];
  for (const path of shown) {
    await until(`${path} shows it as text`, async () =>
      (await operator.get(path)).text.includes("&lt;script&gt;alert(1)&lt;/script&gt;"),
    );
  }
  await sql`update event set approved_at = 0 where id = 'meetup'`;
});

test("a refusal that others forged in Redis breaks no page", async ({
  operator,
  service,
  wallet,
}) => {
  const redis = openRedis(service.redisUrl, silentLogger);
  await until("Redis is there", () => redis.isReady);
  for (const at of ["1e300", "now"]) {
    const forged = { at, wallet, target: `event/${at}${EVIL}`, code: "__proto__" };
    await redis.xAdd("starboard:refusals", "*", forged);
  }
  await closeRedis(redis);
  for (const path of ["/ops/feed", `/ops/wallets/${wallet}`]) {
    const { status, text } = await operator.get(path);
    assert.equal(status, 200, path);
    assert.ok(!text.includes(EVIL), path);
  }
});

test("the overview shows this process, its dependencies and refusals", async ({
  operator,
  service,
  voter,
  wallet,
  day,
}) => {
  await cast(service, voter, "event/meetup");
  await until("the refusal is shown", async () => {
    const { text } = await operator.get(`/ops/actors/wallet-day/${wallet}/${day}`);
    return /Recent refusals[\s\S]*Already starred today/.test(text);
  });
  for (const limit of ["api", "voting", "pages", "exports"]) {
    await service.sql`insert into service_minute (minute, name, count)
      values (now_ms() / 60000, ${`limited ${limit}`}, 1)`;
  }
  await until("a report came", async () => {
    const { text } = await operator.get("/ops");
    return /web <span class="quiet">[^<]+<\/span>/.test(text) && text.includes("at work");
  });
  const { text } = await operator.get("/ops");
  assert.match(text, /Postgres<\/a><span class="badge good"[^>]*>ok/);
  assert.match(text, /Mirror node<\/a><span class="badge good"[^>]*>ok/);
  const limits = ["Public API", "Voting", "Pages", "Exports"];
  await until("each limit is named", async () => {
    const { text } = await operator.get("/ops");
    return limits.every((limit) => text.includes(`>${limit}: too many requests<`));
  });
});

test("an event's history is walked in the order in which it is folded, whatever the instants say", async ({
  operator,
  service,
}) => {
  const day = "2020-01-02";
  await service.sql`select ensure_star_partition(${day})`;
  // In one commit stars are numbered by their wallets: here the later number has the earlier instant.
  await service.sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit, seq)
    select gen_random_uuid(), ${day}, 70000 + n, 1, ${Date.parse(day) + 1_000}::bigint - n, 'event', 'busy', false, 1, 1,
      1, 0, 0, '{}', '{}', ${Date.parse(day)}::bigint, 5, 1000000 + n from generate_series(1, 60) n`;
  const walked: string[] = [];
  let path: string | undefined = `/ops/actors/event-day/busy/${day}`;
  while (path !== undefined) {
    const { text } = await operator.get(path);
    walked.push(
      ...[...text.matchAll(/>0\.0\.7(\d{4})<[\s\S]*?>after (\d+)</g)].map(
        ([, wallet, step]) => `${Number(wallet)} ${step}`,
      ),
    );
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  const numbers = Array.from({ length: 60 }, (_, index) => 60 - index);
  assert.deepEqual(
    walked,
    numbers.map((n) => `${n} ${n}`),
  );
});

test("a forever mint's history shows each NFT of one release once, however many ended together", async ({
  operator,
  service,
  stars,
}) => {
  await service.sql`
    insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight, deleted,
      listed_at, read_at, released_at)
    select 'emptied', 1000 + n / 61, 1 + n / 61, ${RUN}, case when n % 2 = 0 then 'A' else 'B' end, n, 1,
      ${stars["one event/mint"] ?? ""}, 1, true, 0, 0, n from generate_series(1, 121) n`;
  await service.sql`insert into event_total (event_id, weight, stars, releases) values ('emptied', 0, 0, 2)`;
  const walked: string[] = [];
  let path: string | undefined = "/ops/actors/forever-mint/emptied";
  while (path !== undefined) {
    const { text } = await operator.get(path);
    const rows = text.matchAll(/NFT [AB] (\d+) stopped counting[\s\S]*?>after (\d)</g);
    walked.push(...[...rows].map(([, serial, step]) => `${serial} ${step}`));
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  const every = Array.from({ length: 121 }, (_, index) => `${index + 1} ${index < 60 ? 1 : 2}`);
  assert.deepEqual([...walked].sort(), every.sort());
});

test("a star that a recovery set aside has its page, which says that it counts nowhere", async ({
  operator,
  service,
  stars,
  day,
}) => {
  const [gone = "", first = ""] = [stars["one event/meetup"], stars["two event/meetup"]];
  await service.sql`select set_aside_star(${gone}, ${day}, ${first})`;
  const { status, text } = await operator.get(`/ops/stars/${gone}`);
  assert.equal(status, 200);
  assert.match(
    text,
    new RegExp(`counts nowhere: a recovery set it aside[^.]*href="/ops/stars/${first}"`),
  );
  assert.doesNotMatch(text, /the counter rose|NFTs it brought/);
  assert.match(text, /<dt>Vote of the day<\/dt><dd>none</);
  assert.match((await operator.get(`/ops/stars/${first}`)).text, /the counter rose/);
  assert.match(text, /<dt>Voting power<\/dt><dd>8 = 1 \+ 2 \+ 5</);
  // The histories of the NFTs do not always say which a star brought that came back.
  await service.sql`alter table star_conflict disable trigger user`;
  await service.sql`update star_conflict set held_a = '{}' where id = ${gone}`;
  assert.match((await operator.get(`/ops/stars/${gone}`)).text, /<dt>Voting power<\/dt><dd>8</);
});

test("a forever mint's history says what ended an attribution: the daily check, one by hand, or a star", async ({
  operator,
  service,
  stars,
  day,
}) => {
  const { sql } = service;
  const kinds = ["scheduled", "manual", "star"];
  for (const [index, kind] of kinds.entries()) {
    const run = `01a1f8c0-0000-7000-8000-0000000000e${index}`;
    await sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
      values (${run}, ${day}, ${kind}, 'done', 0, 0)`;
    await sql`insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight,
        deleted, listed_at, read_at, released_at)
      values ('resold', ${index + 1}, ${index + 1}, ${run}, 'A', 901, 1, ${stars["one event/mint"] ?? ""}, 1, false, 0, 0, 0)`;
  }
  await sql`insert into event_total (event_id, weight, stars, releases) values ('resold', 0, 0, 3)`;
  const { text } = await operator.get("/ops/actors/forever-mint/resold");
  const said = [...text.matchAll(/holdings\/runs\/[^"]+e(\d)">([^<]+)</g)];
  assert.deepEqual(
    said.map(([, run, words]) => `${run} ${words}`),
    ["2 next holder&#39;s star", "1 check by hand", "0 daily check"],
  );
});

test("a history has as many steps as there are, also where a recovery took a star and its release away", async ({
  operator,
  service,
  day,
}) => {
  const { sql } = service;
  await sql`insert into event (id, title, event_type, is_forever_mint, source, starts_at, created_at, approved_at)
    values ('halved', 'Halved', 'MINT_EVENT', true, 'SOURCE_A', 0, 0, 0)`;
  const [gone = "", kept = ""] = [
    await starBy(service, "event/halved"),
    await starBy(service, "event/halved"),
  ];
  await sql`insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight,
      deleted, listed_at, read_at, released_at)
    values ('halved', nextval('forever_mint_order'), 1, ${RUN}, 'A', 900, 1, ${gone}, 1, true, 0, 0, 0)`;
  await sql`update event_total set releases = 1, weight = weight - 1 where event_id = 'halved'`;
  await sql`select set_aside_star(${gone}, ${day}, ${kept})`;
  const { text } = await operator.get("/ops/actors/forever-mint/halved?at=9");
  assert.match(text, /After event 1 of 1</);
  assert.match(text, />after 1</);
});

test("a wallet's page counts all its credits, also where it shows the newest hundred", async ({
  operator,
  service,
}) => {
  await service.sql`
    insert into xp_credit (key, wallet, points, reason, at)
    select 'many ' || n, 8, 1, 'Quest', n from generate_series(1, 130) n`;
  const { text } = await operator.get("/ops/wallets/0.0.8");
  assert.match(text, /<dt>XP credits<\/dt><dd><a href="\/ops\/xp">130</);
  assert.equal(text.match(/XP booked/g)?.length, 100);
});

test("an actor of the other kind is not found, whichever way it is asked for", async ({
  operator,
  service,
  day,
}) => {
  for (const [event, wrong] of [
    ["mint", `event-day/mint/${day}`],
    ["meetup", "forever-mint/meetup"],
  ] as const) {
    await service.sql`update event_total set stars = stars + 5001 where event_id = ${event}`;
    for (const path of [`actors/${wrong}`, `actors/${wrong}?at=1`, `raw/actors/${wrong}`]) {
      const reply = await operator.get(`/ops/${path}`);
      assert.equal(reply.status, 404, path);
      assert.match(reply.text, new RegExp(`${event} is (a|no) forever mint: its`, "i"), path);
    }
    const api = await fetch(`${service.url}/ops/api/actors/${wrong}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    assert.equal(api.status, 404);
    await service.sql`update event_total set stars = stars - 5001 where event_id = ${event}`;
  }
});

test("a day of very many stars says that it has at least those that were counted", async ({
  operator,
  service,
}) => {
  const day = "2020-01-03";
  await service.sql`select ensure_star_partition(${day})`;
  await service.sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    select gen_random_uuid(), ${day}, 100000 + n, 1, ${Date.parse(day)}::bigint + n, 'event', 'crowded', false, 1, 1,
      1, 0, 0, '{}', '{}', ${Date.parse(day)}::bigint, 5 from generate_series(1, 20001) n`;
  const { status, text } = await operator.get(`/ops/actors/event-day/crowded/${day}`);
  assert.equal(status, 200);
  assert.match(text, /· at least 20,000 stars ·/);
  assert.match(text, /<dt>Weight<\/dt><dd>at least 20,000</);
});

test("a mint of very many wallets says that it has at least those that were counted", async ({
  operator,
  service,
}) => {
  await service.sql`
    insert into serial_claim (event_id, collection, serial, wallet, star_id)
    select 'vast', collection, n, n, gen_random_uuid()
    from generate_series(1, 20001) n, unnest(array['base', 'A']) as collection`;
  const { status, text } = await operator.get("/ops/actors/forever-mint/vast");
  assert.equal(status, 200);
  assert.match(text, /<dt>Wallets that count<\/dt><dd>at least 20,000, 1 each</);
  assert.match(text, /<dt>Collection A<\/dt><dd>at least 20,000 NFTs have counted, 1 each</);
  assert.match(text, /<dt>Collection B<\/dt><dd>0 NFTs have counted, 5 each</);
});

test("a list of events reads the last star of a day, however many the day has", async ({
  service,
}) => {
  const { sql } = service;
  await sql`
    insert into event (id, title, event_type, starts_at, ends_at, created_at)
    values ('crowded', 'Crowded', 'HACKATHON', 0, 1, 0)`;
  await sql`insert into event_total (event_id, weight, stars) values ('crowded', 20001, 20001)`;
  await sql.begin(async (held) => {
    await held`set local enable_seqscan = off`;
    // A transaction asks as a pool does.
    const deps = { sql: held } as unknown as PagesDeps;
    const query = new URLSearchParams({ type: "event-day", q: "crowded" });
    const { rows } = await readsOf(deps.sql, "star_2020_01", async () => {
      const shown = await actorsPage(deps).show({ query, now: Date.now() } as PageRequest);
      assert.match(JSON.stringify(shown), /event-day\/crowded\/2020-01-03/);
    });
    assert.ok(rows < 100, `${rows} rows`);
  });
});

test("all days of an event are listed, page by page", async ({ operator, service }) => {
  const { sql } = service;
  await sql`
    insert into event (id, title, event_type, starts_at, ends_at, created_at)
    values ('long', 'Long', 'HACKATHON', 0, 1, 0)`;
  await sql`insert into event_total (event_id, weight, stars) values ('long', 120, 120)`;
  for (const month of [5, 6, 7, 8]) {
    await sql`select ensure_star_partition(make_date(2020, ${month}::int, 1))`;
  }
  await sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    select overlay(first_star_id(at)::text placing '7000-8' from 15)::uuid, utc_day(at), 60000, 1, at,
      'event', 'long', false, 1, 1, 1, 0, 0, '{}', '{}', at, 5
    from (select ${Date.parse("2020-05-01")}::bigint + n * 86400000::bigint as at from generate_series(0, 119) n) given`;
  const days: string[] = [];
  let path: string | undefined = "/ops/actors?type=event-day&q=long";
  while (path !== undefined) {
    const { text } = await operator.get(path);
    days.push(...[...text.matchAll(/event-day\/long\/([\d-]+)"/g)].map(([, day = ""]) => day));
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  assert.equal(days.length, 120);
  assert.deepEqual(days, [...new Set(days)].sort().reverse());
});

test("each row of a history stands beside its own step, also where a star comes meanwhile", async ({
  service,
  voter,
}) => {
  const { sql } = service;
  const name = { type: "forever-mint", event: "mint" } as const;
  const [before] = await sql<
    { stars: number }[]
  >`select stars from event_total where event_id = 'mint'`;
  const star = () => cast(service, voter, "event/mint");
  // An event's page reads the journal alone.
  const deps = { sql: starredBefore(sql, "union all", star) } as unknown as PagesDeps;
  const request = { query: new URLSearchParams(), now: Date.now() } as PageRequest;
  const view = await eventActor(deps, name, request);
  const stars = (before?.stars ?? 0) + 1;
  assert.match(String(await view.history), new RegExp(`>after ${stars}<`));
});

test("a wallet's day says of its votes what it says of its stars, also where one comes meanwhile", async ({
  service,
  voter,
  wallet,
  day,
}) => {
  const star = () => cast(service, voter, "token/0.0.9002");
  const deps = {
    // The parts that the page of a wallet's day asks.
    sql: starredBefore(service.sql, 'as "targetId", day', star),
    resting: {},
    refusals: { newest: async () => [] },
    explorer: null,
  } as unknown as PagesDeps;
  const request = { query: new URLSearchParams(), now: Date.now() } as PageRequest;
  const view = await walletDayActor(deps, { type: "wallet-day", wallet, day }, request);
  const said = new RegExp(`<strong>${view.version} of 5</strong> votes used`);
  assert.match(String(await view.context), said);
});

/** A new wallet's star, by its id. */
async function starBy(service: Service, target: string): Promise<string | undefined> {
  const token = await signIn(service, await newWallet(service));
  return (await cast(service, token, target)).body.star?.id;
}

/** Casts a star before a statement with these words is sent. */
function starredBefore(sql: Sql, words: string, star: () => Promise<unknown>): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const query = Reflect.apply(target, self, args);
      return String(args[0]).includes(words) ? star().then(() => query) : query;
    },
  });
}

test.run();
