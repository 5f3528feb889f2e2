/** What the flag does, set from within: most of the heap while objects live just long enough to become old. */
import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "uvu";
import { NODE_FLAGS, scriptOf } from "../support/script.ts";

const MODULE = scriptOf(new URL("../../src/processes/slow-heap-growth.ts", import.meta.url));

/** @returns bytes of heap at most, of about 40 MB in use */
function peakAfter(begin: string): number {
  const script = `
    import { getHeapStatistics } from "node:v8";
    import { growHeapSlowly } from ${JSON.stringify(MODULE)};
    ${begin}
    const inHand = new Array(400_000);
    let peak = 0;
    for (let n = 0; n < 6_000_000; n += 1) {
      inHand[n % inHand.length] = { n, some: [n, n + 1] };
      if (n % 20_000 !== 0) continue;
      await new Promise(setImmediate);
      if (n > 2_000_000) peak = Math.max(peak, getHeapStatistics().used_heap_size);
    }
    console.log(peak);`;
  // With little memory V8 is thrifty by itself.
  const flags = ["--max-old-space-size=4096", ...NODE_FLAGS, "--input-type=module"];
  return Number(execFileSync(process.execPath, [...flags, "-e", script], { encoding: "utf8" }));
}

test("a process that grows its heap slowly stays near what it uses", () => {
  const [slow, free] = [peakAfter("growHeapSlowly();"), peakAfter("void growHeapSlowly;")];
  assert.ok(slow < 0.7 * free, `${slow} bytes at most, ${free} without`);
});

test.run();
