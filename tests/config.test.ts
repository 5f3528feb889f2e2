import * as assert from "node:assert/strict";
import { test } from "uvu";
import { ownUrl, publicMirrorUrl } from "../src/addresses.ts";
import { ConfigurationError, readSettings } from "../src/config.ts";

function refusal(
  environment: Record<string, string>,
  needed: Parameters<typeof readSettings>[1] = [],
): string {
  try {
    readSettings(environment, needed);
  } catch (error) {
    assert.ok(error instanceof ConfigurationError);
    return error.message;
  }
  return "accepted";
}

test("with nothing set, the defaults of the contract apply", () => {
  const { LOG_LEVEL: _, DEMO_VOTERS: __, OTEL_SDK_DISABLED: ___, ...others } = readSettings({});
  assert.deepEqual(
    { ...others },
    {
      PORT: 3000,
      HOST: "127.0.0.1",
      HEDERA_NETWORK: "local",
      API_RATE_LIMIT: 100,
      VOTING_RATE_LIMIT: 300,
      XP_PER_STAR: 1,
      PAGES: "on",
      SITE_NAME: "Starboard",
      EXCLUDED_WALLETS: [],
      TRUSTED_PROXIES: [],
      VOTING_ORIGINS: [],
    },
  );
});

test("an empty variable counts as unset, and spaces around a value do not matter", () => {
  assert.equal(readSettings({ PORT: "" }).PORT, 3000);
  assert.equal(readSettings({ PORT: " 8080 " }).PORT, 8080);
});

test("every bad and every missing setting is named, in one message, without its value", () => {
  const message = refusal({
    PORT: "banana",
    HEDERA_OPERATOR_KEY: "hunter2",
    COLLECTION_A_ID: "0.0.x",
  });
  for (const name of ["PORT", "HEDERA_OPERATOR_KEY", "COLLECTION_A_ID"])
    assert.match(message, new RegExp(name));
  assert.doesNotMatch(message, /banana|hunter2/);
  assert.equal(
    refusal({}, ["DATABASE_URL", "REDIS_URL"]),
    "DATABASE_URL is missing; REDIS_URL is missing",
  );
});

test("a value outside its set or range is answered by what is allowed", () => {
  const said: readonly (readonly [Record<string, string>, string])[] = [
    [{ PORT: "70000" }, "PORT must be a whole number from 0 to 65535"],
    [{ PORT: "x" }, "PORT must be a whole number from 0 to 65535"],
    [{ WORKER_PORT: "70000" }, "WORKER_PORT must be a whole number from 0 to 65535"],
    [{ API_RATE_LIMIT: "0" }, "API_RATE_LIMIT must be a whole number from 1 to 1000000"],
    [{ PAGES: "yes" }, "PAGES must be one of on, off"],
    [
      { HEDERA_NETWORK: "Testnet" },
      "HEDERA_NETWORK must be one of local, testnet, mainnet, previewnet",
    ],
    [{ MIRROR_NODE_URL: "," }, "MIRROR_NODE_URL must name one URL at least"],
    [{ HEDERA_NODES: "," }, "HEDERA_NODES must name one node at least"],
    [{ MIRROR_NODE_URL: "a,b" }, "MIRROR_NODE_URL must be an http(s) URL"],
    ...["https://me:key@a.example", "https://a.example/v?key=k", "https://a.example/#k"].map(
      (url) =>
        [
          { MIRROR_NODE_URL: `https://b.example,${url}` },
          "MIRROR_NODE_URL must have no credentials, query or fragment",
        ] as const,
    ),
    ...["prices", "ftp://host/secret", "//secret"].map(
      (PRICE_URL) => [{ PRICE_URL }, "PRICE_URL must be an http(s) URL"] as const,
    ),
    ...["one,TWO", "ONE", "ONE,ONE", "ONE,TWO,THREE"].map(
      (names) =>
        [
          { EVENT_SOURCES: names },
          "EVENT_SOURCES must be two upper-case names, comma-separated",
        ] as const,
    ),
  ];
  for (const [environment, message] of said) assert.equal(refusal(environment), message);
});

