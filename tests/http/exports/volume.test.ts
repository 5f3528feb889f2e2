/**
 * Goal: a large day costs no more memory than a small one, and a reader who does not read holds
 * nothing up. Method: 10,000 stars, read piece by piece and over sockets that stand still.
 */
import * as assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { suite } from "uvu";
import { DAY_MS } from "../../../actors/day.ts";
import { serveHttp } from "../../../src/http/serve.ts";
import { finalizeDueDays } from "../../../src/upkeep/finalize-exports.ts";
import { verdictOf } from "../../support/engine.ts";
import { appOf, type ExportRig, ofKind, startExportRig } from "../../support/export-rig.ts";
import { seedDay } from "../../support/export-seed.ts";
import { until } from "../../support/processes.ts";

const STARS = 10_000;
const MIB = 1024 * 1024;
/** A page of stars and what the garbage collector has not seen yet. */
const GROWTH_MAX = 12 * MIB;
const SOCKETS = 20;
const HELD_MAX = SOCKETS * 2 * MIB;
/** A reader may stand still for as long as a busy machine takes for a test. */
const PATIENT = { bytes: 1, withinMs: 600_000 };

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes in use after a full collection. */
function used(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const test = suite<{ rig: ExportRig }>();
test.before(async (context) => {
  const rig = await startExportRig();
  context.rig = rig;
  await seedDay(rig.owner, rig.day(1), STARS);
  await rig.setClock(2, DAY_MS / 2);
});
test.after(({ rig }) => rig.close());

test("10,000 stars become final and are streamed with flat memory", async ({ rig }) => {
  await finalizeDueDays(rig.upkeep);
  const reply = await rig.app().request(`/exports/${rig.day(1)}`);
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
  let [bytes, pieces, largest, last] = [0, 0, 0, ""];
  const before = used();
  let peak = before;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    pieces += 1;
    largest = Math.max(largest, value.length);
    if (pieces % 10 === 0) peak = Math.max(peak, used());
    last = Buffer.from(value).toString().trimEnd().split("\n").at(-1) ?? "";
  }
  assert.ok(bytes > STARS * 500, `${bytes} bytes`);
  assert.ok(pieces >= STARS / 250, `${pieces} pieces`);
  assert.ok(largest < MIB, `${largest} bytes at once`);
  assert.ok(peak - before < GROWTH_MAX, `grew by ${peak - before} bytes of ${bytes}`);
  const [footer] = ofKind(`${last}\n`, "footer");
  assert.deepEqual([footer?.stars, footer?.weight, footer?.final], [STARS, STARS * 3, true]);
  const [row] = await rig.owner`select bytes from export_day`;
  assert.equal(row?.bytes, bytes);
});

test("readers that read nothing hold no statement, no memory and delay no vote", async ({
  rig,
}) => {
  const app = appOf(rig.sql, 1_000_000, crowd(), { leastRate: PATIENT });
  const server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  const before = used();
  const sockets = await Promise.all(
    Array.from({ length: SOCKETS }, () => stalled(server.url, `/exports/${rig.day(1)}`)),
  );
  await quiet(rig);
  // The pages that were on their way come to rest in the sockets' own buffers first.
  let held = used() - before;
  for (let wait = 0; wait < 50 && held >= HELD_MAX; wait += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    held = used() - before;
  }
  assert.ok(held < HELD_MAX, `${held} bytes for ${SOCKETS}`);
  // A page may be read a moment later still; a statement that is held never ends.
  await until("no transaction is open", async () => {
    const [open] = await rig.owner`
      select count(*) as transactions from pg_stat_activity
      where datname = current_database() and xact_start is not null
        and backend_type = 'client backend' and pid <> pg_backend_pid()`;
    return open?.transactions === 0;
  });
  assert.equal(verdictOf(await rig.engine.cast("0.0.77001", "token/0.0.9001")), "accepted");
  // One that goes away leaves its place to others; one that reads on gets all of it.
  for (const socket of sockets.slice(1)) socket.destroy();
  const text = await rest(sockets[0] as Socket);
  assert.match(text, /"kind":"footer".*"final":true/);
  await server.close(1_000);
});

