/**
 * Goal: what a voting client shows before anyone signs in: the settings it needs, and the lists of
 * what can be starred, which are those of the public API. Method: a web process on real parts; the
 * lists are held against `/v1`.
 */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { suite } from "uvu";
import { importCatalog } from "../../../src/catalogue/import-catalog.ts";
import { itemPage } from "../../../src/http/voting/items.ts";
import { issueKey, listKeys } from "../../../src/keys/api-keys.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { SLACK_MS } from "../../support/slack.ts";

const APP = "https://app.example";

const test = suite<{ service: Service; key: string }>("items");
test.before(async (context) => {
  const service = await startService({
    PUBLIC_URL: "https://stars.example/",
    VOTING_ORIGINS: APP,
    EVENT_VOTES_TOPIC_ID: "0.0.77",
    EVENT_SOURCES: "ALPHA,BETA",
    WALLETCONNECT_PROJECT_ID: "project-1",
    API_RATE_LIMIT: "100000",
  });
  context.service = service;
  context.key = (await issueKey(service.sql, "tests")).key;
  const tokens = [
    { id: "0.0.101", symbol: "SAUCE", name: "Soup" },
    { id: "0.0.102", symbol: "P50", name: "50% off_now" },
    { id: "0.0.103", symbol: "OTHER", name: "sOuPer 500" },
  ];
  const collections = [
    { id: "0.0.8002", name: "Dogs" },
    { id: "0.0.8003", name: "Hot dogs" },
  ];
  const projects = [
    { id: "p1", slug: "p1", name: "Bridge of Sighs", category: "BRIDGE", country: "IT" },
    { id: "p2", slug: "p2", name: "Other bridge", category: "DEFI", country: "DE" },
  ];
  const directory = { tokens, collections, projects };
  await importCatalog(service.sql, directory, { approve: true, eventSources: [] });
  const token = await signIn(service, await newWallet(service, { a: 3 }));
  for (const target of ["token/0.0.103", "token/0.0.9005", "collection/0.0.8003", "project/p1"]) {
    assert.equal((await cast(service, token, target)).status, 201);
  }
});
test.after((context) => context.service.close());

interface Listed {
  readonly items: readonly { readonly id: string; readonly rank?: number; totalVotes: number }[];
  readonly total: number;
  readonly hasMore: boolean;
}

async function list(service: Service, query: string): Promise<Listed> {
  const reply = await send(service, `GET /voting/items?${query}`);
  assert.equal(reply.status, 200, reply.text);
  itemPage.parse(reply.body);
  return reply.body;
}

const ids = ({ items }: Listed): readonly string[] => items.map(({ id }) => id);

test("config: every field, null where there is none", async ({ service }) => {
  const { status, body } = await send(service, "GET /voting/config");
  assert.equal(status, 200);
  assert.deepEqual(body, {
    network: "local",
    chainId: "hedera:local",
    publicUrl: "https://stars.example",
    mirrorNodeUrl: service.hedera.mirrorUrl.replace(/\/$/, ""),
    explorerUrl: null,
    topics: { event: "0.0.77", asset: null },
    collections: {
      a: { id: service.collectionA, key: "alpha" },
      b: { id: service.collectionB, key: "beta" },
    },
    demoWallets: false,
    walletConnectProjectId: "project-1",
  });
});

test("each list holds the records of the public API, in its order, with its counters", async ({
  service,
  key,
}) => {
  for (const [type, path, name] of [
    ["event", "/v1/events", "events"],
    ["event&status=all", "/v1/events?status=all", "events"],
    ["event&eventType=HACKATHON&status=ended", "/v1/events?status=ended", "events"],
    ["token&limit=100", "/v1/tokens/top?limit=100", "tokens"],
    ["collection", "/v1/collections/top", "collections"],
    ["project", "/v1/ecosystem", "projects"],
    ["project&category=BRIDGE&country=it", "/v1/ecosystem?category=BRIDGE", "projects"],
  ] as const) {
    const wanted = await send(service, `GET ${path}`, { token: key });
    const { items, total, hasMore } = await list(service, `type=${type}`);
    assert.deepEqual(items, wanted.body[name], type);
    assert.ok(items.length > 0, type);
    assert.deepEqual([total, hasMore], [items.length, false], type);
  }
});

test("when a key was last used is known within seconds", async ({ service }) => {
  const { id, key } = await issueKey(service.sql, "seldom");
  const { status } = await send(service, "GET /v1/leaderboard", { token: key });
  assert.equal(status, 200);
  const until = performance.now() + 5_000 + SLACK_MS;
  let used = null;
  while (used === null && performance.now() < until) {
    await pause(100);
    used = (await listKeys(service.sql)).find((each) => each.id === id)?.lastUsedAt ?? null;
  }
  assert.ok(Math.abs(Number(used) - Date.now()) < 5_000 + SLACK_MS, String(used));
});

test("the sources of events are those of EVENT_SOURCES", async ({ service, key }) => {
  const { body } = await send(service, "GET /v1/events?source=GAMMA", { token: key });
  assert.deepEqual([body.code, body.allowed], ["INVALID_PARAMETER", ["ALPHA", "BETA"]]);
});

