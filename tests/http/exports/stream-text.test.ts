/**
 * Goal: a reader that leaves is reported once, and as what it is. Method: streams over sources that
 * the test makes wait, left at each point at which a reader can leave.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { streamText } from "../../../src/http/exports/stream-text.ts";

/** Ends of a stream, as they were reported. */
function recordEnds() {
  const ends: (string | undefined)[] = [];
  return { ends, onEnd: (error?: Error) => void ends.push(error?.message) };
}

/** Two pieces; the test decides when the second one comes or fails. */
function slowSource() {
  let settle: { resolve(piece: string): void; reject(error: Error): void } | undefined;
  const made = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  async function* pieces(): AsyncGenerator<string> {
    yield "one";
    yield await made;
  }
  return {
    pieces: pieces(),
    comes: () => settle?.resolve("two"),
    fails: () => settle?.reject(new Error("the source failed")),
  };
}

for (const isGzip of [false, true]) {
  const how = isGzip ? "compressed" : "plain";

  test(`a reader that reads everything ends a stream once, ${how}`, async () => {
    const { pieces, comes } = slowSource();
    comes();
    const { ends, onEnd } = recordEnds();
    await new Response(await streamText(pieces, { isGzip, onEnd })).arrayBuffer();
    assert.deepEqual(ends, [undefined]);
  });

  for (const lastly of ["comes", "fails"] as const) {
    test(`leaving while the next piece is made ends it once; the piece ${lastly} (${how})`, async () => {
      const source = slowSource();
      const { ends, onEnd } = recordEnds();
      const reader = (await streamText(source.pieces, { isGzip, onEnd })).getReader();
      if (!isGzip) await reader.read();
      const waiting = reader.read().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const left = reader.cancel().catch(() => undefined);
      source[lastly]();
      await Promise.all([waiting, left]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      // Compression notices a failing source before it notices a leaving reader.
      const isFailure = isGzip && lastly === "fails";
      assert.deepEqual(ends, [isFailure ? "the source failed" : undefined]);
    });
  }
}

test("a source that fails is reported once, and ends the stream", async () => {
  const { pieces, fails } = slowSource();
  const { ends, onEnd } = recordEnds();
  const reader = (await streamText(pieces, { isGzip: false, onEnd })).getReader();
  await reader.read();
  fails();
  await assert.rejects(reader.read(), /the source failed/);
  await reader.cancel().catch(() => undefined);
  assert.deepEqual(ends, ["the source failed"]);
});

test.run();
