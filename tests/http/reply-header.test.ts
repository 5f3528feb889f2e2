/** Headers that go straight to Node's reply: what happens when it is already sent. */
import * as assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { Hono } from "hono";
import { pino } from "pino";
import { test } from "uvu";
import { RetryableError } from "../../src/errors.ts";
import { createApp } from "../../src/http/app.ts";
import { problem } from "../../src/http/problem.ts";
import { serveHttp } from "../../src/http/serve.ts";
import { createMetrics } from "../../src/metrics.ts";
import { bodyOf } from "./v1/house.ts";

test("a refusal that comes after the deadline has answered is no fault of ours", async () => {
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  let refuse = (): void => undefined;
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  let end: Promise<unknown> = Promise.resolve();
  const part = new Hono()
    .use(async (_, next) => {
      end = next();
      await wait(1);
      throw new RetryableError("UNAVAILABLE", "the answer took too long");
    })
    .get("/", async (c) => {
      await refused;
      return problem(c, "ALREADY_STARRED");
    });
  const metrics = createMetrics();
  const app = createApp({ log, metrics, mounts: [{ path: "/late", app: part }] });
  const server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  const reply = await fetch(`${server.url}/late`);
  assert.deepEqual([reply.status, (await bodyOf(reply)).code], [503, "UNAVAILABLE"]);
  refuse();
  await end;
  await server.close(1_000);
  assert.deepEqual(lines, []);
});

test.run();
