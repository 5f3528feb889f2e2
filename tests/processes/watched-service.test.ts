/**
 * Goal: what needs a person is in the verdict, on every page and in the metrics within two reports,
 * and is gone after the cure; and what watches the service names metrics that it has. Method: a web
 * process and a worker on real parts that are spoiled together, then cured together.
 */
import * as assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "redis";
import { suite } from "uvu";
import { parseAllDocuments } from "yaml";
import { readSettings } from "../../src/config.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { startWeb } from "../../src/processes/web.ts";
import { WEB_SETTINGS } from "../../src/processes/web-settings.ts";
import { startWorker, WORKER_SETTINGS } from "../../src/processes/worker.ts";
import { createDirectWakeQueue } from "../../src/publishing/queue.ts";
import { contradictionAlarm } from "../../src/upkeep/contradiction-alarm.ts";
import { RUNBOOK, runbookMarkdown } from "../../src/upkeep/runbook.ts";
import type { Verdict } from "../../src/upkeep/service-verdict.ts";
import { CONSOLE, signInOperator, TOKEN } from "../http/console/browser-session.ts";
import { type Network, startNetwork } from "../support/network.ts";
import { cast, newKey, newWallet, send, signIn } from "../support/service.ts";

// timeout: 240 s

const ROOT = join(import.meta.dirname, "../..");
/** Reports come every ten seconds, sweeps every five; the rest is for a slow machine. */
const PATIENCE_MS = 90_000;

interface Context {
  network: Network;
  url: string;
  /** Absent where the service did not start. */
  close?: () => Promise<void>;
}
const test = suite<Context>("a watched service");
test.before(async (context) => {
  const network = await startNetwork();
  const given = { ...(await network.webSettings()), ...CONSOLE };
  const settings = readSettings(given, [...WEB_SETTINGS, ...WORKER_SETTINGS]);
  const metrics = createMetrics({ process: true });
  const queue = createDirectWakeQueue();
  const parts = { log: silentLogger, queueUrl: settings.REDIS_URL, metrics };
  const worker = await startWorker(settings, { ...parts, queue });
  const web = await startWeb(settings, { ...parts, wake: queue.wake });
  Object.assign(context, {
    network,
    url: web.url,
    async close() {
      await Promise.all([web.close(), worker.close()]);
      await queue.close();
      await network.close();
    },
  });
});
test.after((context) => context.close?.());

async function verdictOf(context: Context): Promise<Verdict> {
  return (await send(context, "GET /ops/api/health", { token: TOKEN })).body as Verdict;
}

/** Waits until exactly these checks fail. */
async function untilFailing(context: Context, names: readonly string[]): Promise<Verdict> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const verdict = await verdictOf(context);
    const failing = verdict.checks.filter(({ ok }) => !ok).map(({ name }) => name);
    if (failing.join() === names.join()) return verdict;
    if (performance.now() > endsAt) assert.deepEqual(failing, names, JSON.stringify(verdict));
    await delay(500);
  }
}

async function metricsOf(context: Context): Promise<string> {
  const { status, text } = await send(context, "GET /metrics", { token: TOKEN });
  assert.equal(status, 200);
  return text;
}

/** A key the operator's account does not have, then its own again. */
async function withOtherKey({ hedera, settings }: Network, spoilt: () => Promise<void>) {
  const id = settings.HEDERA_OPERATOR_ID ?? "";
  const { key } = (await (await fetch(`${hedera.mirrorUrl}/api/v1/accounts/${id}`)).json()) as {
    key: { key: string };
  };
  await hedera.ledger.rotateAccountKey(id, newKey("ed25519").publicKey);
  await spoilt();
  // A protobuf `Key` with its ED25519 variant.
  await hedera.ledger.rotateAccountKey(id, Buffer.from(`1220${key.key}`, "hex"));
}

