/**
 * Goal: the voting client sends the right requests, repeats what may be repeated and nothing else,
 * and resumes a stream where it was cut. Method: a `fetch` that keeps the requests and answers
 * by hand.
 */
import * as assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "uvu";
import {
  type LiveEvent,
  mayStand,
  StarboardError,
  type VotingOptions,
  voting,
} from "../src/index.ts";

const TARGET = { type: "token", id: "0.0.7" } as const;
const SIGNER = {
  wallet: "0.0.1001",
  sign: async (message: string) => ({ scheme: "eip191" as const, signature: `signed ${message}` }),
};

interface Asked {
  readonly line: string;
  readonly headers: Headers;
  readonly body: unknown;
}
type Answer = Response | Error | (() => Response);

/** A client whose requests get these answers, one after the other. */
function answered(answers: readonly Answer[], options: Partial<VotingOptions> = {}) {
  const asked: Asked[] = [];
  const waiting = [...answers];
  const send = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    init.signal?.throwIfAborted();
    const line = `${init.method ?? "GET"} ${String(url)}`;
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    asked.push({ line, headers: new Headers(init.headers), body });
    const next = waiting.shift() ?? new Error("nothing more was expected");
    if (next instanceof Error) throw next;
    return typeof next === "function" ? next() : next;
  };
  const retry = { attempts: 3, waitMs: 1 };
  const client = voting({ baseUrl: "https://x.example/", fetch: send, retry, ...options });
  return { asked, client };
}

const refusal = (status: number, code: string, more: object = {}, headers = {}): Response =>
  Response.json({ error: "No.", code, ...more }, { status, headers });
const accepted = (): Response => Response.json({ star: { id: "s" } }, { status: 201 });

test("signing in asks, signs and trades; the token is kept and stays out of the URL", async () => {
  const session = { token: "t", wallet: "0.0.1001", expiresAt: "" };
  const { asked, client } = answered([
    Response.json({ id: "c", message: "text" }, { status: 201 }),
    Response.json(session, { status: 201 }),
    Response.json({}),
    new Response(null, { status: 204 }),
    Response.json({}),
  ]);
  assert.deepEqual(await client.signIn(SIGNER), session);
  await client.allowance();
  await client.signOut();
  await client.config();
  assert.deepEqual(
    asked.map(({ line }) => line),
    [
      "POST https://x.example/voting/challenges",
      "POST https://x.example/voting/sessions",
      "GET https://x.example/voting/allowance",
      "DELETE https://x.example/voting/sessions/current",
      "GET https://x.example/voting/config",
    ],
  );
  assert.deepEqual(asked[0]?.body, { wallet: "0.0.1001" });
  const signed = { challengeId: "c", scheme: "eip191", signature: "signed text" };
  assert.deepEqual(asked[1]?.body, signed);
  const tokens = asked.map(({ headers }) => headers.get("authorization"));
  assert.deepEqual(tokens, [null, null, "Bearer t", "Bearer t", null]);
});

test("a sign-in by cookie asks for a cookie, and no request carries a token", async () => {
  const { asked, client } = answered(
    [
      Response.json({ id: "c", message: "text" }, { status: 201 }),
      Response.json({ wallet: "0.0.1001", expiresAt: "" }, { status: 201 }),
      accepted(),
    ],
    { baseUrl: "", cookie: true },
  );
  await client.signIn(SIGNER);
  await client.star(TARGET);
  const signed = { challengeId: "c", scheme: "eip191", signature: "signed text", cookie: true };
  assert.deepEqual(asked[1]?.body, signed);
  assert.equal(asked[2]?.line, "POST /voting/stars");
  assert.ok(asked.every(({ headers }) => !headers.has("authorization")));
});

test("signing out of an ended session succeeds, but not everywhere, and any other refusal is thrown", async () => {
  const { asked, client } = answered([
    refusal(401, "INVALID_SESSION"),
    refusal(401, "INVALID_SESSION"),
    refusal(503, "UNAVAILABLE"),
  ]);
  await client.signOut();
  // Other sessions of the wallet may stand.
  await assert.rejects(client.signOut({ everywhere: true }), { code: "INVALID_SESSION" });
  assert.equal(asked[1]?.line, "DELETE https://x.example/voting/sessions");
  await assert.rejects(client.signOut(), { code: "UNAVAILABLE" });
});

