/**
 * Goal: a day's export becomes final once, in order, and never changes unseen. Method: a journal
 * whose clock is set to the instants that matter, hashes computed here from the bytes alone.
 */
import * as assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite } from "uvu";
import { DAY_MS, startOfDay } from "../../actors/day.ts";
import { serveHttp } from "../../src/http/serve.ts";
import { exportAlarms } from "../../src/journal/export-days.ts";
import { GENESIS } from "../../src/journal/export-format.ts";
import { silentLogger } from "../../src/log.ts";
import { prepareDatabase } from "../../src/processes/prepare-database.ts";
import { acceptLoss, RECOVERY_LOCK } from "../../src/publishing/journal-behind.ts";
import {
  checkFinalDays,
  finalizeDueDays,
  startExportsUpkeep,
} from "../../src/upkeep/finalize-exports.ts";
import { createTroubles } from "../../src/upkeep/troubles.ts";
import { bodyOf, verdictOf } from "../support/engine.ts";
import { type ExportRig, ofKind, SETTINGS, startExportRig } from "../support/export-rig.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { starboard } from "../support/starboard.ts";

const NOON = DAY_MS / 2;
const test = suite<{ rig: ExportRig }>();
test.before.each(async (context) => {
  context.rig = await startExportRig();
});
test.after.each(({ rig }) => rig.close());

const get = async (rig: ExportRig, day: string) =>
  (await rig.app().request(`/exports/${day}`)).text();
const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

/** One star on day 1, published at once. */
async function publishOnDay1(rig: ExportRig): Promise<void> {
  await rig.setClock(1, NOON);
  bodyOf(await rig.engine.cast("0.0.11", "token/0.0.9001"));
  await rig.publish();
}

/** Everything but the last line. */
function body(text: string): string {
  return text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
}

test("three days in a chain, the one without stars too, the same bytes from every process", async ({
  rig,
}) => {
  await rig.setClock(1, NOON);
  rig.engine.holdings.set("0.0.11", { collectionA: [9, 2], collectionB: [7] });
  bodyOf(await rig.engine.cast("0.0.11", "event/meetup"));
  bodyOf(await rig.engine.cast("0.0.11", "token/0.0.9001"));
  await rig.setClock(3, NOON);
  bodyOf(await rig.engine.cast("0.0.11", "project/dex"));
  await rig.publish();
  await rig.setClock(4, NOON);

  const days = [rig.day(1), rig.day(2), rig.day(3)];
  assert.deepEqual(await finalizeDueDays(rig.upkeep), days);
  assert.deepEqual(await finalizeDueDays(rig.upkeep), []);
  let previous = GENESIS;
  for (const [index, day] of days.entries()) {
    const [one, other] = [await get(rig, day), await get(rig, day)];
    assert.equal(one, other);
    const [header] = ofKind(one, "header");
    const [footer] = ofKind(one, "footer");
    assert.equal(header?.final, true);
    assert.equal(header?.previous, previous);
    assert.equal(footer?.sha256, sha(body(one)));
    assert.equal(footer?.chain, sha(previous + footer?.sha256));
    assert.equal(footer?.stars, [2, 0, 1][index]);
    previous = footer?.chain ?? "";
  }
});

test("two workers at once make one chain", async ({ rig }) => {
  await publishOnDay1(rig);
  await rig.setClock(4, NOON);
  await Promise.all([finalizeDueDays(rig.upkeep), finalizeDueDays(rig.upkeep)]);
  const [row] = await rig.owner`select count(*) as days from export_day`;
  assert.equal(row?.days, 3);
});

test("a day is closed five seconds after its end, by the database's clock", async ({ rig }) => {
  await publishOnDay1(rig);
  await rig.setClock(2, 1_000);
  assert.deepEqual(await finalizeDueDays(rig.upkeep), []);
  assert.equal(ofKind(await get(rig, rig.day(1)), "header")[0]?.final, false);
  await rig.setClock(2, 5_000);
  assert.deepEqual(await finalizeDueDays(rig.upkeep), [rig.day(1)]);
});

