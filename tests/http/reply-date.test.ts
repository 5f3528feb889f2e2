/** Replies are dated by the service's clock, whichever way they take, and not by this machine's. */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import { test } from "uvu";
import { createApp } from "../../src/http/app.ts";
import { type FindAnswer, fastPath } from "../../src/http/fast-path/fast-path.ts";
import { serveHttp } from "../../src/http/serve.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";

const MIDNIGHT = Date.parse("2027-03-10T00:00:00.000Z");

test("the Date of every reply is the given clock's, and goes with it", async () => {
  let at = MIDNIGHT - 1;
  const part = new Hono()
    .get("/fast", (c) => c.text("fast"))
    .get("/wrong", () => {
      throw new Error("on purpose");
    });
  const ready = { status: 200, headers: [], bytes: Buffer.from("{}"), keyId: "key" } as const;
  const find: FindAnswer = ({ target }) =>
    target === "/kept" ? Promise.resolve({ ...ready, path: "/kept" }) : undefined;
  const common = { log: silentLogger, metrics: createMetrics(), now: () => at };
  const app = createApp({ ...common, mounts: [{ path: "/", app: part }] });
  const server = await serveHttp(app, {
    host: "127.0.0.1",
    port: 0,
    fastPath: fastPath(find, common),
  });
  const dates = async (): Promise<ReadonlySet<string | null>> => {
    const replies = ["/fast", "/kept", "/wrong", "/nowhere"].map((path) =>
      fetch(server.url + path),
    );
    return new Set((await Promise.all(replies)).map(({ headers }) => headers.get("date")));
  };
  assert.deepEqual(await dates(), new Set(["Tue, 09 Mar 2027 23:59:59 GMT"]));
  at = MIDNIGHT;
  assert.deepEqual(await dates(), new Set(["Wed, 10 Mar 2027 00:00:00 GMT"]));
  await server.close(1_000);
});

test.run();