test("a price source's URL holds no credentials, which requests leave out; a key may be a parameter", () => {
  for (const url of ["https://me:key@a.example/", "https://me@a.example", "https://:key@a.example"])
    assert.equal(
      refusal({ PRICE_URL: url }),
      "PRICE_URL must have no credentials: requests leave them out",
    );
  const PRICE_URL = "https://a.example/p?key=a@b";
  assert.equal(readSettings({ PRICE_URL }).PRICE_URL, PRICE_URL);
});

test("several URLs with another separator than a comma are not taken for one", () => {
  for (const between of [";", "|", " ", "/;", "/ ", "/ ; ", "/v1|"]) {
    const MIRROR_NODE_URL = `http://a.example${between}http://b.example`;
    assert.equal(
      refusal({ MIRROR_NODE_URL }),
      "MIRROR_NODE_URL must be comma-separated URLs",
      between,
    );
    for (const separator of [between, between.replace(/[;| ]/, ",")])
      for (const name of ["PUBLIC_URL", "EXPLORER_URL", "PRICE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"])
        assert.equal(
          refusal({ [name]: `http://a.example${separator}https://b.example` }),
          `${name} must be one URL`,
          separator,
        );
  }
  const MIRROR_NODE_URL = "https://a.example/https://b.example ,\n http://c.example/a;b";
  assert.equal(readSettings({ MIRROR_NODE_URL }).MIRROR_NODE_URL?.length, 2);
  const PRICE_URL = "https://a.example/p?of=https://b.example,https://c.example";
  assert.equal(readSettings({ PRICE_URL }).PRICE_URL, PRICE_URL);
});

test("a token is what a header can hold", () => {
  for (const token of ["fifteen letters", "sixteen lettérs or more", "sixteen letters\nand a line"])
    for (const name of ["OPERATOR_TOKEN", "METRICS_TOKEN"])
      assert.equal(
        refusal({ [name]: token }),
        `${name} needs at least 16 characters, all of them ASCII`,
        token,
      );
  const OPERATOR_TOKEN = "sixteen letters.";
  assert.equal(readSettings({ OPERATOR_TOKEN }).OPERATOR_TOKEN, OPERATOR_TOKEN);
});

test("the token of the metrics opens nothing else: it is not the operator's", () => {
  const OPERATOR_TOKEN = "sixteen letters.";
  const both = { OPERATOR_TOKEN, METRICS_TOKEN: OPERATOR_TOKEN };
  assert.equal(refusal(both), "METRICS_TOKEN must not be OPERATOR_TOKEN");
  readSettings({ ...both, METRICS_TOKEN: "another sixteen." });
});

test("a database has one address, which moves in a failover", () => {
  for (const hosts of ["one.example,two.example", "one.example:5432,two.example:5432"]) {
    const message = refusal({ DATABASE_URL: `postgres://starboard@${hosts}/starboard` });
    assert.equal(message, "DATABASE_URL must be a postgres:// URL of one host");
  }
  const url = "postgres://starboard:a,b@one.example/starboard";
  assert.equal(readSettings({ DATABASE_URL: url }).DATABASE_URL, url);
});

test("a store's URL that its driver cannot read is refused by its name, and so is one without a host", () => {
  const said: readonly (readonly [Record<string, string>, string])[] = [
    [{ DATABASE_URL: "postgres://" }, "DATABASE_URL must be a postgres:// URL of one host"],
    [{ DATABASE_URL: "postgres:///db" }, "DATABASE_URL must be a postgres:// URL of one host"],
    [{ REDIS_URL: "redis://" }, "REDIS_URL must be a redis:// URL of one host"],
    [
      { DATABASE_URL: "postgres://u:50%off@h/db", REDIS_URL: "redis://:50%@h" },
      "DATABASE_URL has a % that must be written %25; REDIS_URL has a % that must be written %25",
    ],
    [{ REDIS_URL: "redis://h/cache" }, "REDIS_URL has a path that is no number of a database"],
  ];
  for (const [environment, message] of said) assert.equal(refusal(environment), message);
  const REDIS_URL = "rediss://u:p%25@h:6380/2?family=6";
  assert.equal(readSettings({ REDIS_URL }).REDIS_URL, REDIS_URL);
  assert.equal(readSettings({ REDIS_URL: "redis://h/" }).REDIS_URL, "redis://h/");
});

