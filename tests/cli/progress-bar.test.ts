/** The bar that `audit` and `journal recover` show on a terminal, and nowhere else. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { progressBar } from "../../src/cli/progress-bar.ts";

function drawn(columns: number | undefined) {
  const written: string[] = [];
  const bar = progressBar({
    isTTY: true,
    ...(columns && { columns }),
    write: (text) => written.push(text),
  });
  return { bar, written };
}

test("progress without a known end is counted, and never shown as done", () => {
  const { bar, written } = drawn(100);
  bar.show("messages", 1_200, null);
  assert.match(written.join(""), /1,200 messages/);
  assert.doesNotMatch(written.join(""), /%|#/);
});

test("a bar shows the share and both numbers, redraws only what changed, and disappears at the end", () => {
  const { bar, written } = drawn(100);
  bar.show("records", 0, 2_000);
  bar.show("records", 1_000, 2_000);
  bar.show("records", 1_000, 2_000);
  bar.end();
  bar.end();
  assert.deepEqual(written, [
    `\r\u001b[2K[${"-".repeat(40)}] 0 %  0 of 2,000 records`,
    `\r\u001b[2K[${"#".repeat(20)}${"-".repeat(20)}] 50 %  1,000 of 2,000 records`,
    "\r\u001b[2K",
  ]);
});

test("no line is wider than its terminal, however narrow; no records are all records", () => {
  for (const columns of [undefined, 10, 40, 60, 200]) {
    const { bar, written } = drawn(columns);
    bar.show("records", 100_000, 100_000);
    bar.show("records", 0, 0);
    const widest = Math.max(...written.map((text) => text.slice(5).length));
    assert.ok(widest <= Math.max(columns ?? 80, 40), `${columns}: ${widest}`);
    assert.match(written.at(-1) ?? "", /100 %/);
  }
});

test("an output that is no terminal gets no bar", () => {
  const written: string[] = [];
  const bar = progressBar({ write: (text) => written.push(text) });
  bar.show("records", 1, 2);
  bar.end();
  assert.deepEqual(written, []);
});

test.run();