test("pages neither repeat nor skip, and ranks go on from page to page", async ({ service }) => {
  for (const [type, count] of [
    ["token", 43],
    ["collection", 3],
    ["project", 4],
    ["event&status=all", 3],
  ] as const) {
    const whole = await list(service, `type=${type}&limit=100`);
    assert.equal(whole.total, count);
    const paged: unknown[] = [];
    for (let offset = 0; offset < count; offset += 2) {
      const page = await list(service, `type=${type}&limit=2&offset=${offset}`);
      assert.deepEqual([page.total, page.hasMore], [count, offset + 2 < count]);
      paged.push(...page.items);
    }
    assert.deepEqual(paged, whole.items);
    const past = await list(service, `type=${type}&offset=999999999`);
    assert.deepEqual([past.items, past.total, past.hasMore], [[], count, false]);
  }
});

test("`q` matches parts of names and symbols, in any case, and takes nothing for a pattern", async ({
  service,
}) => {
  for (const [query, wanted] of [
    ["type=token&q=soup", ["0.0.103", "0.0.101"]],
    ["type=token&q=SAuce", ["0.0.101"]],
    ["type=token&q=50%25", ["0.0.102"]],
    ["type=token&q=_", ["0.0.102"]],
    ["type=token&q=soup&limit=1&offset=1", ["0.0.101"]],
    ["type=token&q=%5C", []],
    ["type=token&q=%27%3B--", []],
    ["type=collection&q=DOG", ["0.0.8003", "0.0.8002"]],
    ["type=event&q=MEET", ["meetup"]],
    ["type=event&q=hack", []],
    ["type=event&q=hack&status=all", ["hack"]],
    ["type=project&q=bridge&country=DE", ["p2"]],
    ["type=event&q=hidden&status=all", []],
  ] as const) {
    assert.deepEqual(ids(await list(service, query)), wanted, query);
  }
  const found = await list(service, "type=token&q=soup&limit=1&offset=1");
  assert.deepEqual([found.total, found.hasMore], [2, false]);
});

test("what a search finds is the record of the whole list, its rank too", async ({ service }) => {
  const { items } = await list(service, "type=token&limit=100");
  const { items: found } = await list(service, "type=token&q=sauce");
  assert.deepEqual(found, [items.find(({ id }) => id === "0.0.101")]);
  assert.notEqual(found[0]?.rank, 1);
});

test("a star shows in the next reading of its list", async ({ service }) => {
  const token = await signIn(service, await newWallet(service));
  const votes = async (): Promise<number | undefined> =>
    (await list(service, "type=token&q=P50")).items[0]?.totalVotes;
  const before = (await votes()) ?? -1;
  assert.equal((await cast(service, token, "token/0.0.102")).status, 201);
  assert.equal(await votes(), before + 1);
});

test("400 INVALID_REQUEST names the parameter that is bad, missing, unknown or of another type", async ({
  service,
}) => {
  for (const [query, field] of [
    ["", "type"],
    ["type=", "type"],
    ["type=tokens", "type"],
    ["type=token&type=token", "type"],
    ["type=token&limit=0", "limit"],
    ["type=token&limit=101", "limit"],
    ["type=token&limit=1e1", "limit"],
    ["type=token&offset=-1", "offset"],
    ["type=token&offset=1000000000", "offset"],
    ["type=token&q=", "q"],
    ["type=token&q=%00", "q"],
    [`type=token&q=${"x".repeat(101)}`, "q"],
    ["type=event&status=over", "status"],
    ["type=event&eventType=mint_event", "eventType"],
    ["type=event&source=SOURCE_A", "source"],
    ["type=event&category=DEFI", "category"],
    ["type=token&status=live", "status"],
    ["type=project&country=DEU", "country"],
    ["type=project&api_key=x", "api_key"],
    ["?type=project", "?type"],
    ["type=project&__proto__=x", "__proto__"],
  ]) {
    const { status, body } = await send(service, `GET /voting/items?${query}`);
    assert.deepEqual(
      [status, body.code, body.field],
      [400, "INVALID_REQUEST", field],
      `${query}: ${JSON.stringify(body)}`,
    );
  }
  const { status, body } = await send(service, "GET /voting/config?x=1");
  assert.deepEqual([status, body.field], [400, "x"]);
});

test("a reply is revalidated by its tag, and caches learn that it varies by origin", async ({
  service,
}) => {
  for (const path of ["/voting/config", "/voting/items?type=token"]) {
    for (const from of [{}, { origin: APP }, { origin: "https://evil.example" }]) {
      const headers: Record<string, string> = { ...from, "accept-encoding": "gzip" };
      const first = await send(service, `GET ${path}`, { headers });
      assert.match(first.headers.get("vary") ?? "", /\bOrigin\b/i, JSON.stringify(from));
      assert.match(first.headers.get("vary") ?? "", /\bAccept-Encoding\b/i, JSON.stringify(from));
      const again = await send(service, `GET ${path}`, {
        headers: { ...headers, "if-none-match": first.headers.get("etag") ?? "" },
      });
      assert.equal(again.status, 304, path);
    }
  }
});

test.run();
