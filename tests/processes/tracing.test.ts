// timeout: 180 s
/**
 * Goal: where `OTEL_*` asks for it, one trace goes from the voter's request to the confirmation on
 * the ledger, across both processes; else nothing is traced, sent or stored. Method: real `serve`
 * and `work` processes, and a collector of the test's own that receives what they send.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { readSettings } from "../../src/config.ts";
import { isTraced } from "../../src/processes/start-tracing.ts";
import { CONSOLE, signInOperator } from "../http/console/browser-session.ts";
import { type Network, startNetwork } from "../support/network.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
import { cast, newWallet, signIn } from "../support/service.ts";
import { setUp } from "../support/set-up.ts";
import { startTraceCollector, type TraceCollector } from "../support/trace-collector.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const SAMPLED = `00-${TRACE}-${CALLER}-01`;
const UNSAMPLED = "00-11111111111111111111111111111111-2222222222222222-00";

let network: Network;
let collector: TraceCollector;
test.before(
  setUp(async () => {
    [network, collector] = await Promise.all([startNetwork(), startTraceCollector()]);
  }),
);
test.after(async () => {
  await network?.close();
  await collector?.close();
});

/** Runs a web process and a worker; stops them in order, so that what they recorded is sent. */
async function serving(
  settings: Readonly<Record<string, string>>,
  work: (url: string, token: string) => Promise<void>,
): Promise<{ readonly web: Child; readonly worker: Child }> {
  const own = { ...settings, ...CONSOLE, LOG_LEVEL: "info" };
  const webSettings = { ...(await network.webSettings()), ...own };
  const url = `http://127.0.0.1:${webSettings.PORT}`;
  const web = startProcess("serve", webSettings);
  const worker = startProcess("work", { ...network.settings, ...own });
  await until("the web process is up", () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const wallet = await newWallet(network, { a: 2, b: 1 });
  await work(url, await signIn({ url }, wallet));
  assert.deepEqual([await web.stop(), await worker.stop()], [0, 0]);
  return { web, worker };
}

async function published(id: string): Promise<{ readonly traceparent: string | null }> {
  let row: { state?: string; traceparent?: string | null } | undefined;
  await until("the star is published", async () => {
    [row] = await network.sql`select state, traceparent from outbox where star_id = ${id}`;
    return row?.state === "published";
  });
  return { traceparent: row?.traceparent ?? null };
}

test("one trace from the voter's request to the confirmation, over both processes", async () => {
  let star = "";
  const { web } = await serving(
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    async (url, token) => {
      const given = await cast({ url }, token, "token/0.0.9001", { traceparent: SAMPLED });
      assert.equal(given.status, 201, given.text);
      star = given.body.star.id;
      const { traceparent } = await published(star);
      assert.ok(traceparent?.startsWith(`00-${TRACE}-`), String(traceparent));
      const operator = await signInOperator({ url });
      assert.ok((await operator.get(`/ops/stars/${star}`)).text.includes(TRACE));
      // The caller does not record: neither do we, and nothing is stored.
      const quiet = await cast({ url }, token, "event/meetup", { traceparent: UNSAMPLED });
      assert.equal(quiet.status, 201, quiet.text);
      assert.equal((await published(quiet.body.star.id)).traceparent, null);
    },
  );
  const spans = collector.spans.filter(({ traceId }) => traceId === TRACE);
  const named = (name: string) => {
    const found = spans.filter((span) => span.name === name);
    assert.ok(found.length > 0, `no span ${name} among ${spans.map((span) => span.name)}`);
    return found as [(typeof found)[0], ...typeof found];
  };
  const [request] = named("POST /voting/stars");
  assert.equal(request.parentSpanId, CALLER);
  assert.deepEqual(
    [request.service, request.attributes["http.response.status_code"]],
    ["starboard-web", 201],
  );
  const [commit] = named("commit");
  const [turn] = named("turn");
  const [holdings] = named("holdings");
  const [publish] = named("publish");
  const [confirmation] = named("confirmation");
  const parents = { admission: request, holdings: request, turn: request, commit: turn };
  for (const [name, parent] of Object.entries(parents)) {
    assert.equal(named(name)[0].parentSpanId, parent.spanId, name);
  }
  const readings = spans.filter(({ parentSpanId }) => parentSpanId === holdings.spanId);
  assert.deepEqual(
    readings.map(({ name, attributes }) => [name, attributes["url.template"]]),
    [
      ["mirror request", "/accounts/:id/nfts"],
      ["mirror request", "/accounts/:id/nfts"],
    ],
  );
  assert.deepEqual(
    [publish.parentSpanId, publish.service, publish.attributes["starboard.star"]],
    [commit.spanId, "starboard-worker", star],
  );
  assert.equal(named("consensus send")[0].parentSpanId, publish.spanId);
  assert.equal(named("consensus receipt")[0].parentSpanId, publish.spanId);
  assert.deepEqual(
    [confirmation.parentSpanId, confirmation.attributes["starboard.star"]],
    [commit.spanId, star],
  );
  assert.equal(
    collector.spans.some(({ traceId }) => UNSAMPLED.includes(traceId)),
    false,
  );
  const lines = web
    .log()
    .split("\n")
    .filter((line) => line.includes('"/voting/stars"'));
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).traceId),
    [TRACE, undefined],
  );
});

test("traces are asked for by an address or an exporter, and by nothing else", () => {
  const asked: readonly (readonly [boolean, Record<string, string>])[] = [
    [false, {}],
    [false, { OTEL_SERVICE_NAME: "directory" }],
    [true, { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }],
    [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/v1/traces" }],
    [true, { OTEL_TRACES_EXPORTER: "otlp" }],
    [false, { OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }],
    [false, { OTEL_SDK_DISABLED: "TRUE", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }],
    [true, { OTEL_SDK_DISABLED: "1", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }],
  ];
  for (const [isOn, environment] of asked) {
    assert.equal(isTraced(readSettings(environment)), isOn, JSON.stringify(environment));
  }
});

test("switched off: nothing is sent, stored or said, whatever the caller names", async () => {
  const before = collector.spans.length;
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: "true" };
  const { web, worker } = await serving(settings, async (url, token) => {
    const given = await cast({ url }, token, "token/0.0.9001", { traceparent: SAMPLED });
    assert.equal(given.status, 201, given.text);
    assert.equal((await published(given.body.star.id)).traceparent, null);
  });
  assert.ok(!`${web.log()}${worker.log()}`.includes("traceId"));
  assert.equal(collector.spans.length, before);
});

test.run();
