/** Goal: `holdings-check run` prints what the contract promises, and fails when it should. */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { CheckReport } from "../../../src/upkeep/holdings-check/progress.ts";
import { starboard } from "../../support/starboard.ts";
import { brief, type Stage, setStage } from "./stage.ts";

const test = suite<{ stage: Stage }>("holdings-check run");

test.before(async (context) => {
  context.stage = await setStage();
});
test.after.each(({ stage }) => stage.hedera.mirror.faults.heal());
test.after(({ stage }) => stage.close());

function run(stage: Stage, args: readonly string[], change: Record<string, string> = {}) {
  const settings = {
    DATABASE_URL: stage.url,
    MIRROR_NODE_URL: stage.hedera.mirrorUrl,
    COLLECTION_A_ID: stage.collections.A,
    COLLECTION_B_ID: stage.collections.B,
    ...change,
  };
  return starboard(["holdings-check", "run", ...args], settings);
}

test("with --json: the day, and per mint what was removed with evidence, kept and deferred", async ({
  stage,
}) => {
  const voter = await stage.wallet(2, 2);
  await stage.star(voter);
  const [sold = 0] = voter.a;
  const [carrier = 0, spare = 0] = voter.b;
  await stage.hedera.ledger.transfer(stage.collections.A, sold, stage.treasury);
  await stage.hedera.ledger.transfer(stage.collections.B, carrier, stage.treasury);
  const { status, stdout, stderr } = await run(stage, ["--json"]);
  assert.equal(status, 0, stderr);
  const report = JSON.parse(stdout) as CheckReport;
  const [mint] = report.mints;
  const evidence = mint?.removed.map((each) => each.evidence) ?? [];
  for (const { listedAt, readAt } of evidence) {
    assert.match(listedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(readAt >= listedAt);
  }
  const seen = { owner: stage.treasury, deleted: false };
  assert.deepEqual(report, {
    day: new Date(stage.clock.now()).toISOString().slice(0, 10),
    mints: [
      {
        id: "mint",
        removed: [
          {
            wallet: voter.id,
            collection: "A",
            serial: sold,
            weight: 1,
            spare: null,
            evidence: { ...evidence[0], ...seen },
          },
          {
            wallet: voter.id,
            collection: "B",
            serial: carrier,
            weight: 0,
            spare,
            evidence: { ...evidence[1], ...seen },
          },
        ],
        kept: 1,
        deferred: [],
      },
    ],
  });
  assert.equal(await stage.total(), 1 + 1 + 5);
});

test("for people: a table of mints, and one of what was removed", async ({ stage }) => {
  const voter = await stage.wallet(1);
  await stage.star(voter);
  await stage.hedera.ledger.wipe(stage.collections.A, voter.a[0] ?? 0);
  const { status, stdout } = await run(stage, []);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^Holdings check of \d{4}-\d\d-\d\d\n\nmint {2}removed {2}kept {2}deferred\n/,
  );
  assert.match(stdout, new RegExp(`mint {2}${voter.id} {2}A #${voter.a[0]} {2}-1 `));
});

test("what is deferred makes the exit status 1, and the reason is shown", async ({ stage }) => {
  const voter = await stage.wallet(1);
  await stage.star(voter);
  await stage.hedera.ledger.transfer(stage.collections.A, voter.a, stage.treasury);
  stage.hedera.mirror.faults.inject({ kind: "fail", status: 503, path: /nfts\/\d+$/ });
  const { status, stdout } = await run(stage, ["--json"]);
  assert.equal(status, 1);
  const report = JSON.parse(stdout) as CheckReport;
  assert.deepEqual(brief(report).removed, []);
  const [deferred] = report.mints[0]?.deferred ?? [];
  assert.deepEqual(
    [deferred?.collection, deferred?.serial, deferred?.wallet],
    ["A", voter.a[0], voter.id],
  );
  assert.match(deferred?.reason ?? "", /HTTP 503/);
  const [kept] = await stage.sql`
    select state from holdings_check_run order by started_at desc limit 1`;
  assert.equal(kept?.state, "incomplete");
});

test("a missing setting and a database out of reach are one line on standard error", async ({
  stage,
}) => {
  const missing = await run(stage, [], { COLLECTION_B_ID: "" });
  assert.deepEqual([missing.status, missing.stdout], [1, ""]);
  assert.equal(missing.stderr, "COLLECTION_B_ID is missing\n");
  const gone = await run(stage, [], { DATABASE_URL: "postgres://absent@127.0.0.1:9/nothing" });
  assert.deepEqual([gone.status, gone.stdout], [1, ""]);
  assert.match(gone.stderr, /^the database is out of reach: .*\n$/);
});

test.run();
