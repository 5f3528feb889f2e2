/**
 * Goal: a web process accepts no star before it has compared journal and topics, none while the
 * journal is behind, and looks again when the database is another one; a mirror node that is away
 * holds stars up only for a while. Method: the watch over the rig's ledger, looked at until it says
 * what is expected.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { RetryableError } from "../../src/errors.ts";
import { silentLogger } from "../../src/log.ts";
import { listAlarms } from "../../src/publishing/alarms.ts";
import { acceptLoss } from "../../src/publishing/journal-behind.ts";
import {
  type JournalState,
  type JournalWatch,
  type JournalWatchParts,
  watchJournal,
} from "../../src/publishing/journal-watch.ts";
import { readVerdict } from "../../src/upkeep/service-verdict.ts";
import { until } from "../support/processes.ts";
import { eachOnRig, type Rig, TOPICS, textOf } from "./rig.ts";

const test = suite("journal watch");
let rig: Rig;
let watch: JournalWatch;
eachOnRig(test, (made) => {
  rig = made;
});
test.after.each(() => watch.close());

function open(change: Partial<JournalWatchParts> = {}): void {
  const { sql, ledger } = rig;
  const topics = Object.values(TOPICS);
  const given = { sql, mirror: ledger.mirror(), topics, payer: undefined, log: silentLogger };
  watch = watchJournal({ ...given, lookEveryMs: 20, ...change });
}

let said = 0;
function sayLost(): void {
  const message = textOf("event", 1_700_000_000_000 + said);
  const transactionId = `0.0.1002@1795161599.${String(++said).padStart(9, "0")}`;
  rig.ledger.foreign(transactionId, { topicId: TOPICS.event, message });
}
const says = (state: JournalState) => until(`the journal is ${state}`, () => watch.state === state);
const codeOf = (): string => {
  try {
    watch.admitStar();
    return "admitted";
  } catch (error) {
    return error instanceof RetryableError ? error.code : String(error);
  }
};

test("a star is admitted when the topics have been read, and not before", async () => {
  open();
  assert.equal(codeOf(), "UNAVAILABLE");
  await says("ok");
  assert.equal(codeOf(), "admitted");
});

test("while the journal is behind no star is admitted; accepting the loss ends it", async () => {
  sayLost();
  open();
  await until("the topics are read", () => watch.state !== "unread");
  assert.equal(codeOf(), "JOURNAL_BEHIND");
  const alarms = () => listAlarms(rig.sql);
  await until("the alarm", async () => (await alarms())[0]?.reason === "journal-behind");
  assert.match((await alarms())[0]?.detail ?? "", /lacks 1 star that/);
  const { checks } = await readVerdict(rig.sql);
  for (const name of ["alarms", "findings"]) {
    assert.match(checks.find((check) => check.name === name)?.fix ?? "", /journal recover/, name);
  }
  assert.equal(await acceptLoss(rig.sql), 1);
  await says("ok");
  assert.equal(codeOf(), "admitted");
  await until("no alarm", async () => (await alarms()).length === 0);
});

test("a count of findings that began before the topics were read admits no star after it", async () => {
  sayLost();
  const mirror = rig.ledger.mirror();
  /** The state at each count. */
  const states: JournalState[] = [];
  let isCounted = false;
  let answer = (): void => undefined;
  const sql = new Proxy(rig.sql, {
    apply(target, self, given) {
      const rows = Reflect.apply(target, self, given);
      if (!String(given[0]).includes("as lost")) return rows;
      states.push(watch.state);
      if (states.length > 1) return rows;
      return rows.then(async (none: unknown) => {
        isCounted = true;
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return none;
      });
    },
  });
  const topicMessages: typeof mirror.topicMessages = async (...asked) => {
    await until("the findings are counted", () => isCounted);
    return mirror.topicMessages(...asked);
  };
  open({ sql, mirror: { ...mirror, topicMessages } });
  await until("the finding", async () => {
    const [row] = await rig.sql`select count(*) as all from publishing_finding`;
    return row?.all === 1;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  answer();
  await until("the next look", () => states.length > 1);
  assert.equal(states[1], "unread");
  await until("the topics are read", () => watch.state !== "unread");
  assert.equal(codeOf(), "JOURNAL_BEHIND");
});

test("the topics are read again where the rows are older than the process", async () => {
  await rig.sql`insert into journal_epoch default values`;
  open();
  await says("ok");
  sayLost();
  await rig.sql`delete from journal_epoch`;
  await says("behind");
});

test("a reading that began before the journal went back does not count after it", async () => {
  await rig.sql`insert into journal_epoch default values`;
  sayLost();
  const mirror = rig.ledger.mirror();
  let answer = (): void => undefined;
  let hasAsked = false;
  open({
    mirror: {
      ...mirror,
      async topicMessages(topicId, from, limits) {
        const page = await mirror.topicMessages(topicId, from, limits);
        // The request for what comes after the last message: the journal goes back meanwhile.
        if (from.afterSequence !== 1 || hasAsked) return page;
        hasAsked = true;
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return page;
      },
    },
  });
  await until("the last page is asked for", () => hasAsked);
  assert.equal(await acceptLoss(rig.sql), 1);
  await rig.sql.unsafe(`set local session_replication_role = replica; delete from publishing_finding;
    update topic_reading set sequence_number = 0, running_hash = null; delete from journal_epoch`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  answer();
  await says("behind");
});

test("after a lost connection nothing is admitted before the database was looked at (A6 pg-failover-lossy)", async () => {
  open();
  await says("ok");
  watch.lookAgain();
  assert.equal(codeOf(), "UNAVAILABLE");
  await says("ok");
});

test("a mirror node that is away holds stars up for a while; then they go on, under an alarm", async () => {
  rig.ledger.mirrorAway = true;
  sayLost();
  open({ patienceMs: 60 });
  assert.equal(codeOf(), "UNAVAILABLE");
  await says("ok");
  await until("the alarm", async () => (await listAlarms(rig.sql))[0]?.reason === "topics-unread");
  rig.ledger.mirrorAway = false;
  await says("behind");
  await until(
    "another alarm",
    async () => (await listAlarms(rig.sql))[0]?.reason === "journal-behind",
  );
});

test.run();