test("a reader that reads nothing is cut, and another client gets its stream", async ({ rig }) => {
  const leastRate = { bytes: 64 * 1024, withinMs: 2_000 };
  const app = appOf(rig.sql, 1_000_000, undefined, { leastRate });
  const server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  const sockets: Socket[] = [];
  const ask = async (): Promise<number> => {
    const headers = { range: "bytes=0-0" };
    const reply = await fetch(`${server.url}/exports/${rig.day(1)}`, { headers });
    await reply.text();
    return reply.status;
  };
  try {
    // A machine that opens them slower than they are cut opens four more.
    await until("all places are taken", async () => {
      const more = Array.from({ length: 4 }, () => stalled(server.url, `/exports/${rig.day(1)}`));
      sockets.push(...(await Promise.all(more)));
      return (await ask()) === 429;
    });
    await until("a place is free", async () => (await ask()) === 206);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.close(1_000);
  }
});

test("exports behind another reply of their connection hold no place until their turn; four may wait", async ({
  rig,
}) => {
  const app = appOf(rig.sql, 1_000_000, undefined, { leastRate: PATIENT });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  app.get("/slow", async (c) => {
    await released;
    return c.text("slow");
  });
  const server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  const { hostname, port } = new URL(server.url);
  const path = `/exports/${rig.day(1)}`;
  const pipeline = (): Socket => {
    const socket = connect(Number(port), hostname);
    socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    // More of each than the buffers of a reply hold.
    for (const connection of [...Array(4).fill("keep-alive"), "close"])
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nRange: bytes=0-999999\r\nConnection: ${connection}\r\n\r\n`,
      );
    return socket;
  };
  // One that leaves before its turn keeps none from the next.
  const leaver = pipeline();
  await quiet(rig);
  leaver.destroy();
  await quiet(rig);
  const socket = pipeline();
  await quiet(rig);
  const other = await fetch(`${server.url}${path}`, { headers: { range: "bytes=0-0" } });
  assert.equal(other.status, 206);
  await other.text();
  release();
  let replies = "";
  for await (const chunk of socket) replies += chunk;
  const statuses = [...replies.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
  // Which of the five is refused, the database's answers decide.
  assert.deepEqual(statuses.sort(), ["200", "206", "206", "206", "206", "429"]);
  await server.close(1_000);
});

test("streams beyond the bound are refused with Retry-After", async ({ rig }) => {
  const app = appOf(rig.sql, 1_000_000, crowd());
  const open: Response[] = [];
  for (let n = 0; n < 32; n += 1) open.push(await app.request(`/exports/${rig.day(1)}`));
  const refused = await app.request(`/exports/${rig.day(1)}`);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  await Promise.all(open.map((reply) => reply.body?.cancel()));
  const again = await app.request(`/exports/${rig.day(1)}`);
  assert.equal(again.status, 200);
  await again.body?.cancel();
});

/** Each request comes from another client: one alone may not hold so many streams. */
function crowd(): () => string {
  let clients = 0;
  return () => `client ${clients++}`;
}

/** Asks, sees the beginning of the reply, and reads no further. */
function stalled(url: string, path: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once("error", reject);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    socket.once("readable", () => {
      socket.off("error", reject);
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}

/** Waits until the exporting connections have been idle for a while. */
async function quiet(rig: ExportRig): Promise<void> {
  for (let calm = 0; calm < 5; ) {
    const [row] = await rig.owner`
      select count(*) as busy from pg_stat_activity
      where datname = current_database() and state = 'active'
        and backend_type = 'client backend' and pid <> pg_backend_pid()`;
    calm = row?.busy === 0 ? calm + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function rest(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text = (text + chunk).slice(-2_000);
  return text;
}

test.run();
