// timeout: 240 s
/**
 * Goal: what watches the service names metrics that it has and entries of the runbook that are
 * there, and a contradiction of machine and journal is an alarm. Method: a web process and a worker
 * on real parts, held against the files of `deploy/`. The other alarms: `troubles.test.ts`.
 */
import * as assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import { parseAllDocuments } from "yaml";
import { silentLogger } from "../../src/log.ts";
import { watchJournal } from "../../src/publishing/journal-watch.ts";
import { RUNBOOK } from "../../src/upkeep/runbook.ts";
import { readVerdict } from "../../src/upkeep/service-verdict.ts";
import { setUp } from "../support/set-up.ts";
import { startWatchedService, type WatchedService } from "../support/watched-service.ts";

const ROOT = join(import.meta.dirname, "../..");

interface Context {
  service: WatchedService;
}
const test = suite<Context>("a watched service");
test.before(
  setUp(async (context) => {
    context.service = await startWatchedService();
  }),
);
test.after(({ service }) => service?.close());

test("a contradiction of machine and journal raises an alarm", async ({ service }) => {
  const { sql } = service.network;
  // Without topics it asks no mirror node.
  const mirror = {} as never;
  const alarm = watchJournal({ sql, mirror, topics: [], payer: undefined, log: silentLogger });
  alarm.contradicted(new Error("wallet-day/0.0.1/2026-11-22: slot 3"));
  const says = /machine-contradiction: wallet-day\/0\.0\.1/;
  await service.untilFailing([{ check: "alarms", says }]);
  await alarm.close();
  await service.untilWell();
});

/** Every file of `deploy/` whose name ends so, as text. */
function deployFiles(ending: string): readonly (readonly [string, string])[] {
  return readdirSync(join(ROOT, "deploy"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => [name, readFileSync(join(ROOT, "deploy", name), "utf8")]);
}

test("every metric of the alerts and the dashboards is one that the service has", async ({
  service,
}) => {
  const names = new Set(
    [...(await service.metrics()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
  );
  const watching = [...deployFiles("alerts.yaml"), ...deployFiles(".json")];
  const named = watching.flatMap(([, text]) => text.match(/starboard_[a-z0-9_]+/g) ?? []);
  assert.ok(named.length > 40);
  const unknown = named.filter(
    (name) => !names.has(name) && !names.has(name.replace(/_(bucket|count|sum)$/, "")),
  );
  assert.deepEqual([...new Set(unknown)], []);
});

test("every alert and check leads to its entry in the runbook, of which the service reads each", async ({
  service,
}) => {
  const [[, alerts = ""] = []] = deployFiles("alerts.yaml");
  const anchors = [...alerts.matchAll(/runbook_url: docs\/operating\/alarms\.md#(\S+)/g)];
  assert.equal(anchors.length, alerts.match(/- alert: /g)?.length);
  assert.deepEqual(anchors.map(([, anchor]) => anchor).sort(), [...RUNBOOK.keys()].sort());
  // A process that is gone is no target any more, and a series that is not there is never above 0.
  assert.match(alerts, /#gone$/m);
  assert.match(alerts, /absent\(up\{job="starboard"\} == 1\) or absent\(starboard_check_failing\)/);
  const page = readFileSync(join(ROOT, "docs/operating/alarms.md"), "utf8");
  assert.equal(RUNBOOK.size, page.match(/^## /gm)?.length);
  // Whole steps, those that are broken over lines too, without Markdown's marks.
  const steps = [...RUNBOOK.values()].flatMap(({ todo }) => todo);
  assert.equal(steps.length, page.match(/^\d+\. /gm)?.length);
  assert.deepEqual(
    steps.filter((step) => !/^[^`]+[.:?]$/.test(step)),
    [],
  );
  const { checks } = await readVerdict(service.network.sql);
  assert.equal(checks.length, 11);
  for (const { name } of checks) assert.ok(RUNBOOK.has(name), name);
});

test("every file of deploy/ can be read", () => {
  for (const [name, text] of deployFiles(".yaml")) {
    for (const document of parseAllDocuments(text)) assert.deepEqual(document.errors, [], name);
  }
  for (const [name, text] of deployFiles(".json")) assert.ok(JSON.parse(text), name);
});

test.run();
