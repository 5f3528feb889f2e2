/** Goal: a client that asks for too many pages gets Retry-After, and operators see it. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { send, startService } from "../../support/service.ts";

const OPERATOR_TOKEN = "operator-token-of-the-limit-test";

test("a page beyond the limit is refused in words, with a time, and counted", async () => {
  const service = await startService({ VOTING_RATE_LIMIT: "2", OPERATOR_TOKEN });
  const page = () => send(service, "GET /no-such-page", { headers: { accept: "text/html" } });
  assert.equal((await page()).status, 404);
  assert.equal((await page()).status, 404);
  const { status, headers, text } = await page();
  assert.equal(status, 429);
  assert.match(text, /<html/);
  // A refused visitor may be signed in: the session was not looked at.
  assert.doesNotMatch(text, /Sign in/);
  const seconds = Number(headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  const metrics = await send(service, "GET /metrics", { token: OPERATOR_TOKEN });
  assert.match(metrics.text, /starboard_http_rate_limited_total\{limit="pages",[^}]*\} 1$/m);
  await service.close();
});

test.run();