test("an explorer's URL is shown to everybody, and paths are put behind it: nothing else is in it", () => {
  for (const EXPLORER_URL of [
    "https://u:pw@x.example",
    "https://x.example/?key=1",
    "https://x.example/#a",
  ])
    assert.equal(
      refusal({ EXPLORER_URL }),
      "EXPLORER_URL must have no credentials, query or fragment",
    );
  assert.equal(
    readSettings({ EXPLORER_URL: "https://x.example/main/" }).EXPLORER_URL,
    "https://x.example/main/",
  );
});

test("lists and nodes are read, and an invalid node is refused", () => {
  const { HEDERA_NODES, EVENT_SOURCES, MIRROR_NODE_URL } = readSettings({
    HEDERA_NODES: "127.0.0.2:5000=0.0.3, node.example:50211=0.0.4",
    EVENT_SOURCES: "ONE,TWO",
    MIRROR_NODE_URL: "http://a.example, https://b.example/",
  });
  assert.deepEqual(HEDERA_NODES, [
    { address: "127.0.0.2:5000", account: "0.0.3" },
    { address: "node.example:50211", account: "0.0.4" },
  ]);
  assert.deepEqual(EVENT_SOURCES, ["ONE", "TWO"]);
  assert.equal(MIRROR_NODE_URL?.length, 2);
  assert.match(
    refusal({ HEDERA_NODES: "127.0.0.2:5000" }),
    /^HEDERA_NODES must be host:port=0\.0\.n, comma-separated$/,
  );
  for (const node of [
    "127.0.0.2:65536=0.0.3",
    "a:0=0.0.3",
    "a:1=0.0.0",
    "http://a:1=0.0.3",
    "[::1]:1=0.0.3",
  ])
    assert.match(refusal({ HEDERA_NODES: node }), /^HEDERA_NODES must be [^;]*$/, node);
  for (const second of ["a:1=0.0.4", "A:1=0.0.4", "a:1=0.0.3"])
    assert.equal(
      refusal({ HEDERA_NODES: `a:1=0.0.3,${second}` }),
      "HEDERA_NODES must not name one address twice",
    );
  // A node may have several addresses.
  const { HEDERA_NODES: one } = readSettings({ HEDERA_NODES: "a:1=0.0.3,b:1=0.0.3" });
  assert.equal(one?.length, 2);
  assert.match(refusal({ EVENT_SOURCES: "only-one" }), /EVENT_SOURCES/);
  assert.match(
    refusal({ EVENT_SOURCES: "SAME,SAME" }),
    /^EVENT_SOURCES must be two upper-case names/,
  );
});

test("the two keys of a message's holdings are names, and differ", () => {
  for (const COLLECTION_A_KEY of ["__proto__", "a".repeat(41)])
    assert.equal(
      refusal({ COLLECTION_A_KEY }),
      "COLLECTION_A_KEY must be a name of letters, digits, _ and -: a letter first, 40 at most",
    );
  assert.match(
    refusal({ COLLECTION_A_KEY: "same", COLLECTION_B_KEY: "same" }),
    /^COLLECTION_B_KEY must not be COLLECTION_A_KEY$/,
  );
});

test("the two collections must differ", () => {
  assert.equal(
    refusal({ COLLECTION_A_ID: "0.0.7", COLLECTION_B_ID: "0.0.7" }),
    "COLLECTION_B_ID must not be COLLECTION_A_ID",
  );
});