test("a 401 that ended no session is thrown: a proxy's, and one for a token that got lost", async () => {
  const { client } = answered(
    [new Response("<html>", { status: 401 }), refusal(401, "MISSING_SESSION")],
    { token: "t" },
  );
  await assert.rejects(client.signOut(), { status: 401, code: null });
  await assert.rejects(client.signOut(), { code: "MISSING_SESSION" });
  for (const none of [{}, { token: "" }]) {
    await answered([refusal(401, "MISSING_SESSION")], none).client.signOut();
  }
});

test("of what a wallet returns the signature alone is sent", async () => {
  const { asked, client } = answered([
    Response.json({ id: "c", message: "text" }, { status: 201 }),
    Response.json({}, { status: 201 }),
  ]);
  const more = { scheme: "eip191", signature: "s", publicKey: "0x02" } as const;
  await client.signIn({ wallet: "0.0.1001", sign: async () => more });
  assert.deepEqual(asked[1]?.body, { challengeId: "c", scheme: "eip191", signature: "s" });
});

test("a sign-out that takes its time leaves the session that was opened meanwhile", async () => {
  let signedIn = (): void => undefined;
  const later = new Promise<void>((resolve) => {
    signedIn = resolve;
  });
  const answers = [Response.json({ id: "c" }), Response.json({ token: "new" }), Response.json({})];
  const tokens: (string | null)[] = [];
  const fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    tokens.push(new Headers(init.headers).get("authorization"));
    if (init.method !== "DELETE") return answers.shift() ?? Response.error();
    await later;
    return new Response(null, { status: 204 });
  };
  const { client } = answered([], { token: "old", fetch });
  const signingOut = client.signOut();
  await client.signIn(SIGNER);
  signedIn();
  await signingOut;
  await client.allowance();
  assert.equal(tokens.at(-1), "Bearer new");
});

/** A reply that came after a redirect. */
const redirected = (response: Response): Response =>
  Object.defineProperties(response, {
    redirected: { value: true },
    url: { value: "https://y.example/" },
  });

test("what a redirect made of a star is no star, and a refusal says where it was led", async () => {
  const { asked, client } = answered([
    redirected(Response.json({ day: "d", stars: [] })),
    redirected(accepted()),
    redirected(refusal(401, "MISSING_SESSION")),
  ]);
  await assert.rejects(client.star(TARGET), { status: 200, code: null });
  assert.equal(asked.length, 1);
  assert.equal((await client.star(TARGET)).star.id, "s");
  const message = "No. (redirected to https://y.example/)";
  await assert.rejects(client.allowance(), { code: "MISSING_SESSION", message });
});

test("a star is sent again, with one key, after a lost answer and after 503", async () => {
  const { asked, client } = answered([
    new TypeError("fetch failed"),
    refusal(503, "HOLDINGS_UNAVAILABLE", {}, { "retry-after": "0" }),
    accepted(),
  ]);
  assert.equal((await client.star(TARGET)).star.id, "s");
  const keys = new Set(asked.map(({ headers }) => headers.get("idempotency-key")));
  assert.deepEqual([asked.length, keys.size], [3, 1]);
  assert.match([...keys][0] ?? "", /^[0-9a-f]{32}$/);
});

test("each star has a key of its own, unless one is given", async () => {
  const { asked, client } = answered([accepted(), accepted(), accepted()]);
  await client.star(TARGET);
  await client.star(TARGET);
  await client.star(TARGET, { idempotencyKey: "mine" });
  const keys = asked.map(({ headers }) => headers.get("idempotency-key"));
  assert.equal(new Set(keys).size, 3);
  assert.equal(keys[2], "mine");
});

test("a refusal is thrown at once with its details; so is the last of too many failures", async () => {
  const details = { starId: "s", resetsAt: "2026-11-21T00:00:00.000Z" };
  const once = answered([refusal(409, "ALREADY_STARRED", details)]);
  await assert.rejects(once.client.star(TARGET), (error) => {
    assert.ok(error instanceof StarboardError);
    assert.deepEqual(
      [error.status, error.code, error.starId, error.resetsAt],
      [409, "ALREADY_STARRED", details.starId, details.resetsAt],
    );
    return true;
  });
  const bad = answered([refusal(400, "INVALID_REQUEST", { field: "Origin" })]);
  await assert.rejects(bad.client.star(TARGET), { field: "Origin" });
  const spent = { limit: 20, used: 20, resetsAt: details.resetsAt };
  const over = answered([refusal(429, "ALLOWANCE_EXHAUSTED", spent)]);
  await assert.rejects(over.client.star(TARGET), { status: 429, ...spent });
  const out = answered(
    [1, 2, 3].map(() => refusal(503, "UNAVAILABLE", {}, { "retry-after": "0" })),
  );
  await assert.rejects(out.client.star(TARGET), { status: 503 });
  assert.equal(out.asked.length, 3);
});

