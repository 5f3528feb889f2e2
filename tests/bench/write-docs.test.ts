import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { atLeast, atMost } from "./report.ts";
import { draw, withSection } from "./write-docs.ts";

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
  const svg = draw({ name: "stars", machine: "", command: "", goals });
  const widths = [...svg.matchAll(/<rect x="400"[^>]* width="(?<width>[\d.]+)"/g)].map(
    ({ groups }) => Number(groups?.width),
  );
  const [half, otherHalf, whole] = widths;
  assert.equal(widths.length, 3);
  assert.equal(half, otherHalf);
  assert.ok(Math.abs((half ?? 0) * 2 - (whole ?? 0)) < 0.2);
  assert.ok(svg.includes("half of it &amp; more") && !svg.includes("not measured"));
});

test.run();