test("the two topics must differ; the doctor, which needs no setting, reads them all the same", () => {
  const both = { EVENT_VOTES_TOPIC_ID: "0.0.8", ASSET_VOTES_TOPIC_ID: "0.0.8" };
  assert.throws(
    () => readSettings({ ...both, DATABASE_URL: "postgres://127.0.0.1/x" }, ["DATABASE_URL"]),
    /^ConfigurationError: ASSET_VOTES_TOPIC_ID must not be EVENT_VOTES_TOPIC_ID$/,
  );
  assert.equal(readSettings(both).ASSET_VOTES_TOPIC_ID, "0.0.8");
});

test("HOST is a name or an address, whatever the public URL", () => {
  for (const HOST of [
    "a b",
    "a/b",
    "a:80",
    "[::1]",
    "127.0.0.999",
    "http://a",
    "u@a",
    "a?b",
    "a#b",
  ])
    for (const rest of [{}, { PUBLIC_URL: "https://stars.example" }])
      assert.equal(refusal({ HOST, ...rest }), "HOST must be a name or an address", HOST);
  for (const HOST of ["localhost", "web-1.example", "web_1", "0.0.0.0", "::", "fe80::1%eth0"])
    assert.equal(readSettings({ HOST }).HOST, HOST);
});

test("PUBLIC_URL is published: it has no credentials, query or fragment", () => {
  for (const PUBLIC_URL of ["https://a:b@c.example", "https://c.example?q", "https://c.example/#a"])
    assert.match(refusal({ PUBLIC_URL }), /^PUBLIC_URL must have no credentials/, PUBLIC_URL);
  for (const PUBLIC_URL of ["HTTPS://C.example:443", "https://c.example/stars/"])
    assert.equal(readSettings({ PUBLIC_URL }).PUBLIC_URL, PUBLIC_URL);
});

test("voting origins are origins: no *, no null, no path, no pattern; a trailing slash is dropped", () => {
  const { VOTING_ORIGINS } = readSettings({
    VOTING_ORIGINS: "https://App.example/, http://localhost:5173",
  });
  assert.deepEqual(VOTING_ORIGINS, ["https://app.example", "http://localhost:5173"]);
  for (const refused of [
    "*",
    "null",
    "https://*",
    "https://*.example",
    "https://app.example/path",
    "https://app.example?x",
    "https://user@app.example",
    "app.example",
    "ftp://app.example",
    "file:///etc",
  ]) {
    assert.match(
      refusal({ VOTING_ORIGINS: `https://fine.example,${refused}` }),
      /VOTING_ORIGINS must be origins such as https:\/\/app.example/,
      refused,
    );
  }
});

test("settings cannot be changed afterwards", () => {
  const settings = readSettings({});
  assert.throws(() => Object.assign(settings, { PORT: 1 }), TypeError);
});

test("clients find the service at PUBLIC_URL, else at the address it binds, of either family", () => {
  const at = (environment: Record<string, string>) => ownUrl(readSettings(environment));
  assert.equal(at({}), "http://127.0.0.1:3000");
  assert.equal(new URL(at({ HOST: "::1", PORT: "3001" })).host, "[::1]:3001");
  assert.equal(at({ HOST: "::", PUBLIC_URL: "https://stars.example" }), "https://stars.example");
  assert.equal(at({ HOST: "localhost" }), "http://localhost:3000");
  for (const HOST of ["0.0.0.0", "::", "192.0.2.1", "stars.example", "127.example"]) {
    assert.throws(() => at({ HOST }), /^ConfigurationError: PUBLIC_URL is missing/, HOST);
  }
});

test("clients learn the mirror node's address, written with `/api/v1` or without, and no other path", () => {
  const shown = (url: string) => publicMirrorUrl({ MIRROR_NODE_URL: [url] });
  for (const path of ["", "/", "/api/v1", "/api/v1/"])
    assert.equal(shown(`https://mirror.example${path}`), "https://mirror.example", path);
  for (const path of ["/an-access-key", "/an-access-key/api/v1", "/api/v1/x"])
    assert.equal(shown(`https://mirror.example${path}`), null, path);
});

test.run();