test("a 503 after a lost answer is no refusal: whether the star was cast is not known", async () => {
  const lost = new TypeError("fetch failed");
  const busy = (): Response => refusal(503, "UNAVAILABLE", {}, { "retry-after": "0" });
  const { client } = answered([lost, busy(), busy()]);
  await assert.rejects(client.star(TARGET), lost);
  const refused = answered([lost, refusal(409, "ALREADY_STARRED")]);
  await assert.rejects(refused.client.star(TARGET), { code: "ALREADY_STARRED" });
  const proxy = answered([new Response("<html>", { status: 502 }), accepted()]);
  assert.equal((await proxy.client.star(TARGET)).star.id, "s");
});

test("nor is what is refused before the key is looked up, or a proxy's answer in its place", async () => {
  const lost = new TypeError("fetch failed");
  for (const early of [
    refusal(429, "RATE_LIMITED", {}, { "retry-after": "9" }),
    refusal(401, "INVALID_SESSION"),
    refusal(500, "INTERNAL"),
  ]) {
    const { client } = answered([lost, early]);
    await assert.rejects(client.star(TARGET), lost, `${early.status}`);
  }
  const over = answered([lost, refusal(429, "ALLOWANCE_EXHAUSTED")]);
  await assert.rejects(over.client.star(TARGET), { code: "ALLOWANCE_EXHAUSTED" });
  const busy = refusal(503, "HOLDINGS_UNAVAILABLE", {}, { "retry-after": "90" });
  const { client } = answered([new Response("<html>", { status: 504 }), busy]);
  await assert.rejects(client.star(TARGET), { status: 504, code: null });
});

test("UNAVAILABLE leaves it open: what follows settles it only after the look-up of the key", async () => {
  const busy = (code: string): Response => refusal(503, code, {}, { "retry-after": "0" });
  for (const later of [
    () => busy("HOLDINGS_UNAVAILABLE"),
    () => busy("JOURNAL_BEHIND"),
    () => refusal(429, "RATE_LIMITED"),
    () => refusal(401, "INVALID_SESSION"),
  ]) {
    const { client } = answered([busy("UNAVAILABLE"), later(), later()]);
    const thrown = await client.star(TARGET).catch((error: unknown) => error);
    assert.equal((thrown as StarboardError).code, "UNAVAILABLE");
    assert.ok(mayStand(thrown));
  }
  const settled = answered([busy("UNAVAILABLE"), refusal(409, "ALREADY_STARRED")]);
  await assert.rejects(settled.client.star(TARGET), { code: "ALREADY_STARRED" });
  const stood = answered([busy("UNAVAILABLE"), accepted()]);
  assert.equal((await stood.client.star(TARGET)).star.id, "s");
});

test("a star may stand where nothing was answered, or the service does not know; nowhere else", async () => {
  const thrown = async (answer: Answer): Promise<unknown> => {
    const { client } = answered([answer], { retry: { attempts: 1 } });
    return client.star(TARGET).catch((error: unknown) => error);
  };
  for (const [answer, alone, after] of [
    [new TypeError("fetch failed"), true, true],
    [new Response("<html>", { status: 503 }), true, true],
    [Response.json({ code: "GATEWAY_TIMEOUT" }, { status: 504 }), true, true],
    [refusal(504, "UPSTREAM_TIMED_OUT"), true, true],
    [refusal(502, "NOT_FOUND"), true, true],
    [refusal(503, "UNAVAILABLE"), true, true],
    [refusal(500, "INTERNAL"), true, true],
    [refusal(503, "HOLDINGS_UNAVAILABLE"), false, true],
    [refusal(503, "JOURNAL_BEHIND"), false, true],
    [refusal(429, "RATE_LIMITED"), false, true],
    [refusal(404, "NOT_FOUND"), false, false],
    [refusal(429, "ALLOWANCE_EXHAUSTED"), false, false],
  ] as const) {
    const error = await thrown(answer);
    assert.deepEqual([mayStand(error), mayStand(error, true)], [alone, after], String(error));
  }
});

