/**
 * Goal: a run that dies at any step is finished by another worker, and no attribution ends
 * twice. Method: every failpoint of the check, at its first, second, … time reached until it
 * is reached no more, throws out of a run; some of them kill a real process with SIGKILL. Then
 * another worker comes, after the lease of the dead one has run out.
 */
import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { suite } from "uvu";
import { nodeArguments } from "../../support/script.ts";
import { brief, gate, type Stage, setStage } from "./stage.ts";

const test = suite<{ stage: Stage }>("holdings check crashes");

const DAY_MS = 86_400_000;
const AFTER_THE_LEASE_MS = 31_000;
const MINTS = ["mint", "mint-2"];

test.before(async (context) => {
  const stage = await setStage();
  context.stage = stage;
  await stage.sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, created_at, approved_at)
    values ('mint-2', 'Mint', 'MINT_EVENT', true, 0, 0, 0)`;
  // The very first call only notes that its day counts as checked.
  assert.deepEqual(await stage.check().runDue(), { kind: "nothing-due" });
});
test.after(({ stage }) => stage.close());

/** A new day, in which two wallets have sold what counts on two mints. */
async function arrange(stage: Stage) {
  stage.clock.shiftMs += DAY_MS;
  const { ledger } = stage.hedera;
  const [one, two] = [await stage.wallet(2, 2), await stage.wallet(1, 1)];
  for (const mint of MINTS) for (const voter of [one, two]) await stage.star(voter, mint);
  const [sold = 0] = one.a;
  const [carrier = 0] = one.b;
  await ledger.transfer(stage.collections.A, [sold, ...two.a], stage.treasury);
  await ledger.transfer(stage.collections.B, [carrier, ...two.b], stage.treasury);
  const removed = [`A/${sold}-1`, `A/${two.a[0]}-1`, `B/${carrier}-0`, `B/${two.b[0]}-5`];
  const totals = await Promise.all(MINTS.map((mint) => stage.total(mint)));
  return { removed: removed.sort(), totals: totals.map((total) => total - 7) };
}

type Arranged = Awaited<ReturnType<typeof arrange>>;

/** What must hold once another worker has finished the run. */
async function finish(stage: Stage, { removed, totals }: Arranged): Promise<void> {
  stage.clock.shiftMs += AFTER_THE_LEASE_MS;
  const outcome = await stage.check().runDue();
  assert.ok(outcome.kind === "checked" && outcome.retryAfterMs === null);
  for (const [n, mint] of MINTS.entries()) {
    const report = brief(await stage.report(outcome.run), mint);
    assert.deepEqual([...report.removed].sort(), removed, "before and after the crash, each once");
    assert.deepEqual(report.deferred, []);
    assert.equal(await stage.total(mint), totals[n]);
    assert.deepEqual(await stage.differences(mint), []);
  }
  const runs = await stage.sql<{ id: string; state: string }[]>`
    select id, state from holdings_check_run order by day desc limit 1`;
  assert.deepEqual({ ...runs[0] }, { id: outcome.run.id, state: "done" });
  assert.deepEqual(await stage.check().runDue(), { kind: "nothing-due" });
}

const failpoints = [
  "forever.taken",
  "forever.page",
  "forever.confirmed",
  "forever.judged",
  "forever.removed",
  "forever.mark",
  "forever.marked",
  "forever.reported",
];

for (const failpoint of failpoints) {
  test(`stopped at ${failpoint}, at each time it is reached, the run is finished once (P11)`, async ({
    stage,
  }) => {
    for (let hit = 1; ; hit += 1) {
      const arranged = await arrange(stage);
      let hits = 0;
      const check = stage.check({
        failpoint: (name) => {
          if (name === failpoint && ++hits === hit) throw new Error("crashed here");
        },
      });
      const end = await check.runDue().then(
        () => "finished",
        (error: Error) => error.message,
      );
      if (end === "finished") {
        assert.ok(hit > 1, "the failpoint was never reached");
        break;
      }
      assert.equal(end, "crashed here");
      if (hit === 1) {
        const other = await stage.check().runDue();
        assert.deepEqual(other, { kind: "nothing-due" }, "the dead worker's lease still runs");
      }
      await finish(stage, arranged);
    }
  });
}

for (const [failpoint, hit] of [
  ["forever.page", 2],
  ["forever.removed", 1],
  ["forever.mark", 2],
] as const) {
  test(`killed with SIGKILL at ${failpoint}, another worker finishes the run`, async ({
    stage,
  }) => {
    const arranged = await arrange(stage);
    const { url, hedera, collections, clock } = stage;
    const given = [
      url,
      hedera.mirrorUrl,
      collections.A,
      collections.B,
      clock.shiftMs,
      failpoint,
      hit,
    ];
    const file = join(import.meta.dirname, "../../fixtures/die-during-check.ts");
    const child = spawn(process.execPath, [...nodeArguments(file), ...given.map(String)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
    await finish(stage, arranged);
  });
}

test("a run cut off from Postgres goes on where it was, in the same worker and at once", async ({
  stage,
}) => {
  const arranged = await arrange(stage);
  let cut = false;
  const check = stage.check({
    failpoint: async (name) => {
      if (name !== "forever.removed" || cut) return;
      cut = true;
      throw Object.assign(new Error("read ECONNRESET"), { code: "CONNECTION_CLOSED" });
    },
  });
  await assert.rejects(check.runDue(), /ECONNRESET/);
  const outcome = await check.runDue();
  assert.ok(outcome.kind === "checked");
  assert.deepEqual([...brief(await stage.report(outcome.run)).removed].sort(), arranged.removed);
  assert.equal(await stage.total(), arranged.totals[0]);
});

test("a worker that stalls beyond its lease changes nothing of what another one finished", async ({
  stage,
}) => {
  const arranged = await arrange(stage);
  const { pass, arrival, open } = gate();
  const stalled = stage
    .check({ failpoint: (name) => (name === "forever.mark" ? pass() : undefined) })
    .runDue();
  await arrival;
  await finish(stage, arranged);
  const written = () => stage.sql`
    select event_id, kept, deferred::text from holdings_check_mint
    where run_id = (select id from holdings_check_run order by day desc limit 1) order by event_id`;
  const before = await written();
  open();
  await assert.rejects(stalled, { code: "UNAVAILABLE", message: /another worker/ });
  assert.deepEqual(await written(), before);
});

for (const at of ["forever.mark", "forever.reported"]) {
  test(`a worker that stalls beyond its lease at ${at} neither writes to nor ends the run that another one goes on with`, async ({
    stage,
  }) => {
    const arranged = await arrange(stage);
    const [one, other] = [gate(), gate()];
    const runUntil = (point: string, { pass }: typeof one) =>
      stage.check({ failpoint: (name) => (name === point ? pass() : undefined) }).runDue();
    const stalled = runUntil(at, one);
    await one.arrival;
    stage.clock.shiftMs += AFTER_THE_LEASE_MS;
    const next = runUntil("forever.taken", other);
    await other.arrival;
    one.open();
    const end = await stalled.then(
      () => "in order",
      ({ code }) => code,
    );
    assert.equal(end, at === "forever.mark" ? "UNAVAILABLE" : "in order");
    assert.deepEqual(await stage.check().runDue(), { kind: "nothing-due" }, "still in its hands");
    const [run] = await stage.sql`select state from holdings_check_run order by day desc limit 1`;
    assert.equal(run?.state, "running");
    other.open();
    assert.equal((await next).kind, "checked");
    assert.deepEqual(await Promise.all(MINTS.map((mint) => stage.total(mint))), arranged.totals);
  });
}

test("after a lost answer a release happens once, and is in the report", async ({ stage }) => {
  const arranged = await arrange(stage);
  let torn = false;
  const cut = new Proxy(stage.sql, {
    apply(target, thisArg, args: Parameters<typeof stage.sql>) {
      const query = Reflect.apply(target, thisArg, args);
      if (torn || !String(args[0]).includes("release_claims")) return query;
      torn = true;
      return query.then(() => {
        throw Object.assign(new Error("read ECONNRESET"), { code: "CONNECTION_CLOSED" });
      });
    },
  });
  const check = stage.check({ sql: cut });
  await assert.rejects(check.runDue(), { code: "UNAVAILABLE" });
  assert.ok(torn);
  await finish(stage, arranged);
});

test.run();
