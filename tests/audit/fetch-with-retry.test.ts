/**
 * Goal: an audit survives a rate limit and a restart of the service it asks, and reads no more of a
 * reply than its limit allows. Method: a server that gives the answers of each test.
 */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import { fetchWithRetry, jsonOf } from "../../src/audit/fetch-with-retry.ts";

const OK: RequestListener = (_request, response) => void response.end('{"days":[]}');

async function serve(listener: RequestListener, port = 0) {
  const server = createServer(listener);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}/exports`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Gives these answers one after the other, then succeeds. */
function inSequence(...refusals: readonly ((response: ServerResponse) => void)[]) {
  const asked: number[] = [];
  const listener: RequestListener = (request, response) => {
    const refuse = refusals[asked.length];
    asked.push(performance.now());
    if (refuse === undefined) OK(request, response);
    else refuse(response);
  };
  return { asked, listener };
}

const refuse = (status: number, headers: Record<string, string> = {}) => {
  return (response: ServerResponse) => void response.writeHead(status, headers).end("busy");
};

test("a gateway's refusal during a restart is retried, with and without Retry-After", async () => {
  const { asked, listener } = inSequence(
    refuse(502),
    refuse(503),
    refuse(429, { "retry-after": new Date(Date.now() + 3_000).toUTCString() }),
  );
  const server = await serve(listener);
  assert.deepEqual(await jsonOf(await fetchWithRetry(server.url)), { days: [] });
  assert.equal(asked.length, 4);
  await server.close();
});

test("a service that is not up yet is asked again", async () => {
  const before = await serve(OK);
  await before.close();
  const reply = fetchWithRetry(before.url);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const after = await serve(OK, before.port);
  assert.deepEqual(await jsonOf(await reply), { days: [] });
  await after.close();
});

test("a permanent failure is reported at once, in one line", async () => {
  const { asked, listener } = inSequence(refuse(404), refuse(429, { "retry-after": "86400" }));
  const server = await serve(listener);
  await assert.rejects(fetchWithRetry(server.url), /^Error: \/exports: HTTP 404 busy$/);
  await assert.rejects(fetchWithRetry(server.url), /^Error: \/exports: HTTP 429 busy$/);
  assert.equal(asked.length, 2);
  await server.close();
});

for (const status of [200, 500]) {
  test(`an endless reply ${status} is not read to its end`, async () => {
    let hungUp = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const server = await serve((_request, response) => {
      response.writeHead(status);
      const more = (): void => {
        while (!response.destroyed && response.write(" ".repeat(65_536)));
      };
      response.on("drain", more).on("close", hungUp);
      more();
    });
    const read = fetchWithRetry(server.url).then(jsonOf);
    await assert.rejects(read, status === 200 ? /more bytes than any answer/ : /HTTP 500/);
    await gone;
    await server.close();
  });
}

test.run();