test("a refusal whose Retry-After exceeds the longest wait is thrown at once", async () => {
  const busy = refusal(503, "JOURNAL_BEHIND", {}, { "retry-after": "30" });
  const { asked, client } = answered([busy, accepted()], { retry: { mostWaitMs: 1_000 } });
  await assert.rejects(client.star(TARGET), { code: "JOURNAL_BEHIND", retryAfterSeconds: 30 });
  assert.equal(asked.length, 1);
});

test("a star is sent again for the wallet that cast it, whoever has signed in meanwhile", async () => {
  const { asked, client } = answered(
    [
      new TypeError("fetch failed"),
      Response.json({ id: "c", message: "text" }, { status: 201 }),
      Response.json({ token: "other" }, { status: 201 }),
      accepted(),
    ],
    { token: "own", retry: { waitMs: 50 } },
  );
  const star = client.star(TARGET);
  await client.signIn(SIGNER);
  await star;
  const stars = asked.filter(({ line }) => line.endsWith("/stars"));
  const tokens = stars.map(({ headers }) => headers.get("authorization"));
  assert.deepEqual(tokens, ["Bearer own", "Bearer own"]);
});

test("what is undefined of how to try again has its default", async () => {
  const retry = { attempts: undefined, waitMs: 0 } as object;
  const { asked, client } = answered([], { retry });
  await assert.rejects(client.star(TARGET));
  assert.equal(asked.length, 5);
});

test("a star waits as it is told before it is sent again, and is not sent once it is aborted", async () => {
  const abort = new AbortController();
  const busy = refusal(503, "UNAVAILABLE", {}, { "retry-after": "60" });
  const { asked, client } = answered([busy, accepted()]);
  setTimeout(() => abort.abort(), 50);
  await assert.rejects(client.star(TARGET, { signal: abort.signal }), { name: "AbortError" });
  assert.equal(asked.length, 1);
});

test("lists, previews and receipts are asked for by their parameters", async () => {
  const { asked, client } = answered([1, 2, 3, 4].map(() => Response.json({ stars: [] })));
  await client.items({ type: "token", q: "a&b", limit: 5 });
  await client.preview(TARGET);
  assert.deepEqual(await client.stars("2026-11-20"), []);
  await client.receipt("a/b");
  assert.deepEqual(
    asked.map(({ line }) => line.replace("GET https://x.example/voting", "")),
    [
      "/items?type=token&q=a%26b&limit=5",
      "/preview?type=token&id=0.0.7",
      "/stars?day=2026-11-20",
      "/stars/a%2Fb",
    ],
  );
});

/** A stream of these pieces that then ends. */
const stream = (...pieces: readonly string[]): Response =>
  new Response(ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))), {
    headers: { "content-type": "text/event-stream" },
  });
const html = (): Response => new Response("<html>", { headers: { "content-type": "text/html" } });
const counter = (id: string, item: string): string =>
  `event: counter\nid: ${id}\ndata: {"type":"token","id":"${item}","totalVotes":1,"day":"d"}\n\n`;

async function hear(events: AsyncIterable<LiveEvent>, count: number): Promise<LiveEvent[]> {
  const heard: LiveEvent[] = [];
  for await (const event of events) if (heard.push(event) === count) break;
  return heard;
}

test("live resumes after the last event when a stream ends, fails or is refused for a while", async () => {
  const { asked, client } = answered([
    // Cut anywhere, even inside a character.
    stream("retry: 1\nid: d.1-0\n\n:\n\neve", counter("d.2-0", "0.0.1").slice(3)),
    new TypeError("network"),
    refusal(503, "UNAVAILABLE", {}, { "retry-after": "0" }),
    new Response("<html>", { status: 502 }),
    refusal(408, "REQUEST_TIMEOUT"),
    refusal(429, "RATE_LIMITED"),
    html(),
    stream('event: day\nid: e.2-0\ndata: {"day":"e"}\n\nevent: reset\nid: e.2-0\ndata: {}\n\n'),
    stream(counter("e.3-0", "0.0.2")),
  ]);
  const opened: boolean[] = [];
  const onOpen = (isResumed: boolean) => opened.push(isResumed);
  const heard = await hear(client.live({ onOpen }), 4);
  assert.deepEqual(opened, [false, true, true]);
  assert.deepEqual(
    heard.map(({ event, lastEventId }) => `${event} ${lastEventId}`),
    ["counter d.2-0", "day e.2-0", "reset e.2-0", "counter e.3-0"],
  );
  const [first] = heard;
  assert.equal(first?.event === "counter" && first.data.id, "0.0.1");
  assert.deepEqual(
    asked.map(({ headers }) => headers.get("last-event-id")),
    [null, ...Array(7).fill("d.2-0"), "e.2-0"],
  );
});

