import * as assert from "node:assert/strict";
import { test } from "uvu";
import { loadOnce } from "../src/load-once.ts";

test("all calls share one load; one that failed is done again by the next call", async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    loads += 1;
    if (loads === 1) throw new Error("not yet");
    return loads;
  });
  const first = await Promise.allSettled([load(), load()]);
  assert.deepEqual(
    first.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.deepEqual(await Promise.all([load(), load()]), [2, 2]);
  assert.equal(await load(), 2);
});

test.run();