test("a day is over by the database's clock alone, though the machine's is days behind", async ({
  rig,
}) => {
  await publishOnDay1(rig);
  await rig.setClock(3, NOON);
  assert.ok(Date.now() < startOfDay(rig.day(1)));
  assert.deepEqual(await finalizeDueDays(rig.upkeep), [rig.day(1), rig.day(2)]);
});

test("a star that is still being committed is waited for", async ({ rig }) => {
  await publishOnDay1(rig);
  const late = await reserveConnection(rig.owner);
  // A commit that hangs: it holds the lock that every writer takes before it draws a number.
  await late.unsafe("begin; lock table star in row exclusive mode");
  await rig.setClock(2, NOON);
  assert.deepEqual(await finalizeDueDays(rig.upkeep), []);
  await late.unsafe("commit");
  late.release();
  assert.deepEqual(await finalizeDueDays(rig.upkeep), [rig.day(1)]);
});

test("no day becomes final while the journal lacks stars of its topics or gets them back, nor on a copy whose topics are unread", async ({
  rig,
}) => {
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  await rig.owner`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('lost', '0.0.502', 99, '')`;
  assert.deepEqual(await finalizeDueDays(rig.upkeep), []);
  await rig.owner`update publishing_finding set resolved_at = now_ms()`;
  await rig.owner`insert into journal_home (identity) values ('the server it was copied from')`;
  assert.deepEqual(await finalizeDueDays(rig.upkeep), []);
  await rig.owner`update journal_home set identity = database_identity()`;
  const recovering = await reserveConnection(rig.owner);
  await recovering`select pg_advisory_lock(hashtext(${RECOVERY_LOCK}))`;
  assert.deepEqual(await finalizeDueDays(rig.upkeep), []);
  await recovering`select pg_advisory_unlock_all()`;
  recovering.release();
  assert.deepEqual(await finalizeDueDays(rig.upkeep), [rig.day(1)]);
});

test("a recovery that begins while days become final has the next ones left to it", async ({
  rig,
}) => {
  await publishOnDay1(rig);
  await rig.setClock(4, NOON);
  await rig.owner.unsafe(`
    create function begin_recovery() returns trigger language plpgsql as $$
      begin perform pg_advisory_lock(hashtext('${RECOVERY_LOCK}')); return null; end $$;
    create trigger begin_recovery after insert on export_day
      for each row execute function begin_recovery()`);
  assert.deepEqual(await finalizeDueDays(rig.upkeep), [rig.day(1)]);
});

