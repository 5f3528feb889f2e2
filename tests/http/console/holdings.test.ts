/**
 * Goal: a dry run shows what the check would remove and writes nothing; the check then removes
 * just that, after a confirmation. Method: a forever mint with a star whose NFTs were sold and
 * burned, the pages over HTTP, and everything the check may write compared before and after.
 */
import * as assert from "node:assert/strict";
import { userInfo } from "node:os";
import { suite } from "uvu";
import { silentLogger } from "../../../src/log.ts";
import { closeRedis, openRedis } from "../../../src/store/redis.ts";
import { until } from "../../support/processes.ts";
import { cast, newWallet, type Service, signIn, startService } from "../../support/service.ts";
import { starboard } from "../../support/starboard.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";
import { logOf } from "./operator-log.ts";

interface Context {
  service: Service;
  operator: Visitor;
  buyer: string;
}

const test = suite<Context>("/ops/holdings");

test.before(async (context) => {
  const service = await startService(CONSOLE);
  const wallet = await newWallet(service, { a: 3, b: 2 });
  await cast(service, await signIn(service, wallet), "event/mint");
  const buyer = await newWallet(service);
  const { ledger } = service.hedera;
  await ledger.transfer(service.collectionA, 2, buyer.id);
  await ledger.transfer(service.collectionB, 1, buyer.id);
  Object.assign(context, {
    service,
    buyer: buyer.id,
    operator: await signInOperator(service, "Ada"),
  });
});
test.after(({ service }) => service.close());

/** Everything a check may write. */
const written = ({ sql }: Service) => sql`
  select (select json_agg(claim order by collection, serial) from serial_claim claim) as claims,
    (select json_agg(total) from event_total total) as totals,
    (select count(*) from claim_release) as releases, (select count(*) from holdings_check_run) as runs,
    (select count(*) from holdings_check_mint) as marks`;

async function dryRun({ service, operator }: Context): Promise<string> {
  const reply = await operator.post("/ops/holdings/dry-run", {});
  assert.equal(reply.status, 303);
  assert.match(reply.headers.get("location") ?? "", /^\/ops\/holdings\/now/);
  let text = "";
  await until("the dry run has ended", async () => {
    ({ text } = await operator.get("/ops/holdings/now"));
    return text.includes("What it would do");
  });
  assert.equal((await logOf(service.sql, "holdings.dry-run"))[0]?.phase, "done");
  return text;
}

test("a dry run that others forged in Redis is none", async ({ service, operator }) => {
  const redis = openRedis(service.redisUrl, silentLogger);
  await until("Redis is there", () => redis.isReady);
  const run = { state: "done", operator: "Eve", startedAt: 1, report: { mints: [], releases: [] } };
  const html = { isEscaped: true, toString: "<script>" };
  const mint = { event: "mint", kept: 1, removed: 0, weight: 0, open: 1, deferred: [{}] };
  const inside = { ...run, report: { mints: [mint], releases: [] } };
  for (const forged of [
    "{",
    "7",
    { ...run, startedAt: 1e300 },
    { ...run, operator: html },
    inside,
  ]) {
    const text = typeof forged === "string" ? forged : JSON.stringify(forged);
    await redis.set("starboard:console:holdings-dry-run", text);
    const page = await operator.get("/ops/holdings/now");
    assert.equal(page.status, 200, text);
    assert.match(page.text, /There was none in the last hour/, text);
  }
  await redis.del("starboard:console:holdings-dry-run");
  await closeRedis(redis);
});

test("a dry run shows what would be removed and which NFT would carry the +5, and writes nothing", async (context) => {
  const before = await written(context.service);
  const text = await dryRun(context);
  assert.match(text, /It would remove <strong>2<\/strong> attributions/);
  assert.match(text, /lower totals by <strong>1<\/strong>/);
  assert.match(text, new RegExp(`A 2</td>[\\s\\S]*?${context.buyer}`));
  assert.match(text, /goes on with B 2/);
  assert.deepEqual(await written(context.service), before);
});

test("a check is never run without the confirmation", async ({ service, operator }) => {
  const before = await written(service);
  const reply = await operator.post("/ops/holdings/run", {});
  assert.equal(reply.status, 400);
  assert.match(reply.text, /A check is run from its own page, after a dry run\./);
  assert.deepEqual(await written(service), before);
});

test("the check removes exactly what the dry run showed, with the evidence on its page", async (context) => {
  const { service, operator, buyer } = context;
  await operator.post("/ops/holdings/run", { confirmed: "yes" });
  await until("the run is done", async () => {
    const [run] = await service.sql`select state from holdings_check_run`;
    return run?.state === "done";
  });
  const removed = await service.sql`
    select collection, serial, weight, spare from claim_release order by collection`;
  assert.deepEqual(
    [...removed],
    [
      { collection: "A", serial: 2, weight: 1, spare: null },
      { collection: "B", serial: 1, weight: 0, spare: 2 },
    ],
  );
  const runs = await operator.get("/ops/holdings");
  const [, path = ""] = /href="(\/ops\/holdings\/runs\/[^"]+)"/.exec(runs.text) ?? [];
  const { text } = await operator.get(path);
  assert.match(text, new RegExp(`It is with ${buyer}; the \\+5 goes on with B 2`));
  const [last, first] = await logOf(service.sql, "holdings.run");
  assert.deepEqual(
    [first?.phase, last?.phase, last?.operator],
    ["started", "done", "environment (Ada)"],
  );
  assert.match(await dryRun(context), /By the dry run nothing would be removed/);
});

test("while the mirror node is away everything is in doubt, and nothing is removed", async (context) => {
  const { service, operator } = context;
  const before = await service.sql`select * from serial_claim order by serial`;
  await service.hedera.close();
  await operator.post("/ops/holdings/dry-run", {});
  await until("the dry run has ended", async () =>
    (await operator.get("/ops/holdings/now")).text.includes("doubt</span>"),
  );
  const settings = {
    ...{ DATABASE_URL: service.databaseUrl, MIRROR_NODE_URL: service.hedera.mirrorUrl },
    ...{ COLLECTION_A_ID: service.collectionA, COLLECTION_B_ID: service.collectionB },
  };
  const inDoubt = await starboard(["holdings-check", "run", "--json"], settings);
  assert.equal(inDoubt.status, 1, inDoubt.stderr);
  assert.ok(inDoubt.json<{ mints: { deferred: unknown[] }[] }>().mints[0]?.deferred.length);
  const [done] = await logOf(service.sql, "holdings.run");
  assert.deepEqual([done?.phase, done?.operator], ["done", userInfo().username]);
  assert.deepEqual(await service.sql`select * from serial_claim order by serial`, before);
});

test.run();
