// timeout: 180 s
/**
 * Goal: what a journal lost comes back from the topics and the exports that were kept, to the last
 * counter, receipt and hash. Method: some days of stars by the real engine, published on a local
 * ledger; then an empty database and one that is behind are recovered and compared. What publishes
 * more on the shared ledger comes last.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { ExportSource } from "../../src/audit/export-source.ts";
import { acceptLoss, countLost } from "../../src/publishing/journal-behind.ts";
import { findReceipt } from "../../src/reads/receipts.ts";
import { recover } from "../../src/recovery/recover.ts";
import { type Cast, openLostWorld, stateOf } from "./world.ts";

const world = await openLostWorld();
const { network, wallets } = world;
const { sql, settings } = network;
const url = settings.DATABASE_URL ?? "";
let source: ExportSource;
let before: Awaited<ReturnType<typeof stateOf>>;

const TARGETS = ["event/meetup", "event/mint", "token/0.0.9001", "project/dex"];
const round = (targets: readonly string[]): Cast[] =>
  wallets.flatMap((wallet) => targets.map((target) => ({ wallet, target })));

test.before(async () => {
  const [first = "", , , fourth = ""] = wallets;
  const eighth = wallets[7] ?? "";
  await world.goTo(sql, 0, 9 * 3_600_000);
  await world.cast(url, [
    ...round(TARGETS),
    ...["token/0.0.9002", "token/0.0.9003", "collection/0.0.8001", "project/wiki"].map(
      (target) => ({
        wallet: first,
        target,
      }),
    ),
  ]);
  await world.publish(url);
  await world.goTo(sql, 1, 3_600_000);
  // A counted NFT of each collection leaves its wallet, and the check takes its weight away.
  const lost = await sql<{ collection: "A" | "B"; serial: number }[]>`
    select distinct on (collection) collection, serial from serial_claim
    where event_id = 'mint' and collection <> 'base' and wallet = ${Number(fourth.split(".")[2])}
    order by collection, serial`;
  for (const { collection, serial } of lost) await world.transfer(collection, serial, eighth);
  await world.goTo(sql, 1, 7_200_000);
  await world.check(sql);
  await world.cast(url, round(["event/mint", "event/meetup", "event/hack", "token/0.0.9005"]));
  await world.publish(url);
  await world.goTo(sql, 2, 60_000);
  await world.cast(url, round(["token/0.0.9001", "event/mint"]));
  await world.publish(url);
  await world.finalize(sql);
  source = await world.keepExports(sql);
  before = await stateOf(sql, { numbers: true });
});

test.after(() => world.close());

const withExports = async () => ({ source, days: await source.days() });

test("an empty database gets everything back, with the hashes of the days that were final", async () => {
  const fresh = await world.freshDatabase();
  const report = await recover(world.recovery(fresh.sql, { exports: await withExports() }));
  assert.deepEqual(report.unprovable, []);
  assert.deepEqual(report.ignored, []);
  assert.equal(report.recovered, before.stars.length);
  assert.deepEqual([report.adopted, report.conflicts], [0, 0]);
  assert.deepEqual(report.exact, world.days.slice(0, 2));
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
});

test("a journal that is behind gets its missing stars, and a star that waits adopts its message", async () => {
  const fresh = await world.freshDatabase();
  const exports = await withExports();
  const all = world.recovery(fresh.sql, { exports });
  await recover({ ...all, mirror: world.mirrorUpTo(60) });
  const [row] = await fresh.sql`select count(*) as stars from star`;
  assert.equal(row?.stars, 120);
  await fresh.sql`alter table outbox disable trigger user`;
  await fresh.sql`
    update outbox set state = 'pending', topic_id = null, transaction_id = null, sequence_number = null,
      consensus_timestamp = null, running_hash = null
    where star_id in (select star_id from outbox order by sequence_number desc limit 7)`;
  await fresh.sql`alter table outbox enable trigger user`;
  const dry = await recover({ ...all, isDryRun: true });
  assert.deepEqual(
    [dry.recovered, dry.adopted, dry.written],
    [before.stars.length - 120, 7, false],
  );
  const report = await recover(all);
  assert.deepEqual(
    [report.recovered, report.adopted, report.conflicts],
    [before.stars.length - 120, 7, 0],
  );
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
});

test("a star whose message was read back and contradicted by its receipt gets the message", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql, { exports: await withExports() });
  await recover(all);
  // The receipt of a copy, kept as if it were the message's own, as facts are: for good.
  await fresh.sql`alter table outbox disable trigger user`;
  const [star] = await fresh.sql<{ id: string }[]>`
    with contradicted as (
      select * from outbox order by sequence_number desc limit 1
    ), sent as (
      update outbox set state = 'sent', sequence_number = null, consensus_timestamp = null,
        running_hash = null, published_at = null
      from contradicted where outbox.star_id = contradicted.star_id
    ), reading as (
      insert into topic_reading (topic_id, sequence_number)
      select topic_id, sequence_number from contradicted
    ), finding as (
      insert into publishing_finding (kind, topic_id, sequence_number, star_id, detail)
      select 'contradiction', topic_id, sequence_number, star_id, 'a test' from contradicted
    )
    insert into publish_attempt (star_id, attempt, topic_id, payer, valid_start_ns, reserved_at, signed_bytes,
      valid_until_ns, sends, sent_at, receipt_status)
    select star_id, 1, topic_id, split_part(transaction_id, '@', 1),
      replace(split_part(transaction_id, '@', 2), '.', '')::bigint, 0, ''::bytea, 0, 1, 0,
      'DUPLICATE_TRANSACTION'
    from contradicted
    returning star_id as id`;
  await fresh.sql`alter table outbox enable trigger user`;
  const report = await recover(all);
  assert.deepEqual([report.recovered, report.adopted, report.unprovable], [0, 1, []]);
  const [attempt] = await fresh.sql`
    select outcome, receipt_status, transaction_id from publish_attempt where star_id = ${star?.id ?? ""}`;
  assert.deepEqual(
    [attempt?.outcome, attempt?.receipt_status],
    ["published", "DUPLICATE_TRANSACTION"],
  );
  const open = await fresh.sql`select from publishing_finding where resolved_at is null`;
  assert.equal(open.length, 0);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
});

test("a mirror node that comes to be behind is asked again, and writes nothing where it stays so", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql, { exports: await withExports(), accepts: true });
  const { mirror } = all;
  let behind = Number.POSITIVE_INFINITY;
  const topicMessages: typeof mirror.topicMessages = async (topic, from) => {
    const page = await mirror.topicMessages(topic, from);
    if (from.newestFirst || behind === 0) return page;
    const messages = page.messages.filter(({ sequenceNumber }) => sequenceNumber <= 60);
    if (messages.length === 0) behind -= 1;
    return { messages, more: false };
  };
  const lagging = { ...mirror, topicMessages };
  await assert.rejects(
    recover({ ...all, mirror: lagging }),
    /the mirror node has \d+ messages of topic 0\.0\.\d+ and gave \d+ without a gap/,
  );
  const empty = await stateOf(fresh.sql, { numbers: true });
  assert.deepEqual([empty.stars, empty.final], [[], []]);
  behind = 2;
  const { recovered } = await recover({ ...all, mirror: lagging });
  assert.deepEqual([recovered, behind], [before.stars.length, 0]);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
});

test("a mirror node that lacks transactions of messages which another one gave is asked again", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql, { exports: await withExports(), piece: 1_000 });
  const { mirror } = all;
  let asked = 0;
  const messageMemos: typeof mirror.messageMemos = async function* (payer, span) {
    asked += 1;
    const isBehind = asked === 1;
    for await (const page of mirror.messageMemos(payer, span))
      yield isBehind ? page.slice(1) : page;
  };
  const report = await recover({ ...all, mirror: { ...mirror, messageMemos } });
  assert.deepEqual([report.recovered, report.unprovable], [before.stars.length, []]);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
});

test("a mirror node that has no transactions is waited for once", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql, { piece: 1 });
  const { mirror } = all;
  const topicMessages: typeof mirror.topicMessages = async (topic, from) => {
    const { messages } = await mirror.topicMessages(topic, from);
    return { messages: messages.slice(0, 1), more: messages.length > 1 };
  };
  let asked = 0;
  const messageMemos: typeof mirror.messageMemos = async function* (payer, span) {
    asked += 1;
    for await (const page of mirror.messageMemos(payer, span)) yield page.slice(0, 0);
  };
  const report = await recover({ ...all, mirror: { ...mirror, topicMessages, messageMemos } });
  assert.deepEqual([report.written, report.recovered], [false, 0]);
  const doubts = report.unprovable.length;
  assert.ok(doubts > 1 && asked < 2 * doubts, `${asked} for ${doubts}`);
});

test("a memo that is the id of another star proves nothing, and nothing is written", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql);
  const { mirror } = all;
  const messageMemos: typeof mirror.messageMemos = async function* (payer, span) {
    for await (const page of mirror.messageMemos(payer, span))
      yield page.map((each) => ({ ...each, memo: page[0]?.memo ?? "" }));
  };
  const report = await recover({ ...all, mirror: { ...mirror, messageMemos } });
  assert.equal(report.written, false);
  assert.match(report.unprovable[0] ?? "", /: its transaction's memo is not the id of its star$/);
});

test("of two topics, the one that the mirror node has not in full is named", async () => {
  for (const lagging of Object.values(world.settings.topics)) {
    const fresh = await world.freshDatabase();
    const all = world.recovery(fresh.sql, { exports: await withExports() });
    const { topicMessages } = all.mirror;
    const behind: typeof topicMessages = async (topic, from) => {
      const page = await topicMessages(topic, from);
      if (from.newestFirst || topic !== lagging) return page;
      const messages = page.messages.filter(({ sequenceNumber }) => sequenceNumber <= 20);
      return { messages, more: false };
    };
    await assert.rejects(
      recover({
        ...all,
        mirror: { ...all.mirror, topicMessages: behind },
      }),
      new RegExp(`messages of topic ${lagging} and gave 20 without a gap`),
    );
  }
});

test("settings that swap the two topics are named where the journal is empty", async () => {
  const fresh = await world.freshDatabase();
  const { event, asset } = network.topics;
  const swapped = { ...world.settings, topics: { event: asset, asset: event } };
  const report = await recover(world.recovery(fresh.sql, { settings: swapped }));
  assert.deepEqual([report.recovered, report.written], [0, false]);
  for (const topic of [event, asset]) {
    const said = `message 1 on ${topic}: a star of the other kind: are the two topics swapped?`;
    assert.ok(report.unprovable.includes(said), JSON.stringify(report.unprovable));
  }
});

test("a topic that the mirror node does not know is named, and nothing is written", async () => {
  const fresh = await world.freshDatabase();
  for (const kind of ["event", "asset"] as const) {
    const settings = { ...world.settings, topics: { ...network.topics, [kind]: "0.0.999999" } };
    await assert.rejects(
      recover(world.recovery(fresh.sql, { settings, exports: await withExports(), accepts: true })),
      /^Error: the mirror node knows no topic 0\.0\.999999$/,
    );
  }
  const empty = await stateOf(fresh.sql, { numbers: true });
  assert.deepEqual([empty.stars, empty.final], [[], []]);
});

test("a recovery that dies at any step is taken up, and one that is done does nothing", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql, { exports: await withExports() });
  let deaths = 0;
  for (let steps = 1; ; steps += 2) {
    let left = steps;
    const dying = recover({
      ...all,
      accepts: true,
      onProgress: (what) => {
        left -= what === "NFTs" ? 0 : 1;
        if (left === 0) throw new Error("dies");
      },
    });
    const died = await dying.then(
      () => false,
      (error: Error) => {
        if (error.message !== "dies") throw error;
        return true;
      },
    );
    if (!died) break;
    deaths += 1;
  }
  assert.ok(deaths > 3, String(deaths));
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
  const again = await recover(all);
  assert.deepEqual([again.recovered, again.adopted, again.conflicts], [0, 0, 0]);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
});

test("what an earlier run read under another catalogue, or from other topics, is not written", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql, { exports: await withExports() });
  const [dex] =
    await fresh.sql`delete from project where id = 'dex' returning to_jsonb(project) as row`;
  const lacks = "project/0.0.7001: the catalogue lacks it; import it first";
  for (const run of ["first", "second"]) {
    const { written, unprovable } = await recover(all);
    assert.deepEqual({ run, written }, { run, written: false });
    assert.ok(unprovable.includes(lacks), `${run}: ${unprovable}`);
  }
  await fresh.sql`insert into project select * from jsonb_populate_record(null::project, ${JSON.stringify(dex?.row)}::text::jsonb)`;
  await fresh.sql`
    insert into recovery_message select (jsonb_populate_record(said, jsonb_build_object(
      'topic_id', '0.0.99', 'star_id', gen_random_uuid()))).* from recovery_message said where topic = 'event'`;
  const report = await recover(all);
  assert.equal(report.recovered, before.stars.length);
  assert.deepEqual(await stateOf(fresh.sql, { numbers: true }), before);
});

test("a day that is recovered without its final export breaks the chain, and the audit says so", async () => {
  const fresh = await world.freshDatabase();
  const [first, second] = world.days;
  const days = [...world.days].filter((day) => day !== first);
  const report = await recover(
    world.recovery(fresh.sql, { exports: { source, days }, accepts: true }),
  );
  assert.deepEqual([report.exact, report.renewed], [[second], [first]]);
  const { ok, known, mismatches } = await world.audit(fresh.sql);
  assert.equal(ok, true, JSON.stringify(mismatches[0]));
  assert.deepEqual(known, [{ kind: "chain", topic: null, sequenceNumber: null, day: second }]);
});

test("a star set aside leaves no gap among the places of its wallet's day", async () => {
  const fresh = await world.freshDatabase();
  const [wallet = ""] = wallets;
  const targets = ["token/0.0.9001", "token/0.0.9002", "token/0.0.9003"];
  await world.cast(
    fresh.url,
    targets.map((target) => ({ wallet, target })),
  );
  await fresh.sql`
    select set_aside_star(id, day, id) from star where target_id = '0.0.9001'`;
  await world.cast(fresh.url, [{ wallet, target: "project/dex" }]);
  const rows = await fresh.sql`select slot, target_id from star order by slot`;
  assert.deepEqual(
    rows.map((row) => [Number(row.slot), row.target_id]),
    [
      [1, "0.0.9002"],
      [2, "0.0.9003"],
      [3, "dex"],
    ],
  );
});

test("a star set aside counts in no total, and its NFTs are free", async () => {
  const fresh = await world.freshDatabase();
  const voters = wallets.slice(0, 4);
  const targets = ["event/meetup", "token/0.0.9001"];
  await world.cast(
    fresh.url,
    voters.flatMap((wallet) => targets.map((target) => ({ wallet, target }))),
  );
  await fresh.sql`
    select set_aside_star(id, day, id) from star where slot <= 2 and wallet in (
      select wallet from star order by weight desc limit 1)`;
  const [sums] = await fresh.sql`
    select coalesce(sum(weight) filter (where target_type = 'event'), 0)::int as event,
      coalesce(sum(weight) filter (where target_type = 'token'), 0)::int as token,
      coalesce(sum(cardinality(claimed_a) + (claimed_b is not null)::int), 0)::int as claims,
      count(*)::int as stars from star`;
  const [totals] = await fresh.sql`
    select (select sum(weight) from event_total)::int as event, (select sum(weight) from item_day)::int as token,
      (select count(*) from serial_claim)::int as claims,
      ((select sum(stars) from event_total) + (select sum(stars) from item_day))::int as stars`;
  assert.deepEqual({ ...totals }, { ...sums });
  assert.equal(sums?.stars, 6);
});

test("without exports, histories decide, and what they leave open has to be accepted", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql);
  const refused = await recover(all);
  assert.equal(refused.written, false);
  assert.ok(refused.unprovable.length > 0);
  const [row] = await fresh.sql`select count(*) as stars from star`;
  assert.equal(row?.stars, 0);
  const report = await recover({ ...all, accepts: true });
  assert.deepEqual([report.written, report.recovered], [true, before.stars.length]);
  assert.deepEqual(report.unprovable, refused.unprovable);
  assert.ok(report.unprovable.every((line) => line.startsWith("event/mint")));
  const after = await stateOf(fresh.sql, { numbers: false });
  const { days, hours, receipts } = before;
  assert.deepEqual({ ...after, days, hours, receipts }, after);
  const ordinary = (lines: readonly string[]) => lines.filter((line) => !line.includes("mint"));
  assert.deepEqual(ordinary(after.events), ordinary(before.events));
  assert.deepEqual(ordinary(after.claims), ordinary(before.claims));
  const slots = (lines: readonly string[]) =>
    lines.map((line) => {
      const { id, slot, allowance_limit, season_id, held_a, held_b } = JSON.parse(line);
      return { id, slot, allowance_limit, season_id, held_a, held_b };
    });
  assert.deepEqual(slots(after.stars), slots(before.stars));
});

test("a wallet that starred again after the loss keeps its receipt, and the later star counts nowhere", async () => {
  const fresh = await world.freshDatabase();
  const all = world.recovery(fresh.sql, { exports: await withExports() });
  await recover({ ...all, mirror: world.mirrorUpTo(60) });
  const [first = "", second = "", third = ""] = wallets;
  await world.cast(fresh.url, [
    { wallet: first, target: "token/0.0.9001" },
    { wallet: second, target: "token/0.0.9001" },
    { wallet: third, target: "token/0.0.9006" },
  ]);
  const report = await recover(all);
  assert.deepEqual([report.recovered, report.conflicts], [before.stars.length - 120, 2]);
  const aside = await fresh.sql<{ id: string; day: string }[]>`select id, day from star_conflict`;
  for (const { id, day } of aside) {
    const receipt = await findReceipt(fresh.sql, id, day);
    assert.deepEqual([receipt?.target.id, receipt?.publication.state], ["0.0.9001", "stored"]);
  }
  const [kept] = await fresh.sql`select slot from star where target_id = '0.0.9006'`;
  assert.equal(kept?.slot, 3);
  const after = await stateOf(fresh.sql, { numbers: true });
  const others = (lines: readonly string[]) => lines.filter((line) => !line.includes("0.0.9006"));
  assert.deepEqual(others(after.days), before.days);
  assert.deepEqual(others(after.hours), before.hours);
  assert.deepEqual([after.events, after.claims], [before.events, before.claims]);
  // Its message stays on the topic: exports list it, and an audit takes it for known.
  await world.publish(fresh.url);
  const conclusion = await world.audit(fresh.sql);
  assert.equal(conclusion.ok, true, JSON.stringify(conclusion.mismatches[0]));
  const known = conclusion.known.map(({ kind, starId, day }) => ({ kind, id: starId, day }));
  const expected = aside.map(({ id, day }) => ({ kind: "conflict", id, day }));
  const sorted = (lines: readonly object[]) => lines.map((line) => JSON.stringify(line)).sort();
  assert.deepEqual(sorted(known), sorted(expected));
  assert.deepEqual(conclusion.unprovable, []);
});

test("a loss that is accepted is listed, and what was cast since is proved", async () => {
  const fresh = await world.freshDatabase();
  await recover({
    ...world.recovery(fresh.sql, { exports: await withExports() }),
    mirror: world.mirrorUpTo(48),
  });
  // Published stars make the reader go over the topics to their ends.
  await world.cast(fresh.url, [{ wallet: wallets[5] ?? "", target: "token/0.0.9001" }]);
  await world.publish(fresh.url);
  const [row] = await fresh.sql`select count(*) as stars from star`;
  const lost = await countLost(fresh.sql);
  assert.ok(lost > 100 && Number(row?.stars) + lost >= before.stars.length, String(lost));
  assert.equal(await acceptLoss(fresh.sql), lost);
  const conclusion = await world.audit(fresh.sql);
  assert.equal(conclusion.ok, true, JSON.stringify(conclusion.mismatches[0]));
  assert.equal(conclusion.knownCount, lost);
  assert.ok(conclusion.known.every(({ kind }) => kind === "lost"));
});

test.run();