test("a recovery that begins while a day is read has that day left to it", async ({ rig }) => {
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  const holder = await reserveConnection(rig.owner);
  await holder`begin`;
  await holder`lock table star_conflict`;
  const made = finalizeDueDays(rig.upkeep);
  await until("the day is read", async () => {
    const rows = await rig.owner`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return rows.length === 1;
  });
  await holder`select pg_advisory_lock(hashtext(${RECOVERY_LOCK}))`;
  await holder`commit`;
  assert.deepEqual(await made, []);
  await holder`select pg_advisory_unlock(hashtext(${RECOVERY_LOCK}))`;
  holder.release();
  assert.deepEqual(await finalizeDueDays(rig.upkeep), [rig.day(1)]);
});

test("a star published late keeps its day, and those after it, provisional", async ({ rig }) => {
  await publishOnDay1(rig);
  bodyOf(await rig.engine.cast("0.0.11", "token/0.0.9002"));
  await rig.setClock(3, NOON);
  assert.deepEqual(await finalizeDueDays(rig.upkeep), []);
  assert.deepEqual(await exportAlarms(rig.sql), { differing: 0, overdue: 2 });
  const text = await get(rig, rig.day(1));
  const [footer] = ofKind(text, "footer");
  assert.deepEqual(
    [footer?.final, footer?.stars, footer?.unpublished, footer?.chain],
    [false, 2, 1, null],
  );
  assert.equal(footer?.sha256, sha(body(text)));
  const [, second] = ofKind(text, "star");
  assert.deepEqual(second?.publication, {
    state: "stored",
    topicId: null,
    transactionId: null,
    sequenceNumber: null,
    consensusTimestamp: null,
    runningHash: null,
  });
  await rig.publish();
  assert.deepEqual(await finalizeDueDays(rig.upkeep), [rig.day(1), rig.day(2)]);
  assert.deepEqual(await exportAlarms(rig.sql), { differing: 0, overdue: 0 });
});

test("a final day takes no star, though the clock is set back over midnight", async ({ rig }) => {
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  await finalizeDueDays(rig.upkeep);
  await rig.setClock(1, NOON);
  assert.deepEqual(await exportAlarms(rig.sql), { differing: 0, overdue: 0 });
  const batches = rig.engine.batches;
  await assert.rejects(rig.engine.cast("0.0.12", "token/0.0.9001"), {
    code: "UNAVAILABLE",
    message: /^today is final already/,
  });
  // The first one may be of the day by which the process' clock went.
  assert.ok(rig.engine.batches <= batches + 2, `${rig.engine.batches - batches} batches`);
  await rig.setClock(2, NOON);
  assert.equal(verdictOf(await rig.engine.cast("0.0.12", "token/0.0.9001")), "accepted");
});

test("a final day takes no release of a daily check either", async ({ rig }) => {
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  await finalizeDueDays(rig.upkeep);
  await rig.owner`
    insert into holdings_check_run (id, day, kind, state, started_at, finished_at)
    values (gen_random_uuid(), ${rig.day(1)}, 'manual', 'done', 0, 0)`;
  const releaseOn = (day: string) => {
    const at = startOfDay(day) + NOON;
    return rig.owner`
      insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id,
        weight, deleted, listed_at, read_at, released_at)
      select 'mint', 1, 1, id, 'A', 1, 12, gen_random_uuid(), 1, true, ${at}, ${at}, ${at}
      from holdings_check_run`;
  };
  await assert.rejects(releaseOn(rig.day(1)), { code: "SB408" });
  await releaseOn(rig.day(2));
});

test("a loss accepted while the clock is set back over midnight stands in the first day that is open", async ({
  rig,
}) => {
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  await finalizeDueDays(rig.upkeep);
  await rig.owner`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('lost', '0.0.502', 99, '')`;
  await rig.setClock(1, NOON);
  assert.equal(await acceptLoss(rig.owner), 1);
  await rig.setClock(2, NOON);
  assert.deepEqual(await checkFinalDays(rig.upkeep), []);
  assert.equal(ofKind(await get(rig, rig.day(2)), "lost")[0]?.sequenceNumber, 99);
});

test("a changed journal is noticed, and no reader gets a whole export of it", async ({ rig }) => {
  await rig.setClock(1, NOON);
  rig.engine.holdings.set("0.0.11", { collectionA: [1, 2], collectionB: [] });
  bodyOf(await rig.engine.cast("0.0.11", "event/meetup"));
  await rig.publish();
  await rig.setClock(2, NOON);
  await finalizeDueDays(rig.upkeep);
  assert.deepEqual(await checkFinalDays(rig.upkeep), []);
  // The database's owner can do anything: also switch the triggers off.
  await rig.owner.unsafe(`
    alter table star disable trigger user; update star set weight = 2, counted_a = 1;
    alter table star enable trigger user`);
  await rig.setClock(2, NOON + 3_700_000);
  assert.deepEqual(await checkFinalDays(rig.upkeep), [rig.day(1)]);
  assert.deepEqual(await exportAlarms(rig.sql), { differing: 1, overdue: 0 });
  const reply = await rig.app().request(`/exports/${rig.day(1)}`);
  await assert.rejects(reply.text(), /once it was/);
  const server = await serveHttp(rig.app(), { host: "127.0.0.1", port: 0 });
  for (const coding of ["identity", "gzip"]) {
    const headers = { "accept-encoding": coding };
    const asked = await fetch(`${server.url}/exports/${rig.day(1)}`, { headers });
    await assert.rejects(asked.text(), coding);
  }
  await server.close(100);
  await rig.owner.unsafe(`
    alter table star disable trigger user; update star set weight = 3, counted_a = 2;
    alter table star enable trigger user`);
  await rig.setClock(2, NOON + 7_400_000);
  assert.deepEqual(await checkFinalDays(rig.upkeep), []);
  assert.equal((await exportAlarms(rig.sql)).differing, 0);
});

test("a frozen row cannot be changed, skipped or forged", async ({ rig }) => {
  await publishOnDay1(rig);
  await rig.setClock(3, NOON);
  await finalizeDueDays(rig.upkeep);
  const { owner } = rig;
  await assert.rejects(owner`update export_day set stars = 0`, /append-only/);
  await assert.rejects(owner`delete from export_day`, /append-only/);
  await assert.rejects(owner`truncate export_day cascade`, /append-only/);
  const add = (day: string, previous: string, chain: string) => owner`
    insert into export_day (day, header, stars, releases, bytes, sha256, previous, chain)
    values (${day}, '{}', 0, 0, 1, ${GENESIS}, ${previous}, ${chain})`;
  const chained = (previous: string): string => sha(previous + GENESIS);
  await assert.rejects(add(rig.day(4), GENESIS, chained(GENESIS)), /does not follow/);
  const [last] = await owner`select chain from export_day order by day desc limit 1`;
  await assert.rejects(add(rig.day(3), last?.chain, GENESIS), /check constraint/);
  await assert.rejects(add(rig.day(3), GENESIS, chained(GENESIS)), /does not follow/);
});

test("once a day is final, processes and the check by hand refuse another network or collection", async ({
  rig,
}) => {
  const kept = {
    DATABASE_URL: rig.url,
    HEDERA_NETWORK: "local",
    COLLECTION_A_ID: "0.0.601",
    COLLECTION_A_KEY: "alpha",
    COLLECTION_B_ID: "0.0.602",
    COLLECTION_B_KEY: "beta",
  } as const;
  const others = [
    { HEDERA_NETWORK: "testnet" },
    { COLLECTION_A_ID: "0.0.602", COLLECTION_B_ID: "0.0.601" },
    { COLLECTION_A_KEY: "gamma" },
    { COLLECTION_B_ID: "0.0.603" },
    { COLLECTION_B_KEY: "delta" },
  ] as const;
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  for (const other of others) await prepareDatabase({ ...kept, ...other }, silentLogger);
  await finalizeDueDays(rig.upkeep);
  await prepareDatabase(kept, silentLogger);
  for (const other of others) {
    const [name] = Object.keys(other);
    await assert.rejects(prepareDatabase({ ...kept, ...other }, silentLogger), {
      name: "ConfigurationError",
      message: new RegExp(`^${name} is .*: it cannot change$`),
    });
  }
  const env = { ...kept, COLLECTION_A_ID: "0.0.602", COLLECTION_B_ID: "0.0.603" };
  const mirror = { MIRROR_NODE_URL: "http://127.0.0.2:1" };
  const byHand = await starboard(["holdings-check", "run"], { ...env, ...mirror });
  assert.deepEqual([byHand.status, byHand.stdout], [1, ""]);
  assert.match(byHand.stderr, /COLLECTION_A_ID is 0\.0\.602, and 0\.0\.601 in/);
  const asked = await starboard(["serve", "--check", "--json"], { ...env, ...mirror });
  assert.equal(asked.status, 1);
  assert.match(asked.stdout, /"postgres","ok":false,"message":"COLLECTION_A_ID is 0\.0\.602/);
});

test("a day has the settings that workers had on it, though it becomes final under others", async ({
  rig,
}) => {
  const headerOn = async (day: number) => ofKind(await get(rig, rig.day(day)), "header")[0];
  const workUnder = async (excluded: string, isDone: () => Promise<boolean>) => {
    const settings = { ...SETTINGS, excludedWallets: [excluded] };
    const upkeep = startExportsUpkeep({ ...rig.upkeep, settings, everyMs: 10 });
    await until(`what works under ${excluded}`, isDone);
    await upkeep.close();
  };
  const isNoted = (day: number, excluded: string) => async () => {
    const [row] = await rig.owner<{ settings: string }[]>`
      select settings from export_setting where day = ${rig.day(day)}`;
    return row?.settings.includes(JSON.stringify([excluded])) ?? false;
  };
  await rig.setClock(1, NOON);
  bodyOf(await rig.engine.cast("0.0.11", "token/0.0.9001"));
  await workUnder("0.0.4", isNoted(1, "0.0.4"));
  await workUnder("0.0.5", isNoted(1, "0.0.5"));
  // It is over, and not final yet.
  await rig.setClock(2, 60_000);
  await workUnder("0.0.6", isNoted(2, "0.0.6"));
  const provisional = await headerOn(1);
  assert.deepEqual([provisional?.final, provisional?.excludedWallets], [false, ["0.0.5"]]);
  await rig.publish();
  await workUnder("0.0.6", async () => (await headerOn(1))?.final === true);
  assert.deepEqual((await headerOn(1))?.excludedWallets, ["0.0.5"]);
  await rig.setClock(3, NOON);
  await workUnder("0.0.7", async () => (await headerOn(2))?.final === true);
  assert.deepEqual((await headerOn(2))?.excludedWallets, ["0.0.6"]);
  // No worker has seen the fourth day.
  await rig.setClock(5, NOON);
  await workUnder("0.0.8", async () => (await headerOn(4))?.final === true);
  assert.deepEqual((await headerOn(4))?.excludedWallets, ["0.0.7"]);
  // Of days that came back the first was noted, and of the other the note was lost.
  await rig.owner`insert into recovered_day (day) values (${rig.day(5)}), (${rig.day(6)})`;
  await rig.setClock(7, NOON);
  await workUnder("0.0.9", async () => (await headerOn(6))?.final === true);
  assert.deepEqual((await headerOn(5))?.excludedWallets, ["0.0.8"]);
  assert.deepEqual((await headerOn(6))?.excludedWallets, ["0.0.9"]);
});

test("a final day's header stays when settings change, and the worker makes days final by itself", async ({
  rig,
}) => {
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  const settings = { ...SETTINGS, excludedWallets: ["0.0.5", "0.0.6"] };
  const upkeep = startExportsUpkeep({ ...rig.upkeep, settings, everyMs: 10 });
  await until("the day is final", async () => {
    const [row] = await rig.owner`select count(*) as days from export_check`;
    return row?.days === 1;
  });
  await upkeep.close();
  const [header] = ofKind(await get(rig, rig.day(1)), "header");
  assert.deepEqual([header?.final, header?.excludedWallets], [true, ["0.0.5", "0.0.6"]]);
});

test("a day that cannot be made final is reported by the worker as long as that lasts", async ({
  rig,
}) => {
  await publishOnDay1(rig);
  await rig.setClock(2, NOON);
  await rig.owner`create function no_room() returns trigger language plpgsql as $$ begin
    raise exception 'No space left on device' using errcode = '53100'; end $$`;
  await rig.owner`create trigger no_room before insert on export_day execute function no_room()`;
  const troubles = createTroubles({ now: Date.now });
  const upkeep = startExportsUpkeep({ ...rig.upkeep, troubles, everyMs: 10 });
  await until("the failure is reported", () => "exportsFailSince" in troubles.standing());
  await rig.owner`drop trigger no_room on export_day`;
  await until("it is over", () => !("exportsFailSince" in troubles.standing()));
  await upkeep.close();
});

test.run();