test("each trouble is in the verdict, the banner and the metrics, and gone after its cure", async (context) => {
  const { network } = context;
  const { hedera, settings, topics } = network;
  const voter = await signIn(context, await newWallet(network, { a: 1 }));
  assert.equal((await cast(context, voter, "event/meetup")).status, 201);
  await untilFailing(context, []);

  const redis = createClient({ url: settings.REDIS_URL ?? "" });
  redis.on("error", () => undefined);
  await redis.connect();
  const topic = `/api/v1/topics/${topics.asset}`;
  const open = await (await fetch(hedera.mirrorUrl + topic)).json();
  const { faults } = hedera.mirror;
  await withOtherKey(network, async () => {
    await redis.configSet("maxmemory-policy", "allkeys-lru");
    faults.inject({
      kind: "garbage",
      path: new RegExp(`/accounts/${settings.HEDERA_OPERATOR_ID}\\?`),
      body: `{"account":"${settings.HEDERA_OPERATOR_ID}","deleted":false,"key":null,"balance":{"balance":5}}`,
    });
    faults.inject({
      kind: "garbage",
      path: new RegExp(`/topics/${topics.asset}$`),
      body: JSON.stringify({ ...(open as object), submit_key: null }),
    });
    const then = `${Math.floor(Date.now() / 1_000) - 600}.000000000`;
    faults.inject({
      kind: "garbage",
      path: /\/blocks\?/,
      body: JSON.stringify({ blocks: [{ number: 1, timestamp: { from: then, to: then } }] }),
    });
    await network.sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
      values ('foreign', ${topics.event}, 41, 'transaction unknown')`;
    const refused = await cast(context, voter, "event/hack");
    assert.equal(refused.status, 201, refused.text);
    const names = ["alarms", "findings", "redis", "mirror", "balance"];
    const { checks } = await untilFailing(context, names);
    const of = (name: string) => checks.find((check) => check.name === name)?.message ?? "";
    assert.match(of("alarms"), /configuration/);
    assert.match(of("mirror"), /10 minutes behind/);
    assert.match(of("balance"), /holds 0 HBAR: 0 stars/);
    const metrics = await metricsOf(context);
    const { text: page } = await (await signInOperator(context)).get("/ops");
    for (const name of names) {
      assert.ok(metrics.includes(`starboard_check_failing{check="${name}"} 1`), name);
      assert.ok(page.includes(`href="/ops/alarms#${name}"`), name);
    }
    assert.match(metrics, /starboard_operator_balance_tinybars 5\n/);
  });
  faults.heal();
  await redis.configSet("maxmemory-policy", "noeviction");
  await redis.close();
  await network.sql`update publishing_finding set resolved_at = now_ms() where resolved_at is null`;
  await untilFailing(context, []);
  assert.match(await metricsOf(context), /starboard_check_failing\{check="redis"\} 0/);
});

test("a contradiction of machine and journal raises an alarm", async (context) => {
  const { sql } = context.network;
  const metrics = createMetrics();
  const alarm = contradictionAlarm({
    sql,
    metrics,
    clock: { now: () => Date.now() },
    log: silentLogger,
  });
  alarm.raise(new Error("wallet-day/0.0.1/2026-11-22: slot 3"));
  const verdict = await untilFailing(context, ["alarms"]);
  assert.match(verdict.checks[0]?.message ?? "", /machine-contradiction: wallet-day\/0\.0\.1/);
  await alarm.close();
  await untilFailing(context, []);
});

/** Every file of `deploy/` whose name ends so, as text. */
function deployFiles(ending: string): readonly (readonly [string, string])[] {
  return readdirSync(join(ROOT, "deploy"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => [name, readFileSync(join(ROOT, "deploy", name), "utf8")]);
}

test("every metric of the alerts and the dashboards is one that the service has", async (context) => {
  const names = new Set(
    [...(await metricsOf(context)).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
  );
  const watching = [...deployFiles("alerts.yaml"), ...deployFiles(".json")];
  const named = watching.flatMap(([, text]) => text.match(/starboard_[a-z0-9_]+/g) ?? []);
  assert.ok(named.length > 40);
  const unknown = named.filter(
    (name) => !names.has(name) && !names.has(name.replace(/_(bucket|count|sum)$/, "")),
  );
  assert.deepEqual([...new Set(unknown)], []);
});

test("every alert leads to its entry in the runbook, which is as the source has it", () => {
  const [[, alerts = ""] = []] = deployFiles("alerts.yaml");
  const anchors = [...alerts.matchAll(/runbook_url: docs\/operating\/alarms\.md#(\S+)/g)];
  assert.equal(anchors.length, alerts.match(/- alert: /g)?.length);
  assert.deepEqual(anchors.map(([, anchor]) => anchor).sort(), Object.keys(RUNBOOK).sort());
  const page = readFileSync(join(ROOT, "docs/operating/alarms.md"), "utf8");
  assert.equal(page, runbookMarkdown(), "run `npm run runbook`");
});

test("every file of deploy/ can be read", () => {
  for (const [name, text] of deployFiles(".yaml")) {
    for (const document of parseAllDocuments(text)) assert.deepEqual(document.errors, [], name);
  }
  for (const [name, text] of deployFiles(".json")) assert.ok(JSON.parse(text), name);
});

test.run();
