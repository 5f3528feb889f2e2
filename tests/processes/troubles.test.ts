// timeout: 240 s
/**
 * Goal: each trouble that needs a person is in the verdict, on the console's pages, in the metrics
 * and in the alerts, each with its entry in the runbook, and gone after its cure. Method: a web
 * process and a worker on real parts; the troubles of the table come together, and go together.
 */
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import { parse } from "yaml";
import { signInOperator } from "../http/console/browser-session.ts";
import { cast } from "../support/service.ts";
import { openScene, type Scene, TROUBLES } from "../support/service-troubles.ts";
import { setUp } from "../support/set-up.ts";

const test = suite<Scene>("troubles");
test.before(
  setUp(async (context) => {
    Object.assign(context, await openScene());
  }),
);
test.after((context) => context.close?.());

/** The checks that an alert watches, with the entry of the runbook that each leads to. */
function alerts(): ReadonlyMap<string, string> {
  const file = join(import.meta.dirname, "../../deploy/prometheus/alerts.yaml");
  const { groups } = parse(readFileSync(file, "utf8")) as {
    groups: { rules: { expr: string; annotations: { runbook_url: string } }[] }[];
  };
  return new Map(
    groups.flatMap(({ rules }) =>
      rules.map(({ expr, annotations }): [string, string] => [
        /starboard_check_failing\{check="(.+?)"\}/.exec(expr)?.[1] ?? "",
        annotations.runbook_url,
      ]),
    ),
  );
}

test("each trouble shows at every place, and clears after its cure", async (scene) => {
  const { service, voter } = scene;
  assert.equal((await cast(service, voter, "event/meetup")).status, 201);
  await service.untilWell();

  for (const { happen } of TROUBLES) await happen(scene);
  const lineOf = (verdict: Awaited<ReturnType<typeof service.verdict>>, check: string) =>
    verdict.checks.find(({ name }) => name === check);
  const verdict = await service.untilFailing(TROUBLES);
  const metrics = await service.metrics();
  const operator = await signInOperator(service);
  const pages = await Promise.all(["/ops", "/ops/stars"].map((path) => operator.get(path)));
  const runbook = (await operator.get("/ops/alarms")).text;
  for (const { name, check } of TROUBLES) {
    const { since, meanwhile, fix, runbook: path } = lineOf(verdict, check) ?? {};
    assert.ok(since && meanwhile && fix, name);
    assert.equal(path, `docs/operating/alarms.md#${check}`);
    assert.equal(alerts().get(check), path, name);
    for (const { text } of pages) {
      assert.ok(text.includes(`<strong>${check}</strong>`), name);
      assert.ok(text.includes(`href="/ops/alarms#${check}"`), name);
    }
    assert.ok(runbook.includes(`<div id="${check}">`), name);
    assert.ok(metrics.includes(`starboard_check_failing{check="${check}"} 1`), name);
  }
  assert.match(metrics, /starboard_operator_balance_tinybars 5\n/);

  for (const { cure } of TROUBLES.toReversed()) await cure(scene);
  await service.untilWell();
  const after = await service.metrics();
  for (const { check, name } of TROUBLES) {
    assert.ok(after.includes(`starboard_check_failing{check="${check}"} 0`), name);
  }
  assert.ok(!(await operator.get("/ops")).text.includes("data-verdict"));
});

test.run();
