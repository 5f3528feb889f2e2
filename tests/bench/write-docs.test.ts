import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { atLeast, atMost, goalTable, unjudged } from "./report.ts";
import { draw, drawRivals, withSection } from "./write-docs.ts";

const test = suite("bench figures in docs");

test("a benchmark's section takes the place of its last one and leaves the others alone", () => {
  const first = withSection("# Page\n", "stars", "one");
  const both = withSection(first, "publish", "two");
  const again = withSection(both, "stars", "three");
  assert.equal(
    again,
    "# Page\n\n<!-- bench stars -->\nthree\n<!-- /bench stars -->\n\n<!-- bench publish -->\ntwo\n<!-- /bench publish -->\n",
  );
});

test("bars end where the goal is reached, whichever way it points, and what was not measured has none", () => {
  const spread = (median: number) => ({ median, least: median, most: median });
  const goals = [
    atLeast("half of it & more", 2, spread(1)),
    atMost("half of it", 1, spread(2)),
    atLeast("all of it", 3, spread(3)),
    atLeast("not measured", 1, spread(Number.NaN)),
  ];
  const svg = draw({ name: "stars", goals });
  const widths = [...svg.matchAll(/<rect x="400"[^>]* width="(?<width>[\d.]+)"/g)].map(
    ({ groups }) => Number(groups?.width),
  );
  const [half, otherHalf, whole] = widths;
  assert.equal(widths.length, 3);
  assert.equal(half, otherHalf);
  assert.ok(Math.abs((half ?? 0) * 2 - (whole ?? 0)) < 0.2);
  assert.ok(svg.includes("half of it &amp; more") && !svg.includes("not measured"));
});

test("figures of a small run stand beside the goals and are not judged by them", () => {
  const spread = (median: number) => ({ median, least: median, most: median });
  const goals = [
    atLeast("messages/s", 400, spread(7)),
    atMost("seconds", 600, spread(8)),
    atMost("memory", 100, spread(Number.NaN)),
  ];
  const judgements = (of: typeof goals) =>
    [...goalTable(of).matchAll(/[≥≤] \d+ +[\d–]+ +(.*)$/gm)].map(([, last]) => last);
  assert.deepEqual(judgements(goals), ["MISSED", "met", "not measured"]);
  assert.deepEqual(judgements([...unjudged(goals)]), ["not judged", "not judged", "not measured"]);
});

test("the fastest rival has the longest bar, and ours have another colour", () => {
  const spread = (median: number) => ({ median, least: median, most: median });
  const rival = (name: string, perSecond: number, times: number) => ({
    ...{ name, isOurs: name === "ours", p50Ms: spread(1), cpuUs: spread(1) },
    perSecond: spread(perSecond),
    times: spread(times),
  });
  const svg = drawRivals({ name: "stars", rivals: [rival("ours", 40, 1), rival("a & b", 10, 4)] });
  const bars = [
    ...svg.matchAll(/<rect x="400"[^>]* width="(?<width>[\d.]+)"[^>]* fill="(?<fill>[^"]+)"/g),
  ].map(({ groups }) => groups);
  assert.equal(bars.length, 2);
  assert.equal(Number(bars[0]?.width), 4 * Number(bars[1]?.width));
  assert.notEqual(bars[0]?.fill, bars[1]?.fill);
  assert.ok(svg.includes("a &amp; b") && svg.includes("40/s"));
});

test.run();
