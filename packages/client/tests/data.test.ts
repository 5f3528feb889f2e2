/**
 * Goal: the data client sends the right requests and returns what the service answers. Method: a
 * `fetch` that keeps the requests and answers by hand.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { data } from "../src/index.ts";

interface Asked {
  readonly url: string;
  readonly init: RequestInit;
}

/** A client whose requests get these answers, one after the other. */
function answered(...replies: readonly Response[]) {
  const asked: Asked[] = [];
  const waiting = [...replies];
  const send = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    asked.push({ url: String(url), init });
    return waiting.shift() ?? Response.error();
  };
  const options = { baseUrl: "https://api.example.org/", apiKey: "starboard_live_x", fetch: send };
  return { asked, client: data(options) };
}

const pageOf = (ids: readonly string[], hasMore: boolean): Response =>
  Response.json({ events: ids.map((id) => ({ id })), total: 3, hasMore, limit: 2, offset: 0 });

test("parameters fill the path and the query, and the key stays out of both", async () => {
  const { asked, client } = answered(Response.json({}), Response.json({}));
  await client.get("/events/{id}", { id: "a/b?" });
  await client.get("/tokens/top", { limit: 5 });
  assert.deepEqual(
    asked.map(({ url }) => url),
    ["https://api.example.org/v1/events/a%2Fb%3F", "https://api.example.org/v1/tokens/top?limit=5"],
  );
  const sent = new Headers(asked[0]?.init.headers);
  assert.equal(sent.get("authorization"), "Bearer starboard_live_x");
});

test("an id that would lead elsewhere in the path is refused, and nothing is asked", async () => {
  const { asked, client } = answered(Response.json({}));
  for (const id of [".", ".."]) {
    await assert.rejects(client.get("/events/{id}", { id }), { message: `${id} is no id` });
  }
  assert.deepEqual(asked, []);
});

test("pages go on from the last record, and stop when there is no more", async () => {
  const { asked, client } = answered(pageOf(["a", "b"], true), pageOf(["c"], false));
  const ids: string[] = [];
  for await (const { id } of client.each("/events", { limit: 2 })) ids.push(id);
  assert.deepEqual(ids, ["a", "b", "c"]);
  assert.deepEqual(
    asked.map(({ url }) => new URL(url).search),
    ["?limit=2&offset=0", "?limit=2&offset=2"],
  );
});

test("pages stop at an empty page, and ask for no page that is not read", async () => {
  const empty = answered(pageOf([], true));
  for await (const page of empty.client.pages("/events")) assert.deepEqual(page.events, []);
  assert.equal(empty.asked.length, 1);

  const left = answered(pageOf(["a", "b"], true));
  for await (const { id } of left.client.each("/events")) if (id === "a") break;
  assert.equal(left.asked.length, 1);
});

test("a refusal carries its code and how long to wait", async () => {
  const headers = { "retry-after": "7" };
  const body = { error: "Try again.", code: "UNAVAILABLE" };
  const { client } = answered(
    Response.json(body, { status: 503, headers }),
    Response.json({ error: "Too many requests." }, { status: 429, headers }),
    new Response("<html>", { status: 503, headers: { "retry-after": "9".repeat(400) } }),
    new Response("<html>", { status: 502, statusText: "Bad Gateway" }),
    Response.json(
      { error: { code: 504 }, code: 504 },
      { status: 504, statusText: "Gateway Timeout" },
    ),
  );
  const refused = { name: "StarboardError", status: 503, code: "UNAVAILABLE" };
  await assert.rejects(client.get("/"), { ...refused, retryAfterSeconds: 7 });
  await assert.rejects(client.get("/"), { status: 429, code: null, retryAfterSeconds: 7 });
  // As long as a timer can wait: it would fire at once for more.
  await assert.rejects(client.get("/"), { status: 503, retryAfterSeconds: 2_147_483 });
  await assert.rejects(client.get("/"), { code: null, message: "502 Bad Gateway" });
  await assert.rejects(client.get("/"), { code: null, message: "504 Gateway Timeout" });
});

test("a signal ends a request", async () => {
  const { asked, client } = answered(Response.json({}));
  const { signal } = new AbortController();
  await client.get("/", {}, { signal });
  assert.equal(asked[0]?.init.signal, signal);
});

test.run();