test("a proxy's Retry-After that is a date is no reason to hurry", async () => {
  const date = { "retry-after": "Fri, 20 Nov 2026 08:00:00 GMT" };
  const { asked, client } = answered([
    stream("retry: 50\nid: d.1-0\n\n"),
    ...[1, 2, 3, 4].map(() => new Response("<html>", { status: 503, headers: date })),
    stream(counter("d.2-0", "0.0.1")),
  ]);
  const startedAt = performance.now();
  await hear(client.live(), 1);
  assert.equal(asked.length, 6);
  assert.ok(performance.now() - startedAt >= 5 * 45, "it was asked without a pause");
});

test("a wait of more than a timer can is long, and not none", async () => {
  const month = { "retry-after": `${30 * 24 * 3_600}` };
  const { asked, client } = answered([refusal(503, "UNAVAILABLE", {}, month)]);
  assert.deepEqual(await hear(client.live({ signal: AbortSignal.timeout(50) }), 1), []);
  assert.equal(asked.length, 1);
});

test("live throws what is no stream of events, and opens nothing, until one has opened", async () => {
  const { asked, client } = answered([html()]);
  const onOpen = (): void => assert.fail("it was opened");
  const named = /^SyntaxError: https:\/\/x\.example\/voting\/live answers with text\/html, /;
  const thrown = await client.live({ onOpen }).next().catch(String);
  assert.match(String(thrown), named);
  assert.equal(asked.length, 1);
});

test("live starts after a given event, ends with its signal, and throws a refusal", async () => {
  const { asked, client } = answered([
    stream(counter("d.9-0", "0.0.1")),
    refusal(400, "INVALID_REQUEST"),
  ]);
  await hear(client.live({ lastEventId: "d.8-0" }), 1);
  assert.equal(asked[0]?.headers.get("last-event-id"), "d.8-0");
  await assert.rejects(client.live().next(), { code: "INVALID_REQUEST" });
  const abort = new AbortController();
  abort.abort();
  assert.deepEqual(await hear(client.live({ signal: abort.signal }), 1), []);
});

test("an id that no header can carry is refused at once, and not tried again and again", async () => {
  const abort = new AbortController();
  const fetch = async (): Promise<Response> => {
    abort.abort();
    throw new TypeError("network");
  };
  const { client } = answered([], { fetch });
  const { signal } = abort;
  await assert.rejects(client.live({ lastEventId: "d.8-☃", signal }).next(), TypeError);
  assert.equal(signal.aborted, false);
});

test("an address that is no URL is refused at once, and not tried again and again", async () => {
  const signal = AbortSignal.timeout(500);
  const client = voting({ baseUrl: "x.example" });
  await assert.rejects(client.live({ signal }).next(), TypeError);
});

test("what stands in for fetch follows the counters of a service at its own origin", async () => {
  const { asked, client } = answered([stream(counter("d.8-0", "0.0.1"))], { baseUrl: "" });
  assert.equal((await hear(client.live(), 1)).length, 1);
  assert.equal(asked[0]?.line, "GET /voting/live");
});

test("live throws what its caller's own onOpen throws, and asks no more", async () => {
  const { asked, client } = answered([
    stream("retry: 1\nid: d.1-0\n\n"),
    stream(counter("d.2-0", "0.0.1")),
  ]);
  const own = new TypeError("the caller's");
  let opened = 0;
  const onOpen = (): void => {
    opened += 1;
    if (opened === 1) throw own;
  };
  await assert.rejects(client.live({ onOpen }).next(), own);
  assert.equal(asked.length, 1);
});

test("live tells nothing after its signal, also of what has arrived together", async () => {
  const { client } = answered([
    stream(counter("d.1-0", "0.0.1") + counter("d.2-0", "0.0.2") + counter("d.3-0", "0.0.3")),
  ]);
  const abort = new AbortController();
  const heard: string[] = [];
  for await (const { lastEventId } of client.live({ signal: abort.signal })) {
    heard.push(lastEventId);
    abort.abort();
  }
  assert.deepEqual(heard, ["d.1-0"]);
  assert.deepEqual(getEventListeners(abort.signal, "abort"), []);
});

test.run();
