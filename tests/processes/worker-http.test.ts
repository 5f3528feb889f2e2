/**
 * Goal: a worker with a port of its own serves its health there, its metrics to the operator,
 * and nothing else. Method: a real `work` process beside a real ledger; a star is published, a
 * message of a stranger is put on the topic, and both are seen from outside. Where the port is
 * taken, nothing that has started goes on.
 */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { test } from "uvu";
import { readSettings } from "../../src/config.ts";
import { freePort } from "../../src/local/free-port.ts";
import { silentLogger } from "../../src/log.ts";
import { startWorker, WORKER_SETTINGS } from "../../src/processes/worker.ts";
import { createDirectWakeQueue } from "../../src/publishing/queue.ts";
import { boxStar } from "../publishing/rig.ts";
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";

const TOKEN = "operator-token-of-this-test";

/** Of another address than ours, so that none of these stands in the way of the test's own requests. */
function silentSocket(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  return socket.on("error", () => undefined).resume();
}

test("healthz, readyz and metrics of a worker", async () => {
  const network = await startNetwork();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const worker = startProcess(["work", "--json"], {
    ...network.settings,
    WORKER_PORT: String(port),
    OPERATOR_TOKEN: TOKEN,
  });
  const get = (path: string, token = TOKEN) =>
    fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  await until("the worker is up", () =>
    get("/healthz").then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  await until("it says where it answers", () => worker.said().endsWith("\n"));
  assert.deepEqual(JSON.parse(worker.said()), { url });
  await until("it is ready", async () => {
    const ready = await get("/readyz");
    const { dependencies } = (await ready.json()) as { dependencies: unknown };
    // On a busy machine Postgres may not answer a probe in time.
    return ready.status === 200 && isDeepStrictEqual(dependencies, { postgres: "ok" });
  });
  assert.equal((await get("/metrics", "wrong-token-wrong-token")).status, 401);
  assert.equal((await get("/v1")).status, 404);

  await boxStar(network.sql, "event", Date.now());
  const metric = async (line: RegExp): Promise<number> => {
    const text = await (await get("/metrics")).text();
    return Number(line.exec(text)?.[1] ?? Number.NaN);
  };
  await until(
    "the star is counted",
    async () => (await metric(/^starboard_published_total\{topic="event"\} (\d+)$/m)) === 1,
  );
  assert.equal(await metric(/^starboard_publish_lag_seconds_count (\d+)$/m), 1);
  assert.equal(await metric(/^starboard_confirm_lag_seconds_count (\d+)$/m), 1);
  assert.equal(
    await metric(/^starboard_publishing_attempts_total\{outcome="published"\} (\d+)$/m),
    1,
  );
  await until(
    "none is pending",
    async () => (await metric(/^starboard_publishing_pending (\d+)$/m)) === 0,
  );
  assert.equal(await metric(/^starboard_publishing_oldest_pending_seconds (\d+)$/m), 0);
  assert.ok((await metric(/^starboard_process_resident_memory_bytes (\d+)$/m)) > 0);
  const held = Array.from({ length: 256 }, () => silentSocket(port));
  await Promise.all(held.map((socket) => once(socket, "connect")));
  const more = silentSocket(port);
  await until("a socket beyond those of one address is closed", () => more.closed);
  // Those before it, which are silent too, are closed for that later.
  assert.ok(held.every(({ closed }) => !closed));
  for (const socket of held) socket.destroy();

  assert.equal(await worker.stop(), 0, worker.log());
  await network.close();
});

test("a worker whose port is taken closes all that it has started", async () => {
  const network = await startNetwork();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const url = new URL(network.settings.DATABASE_URL ?? "");
  url.searchParams.set("application_name", "port-is-taken");
  const settings = readSettings(
    { ...network.settings, DATABASE_URL: url.href, WORKER_PORT: String(port) },
    WORKER_SETTINGS,
  );
  const queue = createDirectWakeQueue();
  const starting = startWorker(settings, { log: silentLogger, queue, queueUrl: undefined });
  await assert.rejects(starting, { code: "EADDRINUSE" });
  await until("its connections are closed", async () => {
    const [row] = await network.sql<[{ open: number }]>`
      select count(*)::int as open from pg_stat_activity where application_name = 'port-is-taken'`;
    return row.open === 0;
  });
  taken.close();
  await network.close();
});

test.run();
