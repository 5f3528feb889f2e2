import { signChallenge } from "../../src/cli/demo-wallet.ts";
import { send } from "../support/service.ts";
import { type Dice, dice, junk, stretched } from "./dice.ts";
import type { WireRequest } from "./wire.ts";
import { TYPES, type Voter, type World } from "./world.ts";

/**
 * Odd requests, in the ten classes that a client can send, each a function of a seed: the same
 * seed asks the same. Every class goes to every surface that it says something to.
 */
type Asked = Omit<WireRequest, "replies"> & Partial<Pick<WireRequest, "replies">>;
type Class = (random: Dice, world: World) => Asked | Promise<Asked>;

interface Parts {
  readonly method?: string;
  readonly target: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

const ONE = { least: 1, most: 1 };
const UP_TO_TWO = { least: 1, most: 2 };
const PERHAPS = { least: 0, most: 1 };
const utf8 = (text: string): string => Buffer.from(text).toString("latin1");

function http({ method = "GET", target, headers = [], body = "" }: Parts): string {
  const lines = [`${method} ${target} HTTP/1.1`, "Host: fuzz", ...headers, "Connection: close"];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

function post(random: Dice, target: string, headers: readonly string[], body: string): Asked {
  const from = `X-Forwarded-For: 10.1.${random.below(250)}.${random.below(250)}`;
  const framed = [from, ...headers, `Content-Length: ${body.length}`];
  return { bytes: http({ method: "POST", target, headers: framed, body }) };
}

const bearer = (token: string): string => `Authorization: Bearer ${token}`;
const JSON_TYPE = "Content-Type: application/json";

/** What opens a path to its rightful reader. */
function credentials(random: Dice, world: World, target: string): string[] {
  if (target.startsWith("/v1")) return [bearer(world.key)];
  if (target.startsWith("/voting")) return [bearer(random.pick(world.voters).token)];
  if (target.startsWith("/ops/api")) return [bearer(random.pick(world.operatorTokens))];
  if (target.startsWith("/metrics")) return [bearer(world.metricsToken)];
  if (target.startsWith("/ops")) return [`Cookie: ${random.pick(world.consoles).cookie}`];
  return random.below(3) === 0 ? [`Cookie: starboard=${random.pick(world.voters).token}`] : [];
}

const STREAMS = ["/voting/live", "/ops/live/numbers", "/ops/live/decisions"];

/** A GET by somebody who may read it, now and then by a guest. */
function get(random: Dice, world: World, target: string, more: readonly string[] = []): Asked {
  const mine = random.below(12) === 0 ? [] : credentials(random, world, target);
  const headers = [...mine, ...more];
  const isStream = STREAMS.some((path) => target.startsWith(path));
  return { bytes: http({ target, headers }), ...(isStream && { untilHead: true }) };
}

const NUMBERS = [
  ...["-1", "0", "1", "100", "101", "1e309", "1.0", "0x10", "%2B5", "+5", "5%20", "%205"],
  ...["%EF%BC%95", "9007199254740992", "999999999", "1000000000", "null", "NaN", "Infinity", ""],
  ...["[]", "[1]", "{}", "true", "1,2", "1;2", "%00", "1%00", "%D9%A5", "-0"],
  ...["00000000000000000001", "2147483648", "9223372036854775808"],
];
const ENUMS = [
  ...["live", "LIVE", "Live", "l%C4%B1ve", "all", "ended%00", "OTHER", "other", "DEFI", "defi"],
  ...["%D0%A2OOLS", "MINT_EVENT%20", "SOURCE_B", "SOURCE_A", "undefined", "constructor"],
  ...["event", "token", "collection", "project", "wallet-day", "forever-mint", "24h", "7d", "30d"],
];
const COUNTRIES = [
  ...["de", "DE", "dE", "D", "DEU", "%C3%84B", "%F0%9F%87%A9%F0%9F%87%AA", "1A", "%00%00"],
  ...["D%45", "d+e", "--"],
];
const IDS = [
  ...["none", "..%2F..%2Fetc%2Fpasswd", "../events", "%2e%2e", "%00", "%", "%zz", "%C0%AF", "'"],
  ...["%27%20or%201%3D1--", "%27%3B%20drop%20table%20event%3B--", "0.0.1", "0.0.-1"],
  ...["0.0.99999999999999999999", "99999999999999999999999", "%ED%A0%80", "%F0%9F%98%80"],
  ...["__proto__", "constructor", "toString", ";", "e/", "/e", "e%2Fe", "0.0.9001", "meetup"],
  ...["0.0.8001", "dex", "hidden", "mint", "0.0.9001-abcde", "2026-02-30", "9999-12-31"],
  ...["0000-00-00", "10000-01-01", "-1", "20260101", "00000000-0000-0000-0000-000000000000"],
  ...["0198F2A0-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"],
];
const METHODS = [
  ...["HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "PURGE"],
  ...["SEARCH", "LINK", "REPORT", "M-SEARCH", "QUERY", "get", "FOO", "GETT", "CONNECT"],
];
const ADDRESSES = [
  ...["1.2.3.4", "::1", "[::1]:80", "1.2.3.4:80", "::ffff:1.2.3.4", "::ffff:0102:0304"],
  ...["fe80::1%25eth0", "fe80::1%eth0", "300.1.1.1", "1.2.3", "unknown", "_hidden", "", " "],
  ...["::", "2001:db8::/32", "0x7f.1", "127.0.0.1"],
];

/** Lists with what they ask for, by the class that goes there. */
const NUMBERED: Readonly<Record<string, readonly string[]>> = {
  "/v1/events": ["limit", "offset"],
  "/v1/ecosystem": ["limit", "offset"],
  "/v1/tokens/top": ["limit"],
  "/v1/collections/top": ["limit"],
  "/v1/leaderboard": ["limit"],
  "/voting/items": ["limit", "offset", "type=token&limit", "type=event&offset"],
  "/ops/api/actors": ["limit", "cursor"],
  "/ops/api/attention": ["limit"],
  "/events": ["offset", "limit"],
  "/projects": ["offset"],
  "/tokens": ["offset"],
  "/stars": ["offset", "day", "before"],
  "/ops/actors": ["after", "cursor", "limit"],
  "/ops/stars": ["before", "after", "day"],
  "/ops/log": ["before", "after"],
  "/ops/feed": ["since", "before"],
  "/ops/actors/event-day/meetup": ["before", "step"],
  "/ops/actors/forever-mint/mint": ["before", "step", "replay"],
  "/ops/holdings": ["before"],
  "/exports": ["limit"],
};
const ENUMERATED: Readonly<Record<string, readonly string[]>> = {
  "/v1/events": ["status", "eventType", "source"],
  "/v1/ecosystem": ["category"],
  "/voting/items": ["type", "type=event&status", "type=event&eventType", "type=project&category"],
  "/voting/preview": ["type", "id=meetup&type"],
  "/ops/api/actors": ["type", "q"],
  "/ops/api/attention": ["window", "type"],
  "/events": ["status", "eventType", "source"],
  "/projects": ["category"],
  "/ops/actors": ["type", "q"],
  "/ops/catalogue": ["type", "view", "q"],
  "/ops/search": ["q"],
};
const LOCATED: Readonly<Record<string, readonly string[]>> = {
  "/v1/ecosystem": ["country"],
  "/voting/items": ["type=project&country", "country"],
  "/projects": ["country"],
};
/** Every path that ends with an id. */
const RECORDS = [
  ...["/v1/events/", "/voting/stars/", "/voting/preview?type=event&id=", "/voting/stars?day="],
  ...["/voting/preview?type=token&id=", "/exports/", "/events/", "/tokens/", "/collections/"],
  ...["/projects/", "/stars/", "/ops/api/actors/", "/ops/api/actors/wallet-day/", "/ops/stars/"],
  ...["/ops/api/actors/event-day/meetup/", "/ops/api/actors/forever-mint/", "/ops/actors/"],
  ...["/ops/actors/wallet-day/", "/ops/wallets/", "/ops/holdings/runs/"],
  ...["/ops/raw/actors/", "/ops/search?q=", "/assets/", "/ops/assets/", "/docs/", "/ops/queues/"],
];
const PATHS = [
  ...Object.keys(NUMBERED),
  ...["/v1/", "/v1/openapi.json", "/v1/events/meetup", "/v1/nothing", "/voting/openapi.json"],
  ...["/voting/config", "/voting/items?type=token", "/voting/allowance", "/voting/stars"],
  ...["/voting/live", "/voting/nothing", "/ops/api/health", "/ops/api/publishing", "/ops/api/x"],
  ...["/", "/leaderboard", "/collections", "/nothing", "/docs", "/docs/page.js", "/healthz"],
  ...["/readyz", "/metrics", "/ops", "/ops/publishing", "/ops/alarms", "/ops/queues", "/ops/keys"],
  ...[
    "/ops/seasons",
    "/ops/premium",
    "/ops/xp",
    "/ops/live/numbers",
    "/ops/sign-in",
    "/favicon.ico",
  ],
];

function query(random: Dice, names: readonly string[], values: readonly string[]): string {
  const pair = (): string => {
    const value = random.below(4) === 0 ? encodeURIComponent(junk(random)) : random.pick(values);
    const form = random.below(15);
    if (form === 0) return random.pick(names);
    if (form === 1) return `${random.pick(names)}[]=${value}`;
    return `${random.pick(names)}=${stretched(random, value)}`;
  };
  const pairs = random.pick([1, 1, 1, 2, 3]);
  return Array.from({ length: pairs }, pair).join(random.pick(["&", "&", "&&", ";"]));
}

/** Names by the list that has them; now and then they are asked of another one. */
const parameters =
  (names: Readonly<Record<string, readonly string[]>>, values: readonly string[]): Class =>
  (random, world) => {
    const list = random.pick(Object.keys(names));
    const target = random.below(10) === 0 ? random.pick(PATHS) : list;
    const mark = target.includes("?") ? "&" : "?";
    return get(random, world, `${target}${mark}${query(random, names[list] ?? [], values)}`);
  };

const ids: Class = (random, world) => {
  const known = [...world.starIds, world.today, world.finalDay, random.pick(world.voters).id];
  const id = random.pick([
    () => encodeURIComponent(junk(random)),
    () => random.pick(known),
    () => stretched(random, random.pick(IDS)),
    () => `${random.pick(IDS)}/${random.pick([...known, ...IDS])}`,
  ])();
  return get(random, world, random.pick(RECORDS) + id);
};

const keys: Class = (random, world) => {
  const { key, revokedKey, operatorTokens, metricsToken } = world;
  const target = random.pick([
    ...["/v1/events", "/v1/tokens/top", "/v1/", "/v1/openapi.json", "/voting/allowance"],
    ...["/voting/stars", "/ops/api/health", "/ops/api/actors", "/metrics", "/ops", "/stars"],
  ]);
  const right = random.pick([key, random.pick(world.voters).token, random.pick(operatorTokens)]);
  const swapped = `${right.slice(0, -1)}${right.endsWith("a") ? "b" : "a"}`;
  const values = [
    ...["", right, right, revokedKey, metricsToken, swapped, `${right}x`, right.toUpperCase()],
    ...[right.replace("_live_", "_test_"), "x".repeat(8_192), utf8("schlüssel"), junk(random)],
  ];
  const scheme = random.pick(["Bearer", "bearer", "BEARER", "Basic", "Bearer  ", "", "Token"]);
  const headers = Array.from(
    { length: random.below(3) },
    () => `Authorization: ${scheme} ${random.pick(values)}`,
  );
  const name = random.pick(["starboard", "__Host-starboard", "starboard-operator"]);
  if (random.below(4) === 0) headers.push(`Cookie: ${name}=${random.pick(values)}; ${name}=x`);
  // A wrong token counts against its address, and ten shut it out.
  headers.push(`X-Forwarded-For: 10.2.${random.below(250)}.${random.below(250)}`);
  const pairs = target.startsWith("/v1") ? random.below(3) : 0;
  const inQuery = Array.from(
    { length: pairs },
    () => `api_key=${encodeURIComponent(random.pick(values))}`,
  );
  return {
    bytes: http({ target: `${target}${pairs > 0 ? "?" : ""}${inQuery.join("&")}`, headers }),
  };
};

const methods: Class = (random, world) => {
  const method = random.pick(METHODS);
  const target = random.pick(PATHS);
  const override = random.pick(["GET", "DELETE", "TRACE"]);
  // Sessions are not ended here: the other classes vote with them.
  const isSafe = !target.startsWith("/voting") && !target.startsWith("/ops");
  const headers = [
    ...(isSafe || method === "HEAD" ? credentials(random, world, target) : []),
    ...[`X-HTTP-Method-Override: ${override}`, `X-Method: ${override}`],
  ];
  if (method === "OPTIONS" && random.below(3) === 0)
    return { bytes: http({ method, target: "*", headers }) };
  if (method === "CONNECT") return { bytes: http({ method, target: "fuzz:443", headers }) };
  return { bytes: http({ method, target, headers }), untilHead: method === "HEAD" };
};

const framing: Class = (random, world) => {
  const target = random.pick(["/v1/tokens/top", "/voting/allowance", "/ops/api/health", "/tokens"]);
  const mine = credentials(random, world, target).join("\r\n");
  const head = `Host: fuzz\r\n${mine === "" ? "X-Nothing: 1" : mine}\r\n`;
  const first = `GET ${target} HTTP/1.1\r\n${head}`;
  const end = "Connection: close\r\n\r\n";
  const bytesOf =
    (text: string, replies = ONE): (() => Asked) =>
    () => ({ bytes: text, replies });
  const range = random.pick([
    "0-0",
    "-1",
    "5-2",
    "0-99999999999",
    "-",
    "a-b",
    "0-1,4-5",
    "99999999-",
  ]);
  const forms: readonly (() => Asked)[] = [
    bytesOf(
      `${first}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n${end}0\r\n\r\n`,
      UP_TO_TWO,
    ),
    bytesOf(`${first}Content-Length: 5\r\nContent-Length: 6\r\n${end}hello`, UP_TO_TWO),
    bytesOf(`${first}Transfer-Encoding: xchunked\r\n${end}`, UP_TO_TWO),
    bytesOf(`GET ${target} HTTP/1.1\nHost: fuzz\nConnection: close\n\n`),
    bytesOf(`${first}Host: other\r\n${end}`),
    bytesOf(`GET ${target} HTTP/1.1\r\nX-No-Host: 1\r\n${end}`),
    bytesOf(`GET http://other.example${target} HTTP/1.1\r\n${head}${end}`),
    bytesOf(`GET ${target} HTTP/1.1\r\nHost: ${stretched(random, junk(random))}\r\n${end}`),
    bytesOf(
      `${first}Transfer-Encoding: chunked\r\n${end}5;ext=${junk(random)}\r\nhello\r\n0\r\n\r\n`,
      UP_TO_TWO,
    ),
    bytesOf(`${first}X-Long: ${"a".repeat(17 * 1_024)}\r\n${end}`),
    bytesOf(`${first}Content-Length: 11\r\n${end}hello=world`),
    bytesOf(`${first}\r\n${first}\r\n${first}${end}`, { least: 3, most: 3 }),
    bytesOf(
      `${first}Accept-Encoding: ${junk(random)}, gzip;q=${junk(random, 5)}\r\nIf-None-Match: ${junk(random)}\r\n${end}`,
    ),
    bytesOf(`GET  ${target}  HTTP/1.1\r\n${head}${end}`),
    bytesOf(`GET ${target} HTTP/9.9\r\n${head}${end}`),
    bytesOf(`GET ${target}\r\n\r\n`),
    bytesOf(`${first}X-${junk(random)}: ${utf8("\u{1F31F}")}\u0001\r\n${end}`),
    bytesOf(`${junk(random, 200)}\r\n\r\n`, PERHAPS),
    bytesOf(first.slice(0, 1 + random.below(first.length)), PERHAPS),
    bytesOf(
      http({
        method: random.pick(["GET", "GET", "HEAD"]),
        target: `/exports/${random.pick([world.finalDay, world.today])}`,
        headers: [
          `Range: bytes=${range}`,
          ...(random.below(2) ? [`If-Range: "${junk(random)}"`] : []),
        ],
      }),
    ),
    bytesOf(
      http({
        target: "/voting/live",
        headers: [`Last-Event-ID: ${random.pick([...NUMBERS, junk(random)])}`],
      }),
    ),
  ];
  const asked = random.pick(forms)();
  return { ...asked, untilHead: asked.bytes.includes(" /voting/live ") };
};

const forwarded: Class = (random, world) => {
  const hop = (): string => (random.below(6) === 0 ? junk(random, 60) : random.pick(ADDRESSES));
  const hops = Array.from({ length: random.below(20) === 0 ? 500 : random.below(6) }, hop);
  const names = ["X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "Forwarded", "X-Request-Id"];
  const headers = [`${random.pick(names)}: ${hops.join(random.pick([",", ", ", " ,"]))}`];
  if (random.below(3) === 0) headers.push(`X-Forwarded-For: ${hop()}`);
  const target = random.pick([
    "/v1/tokens/top?limit=1",
    "/voting/allowance",
    "/exports",
    "/tokens",
  ]);
  return get(random, world, target, headers);
};

/** Bodies that are nearly, or not at all, what an operation takes. */
function oddJson(random: Dice, fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields);
  const name = random.pick(names);
  const plain = JSON.stringify(fields);
  const odd: readonly (() => string)[] = [
    () => JSON.stringify({ ...fields, [name]: random.pick([null, 1, true, [], {}, "", "\u0000"]) }),
    () => JSON.stringify({ ...fields, [name]: junk(random, 400) }),
    () => JSON.stringify({ ...fields, [junk(random) || "x"]: 1 }),
    () => plain.replace("{", '{"__proto__":{"polluted":true},'),
    () => plain.replace("{", '{"constructor":{"prototype":{"polluted":true}},'),
    () => plain.replace("{", `{"${name}":1,`),
    () => `${"[".repeat(2_000)}${"]".repeat(2_000)}`,
    () => '{"a":'.repeat(700),
    () => `{"${name}":1${"0".repeat(3_500)}}`,
    () => `{"${name}":"${"x".repeat(6_000)}"}`,
    () => `\u00ef\u00bb\u00bf${plain}`,
    () => `${plain}${plain}`,
    () => plain.slice(0, random.below(plain.length)),
    () => utf8(`{"${name}":"\u{1F31F}\ud800"}`),
    () => `{"${name}":"\u00c3"}`,
    () => `{"${name}":"\\ud800\\u0000"}`,
    () => random.pick(["", "null", "[]", "1", '"x"', "NaN", "{}", "undefined", "{'a':1}"]),
  ];
  return random.below(3) === 0 ? plain : random.pick(odd)();
}

const FORMS: Readonly<Record<string, readonly string[]>> = {
  "/ops/keys": ["name"],
  "/ops/keys/revoke": ["id"],
  "/ops/seasons": ["name", "starts", "ends"],
  "/ops/premium": ["wallet", "season"],
  "/ops/premium/revoke": ["wallet", "season"],
  "/ops/xp": ["wallet", "points", "reason", "id"],
  "/ops/publishing/redrive": ["star"],
  "/ops/publishing/resolve": ["finding"],
  "/ops/catalogue": ["type", "id", "view", "only", "do"],
  "/ops/holdings/run": ["confirmed"],
  "/ops/queues": ["queue", "id"],
};
const TYPES_OF_CONTENT = [
  ...["Content-Type: text/plain", "X-None: 1", "Content-Type: application/json; charset=utf-8"],
  ...["Content-Type: application/json; charset=utf-16", "Content-Type: application/JSON;x=y"],
];

const voteJson: Class = (random, world) => {
  const form = random.pick(["star", "star", "star", "challenge", "session", "console"]);
  if (form === "console") return consoleForm(random, world);
  const voter = random.pick(world.voters);
  const idempotency = random.pick([
    "",
    `Idempotency-Key: ${random.below(50)}`,
    "Idempotency-Key: ",
  ]);
  const encoding = random.below(20) === 0 ? [`Content-Encoding: ${junk(random) || "gzip"}`] : [];
  const contentType = random.below(8) > 0 ? JSON_TYPE : random.pick(TYPES_OF_CONTENT);
  const headers = [bearer(voter.token), contentType, ...encoding];
  if (random.below(15) === 0) headers.push(`Idempotency-Key: ${stretched(random, junk(random))}`);
  else if (idempotency !== "") headers.push(idempotency);
  const [path, fields] = {
    star: ["/voting/stars", { target: starTarget(random) }] as const,
    challenge: ["/voting/challenges", { wallet: random.pick([voter.id, ...IDS]) }] as const,
    session: [
      "/voting/sessions",
      { challengeId: random.pick(IDS), scheme: "hip820", signature: junk(random, 90) },
    ] as const,
  }[form as "star" | "challenge" | "session"];
  const mark = random.below(20) === 0 ? `?${query(random, ["x", "type"], ENUMS)}` : "";
  return post(random, path + mark, headers, oddJson(random, fields));
};

function starTarget(random: Dice): { type: string; id: string } {
  const id = random.pick([...IDS.slice(0, 30), "meetup", "hack", "mint", "dex", "wiki"]);
  const token = `0.0.${9_001 + random.below(40)}`;
  return random.pick([
    { type: random.pick(TYPES), id },
    ...[
      { type: "token", id: token },
      { type: "token", id: token },
    ],
    { type: "project", id: random.pick(["dex", "wiki"]) },
    { type: "event", id: random.pick(["meetup", "hack", "mint"]) },
    { type: "collection", id: "0.0.8001" },
    { type: junk(random), id },
  ]);
}

function consoleForm(random: Dice, world: World): Asked {
  const { cookie, formToken } = random.pick(world.consoles);
  const path = random.pick([...Object.keys(FORMS), "/ops/sign-in", "/ops/nothing"]);
  const names = FORMS[path] ?? ["operator", "operatorToken", "next"];
  const values = [...IDS, ...NUMBERS, "0.0.1001", "2026-11-20T10:00", "yes", "token", "a name"];
  const fields = names.map((name) => {
    const value = random.below(3) === 0 ? encodeURIComponent(junk(random)) : random.pick(values);
    return `${name}=${stretched(random, value)}`;
  });
  const token = random.below(5) === 0 ? junk(random) : formToken;
  const origin = `Origin: ${random.below(8) === 0 ? "https://other.example" : world.service.url}`;
  const type = "Content-Type: application/x-www-form-urlencoded";
  const body = [`token=${encodeURIComponent(token)}`, ...fields].join("&");
  return post(random, path, [`Cookie: ${cookie}`, origin, type], body);
}

/** A sign-in of which one thing at a time is wrong; now and then nothing is. */
const signIns: Class = async (random, world) => {
  const { service, signers } = world;
  const wallet = random.pick(signers);
  const other = random.pick(signers);
  const body = await challengeOf(service, wallet.id);
  const { scheme, signature } = signChallenge(wallet, body.message);
  const right: Record<string, unknown> = { challengeId: body.id, scheme, signature };
  const otherText = (from: string | RegExp, to: string): string =>
    signChallenge(wallet, String(body.message).replace(from, to)).signature;
  const wrong: readonly (() => Record<string, unknown>)[] = [
    () => right,
    () => ({ ...right, signature: signChallenge(other, body.message).signature }),
    () => ({ ...right, signature: otherText(/^\S+/, "evil.example") }),
    () => ({ ...right, signature: otherText("hedera:local", "hedera:mainnet") }),
    () => ({ ...right, signature: otherText(wallet.id, "0.0.2") }),
    () => ({ ...right, signature: otherText(/Nonce: ..../, "Nonce: 0000") }),
    () => ({ ...right, signature: otherText(/Expiration Time: 2/, "Expiration Time: 3") }),
    () => ({ ...right, scheme: scheme === "hip820" ? "eip191" : "hip820" }),
    () => ({ ...right, scheme: junk(random) }),
    () => ({ ...right, challengeId: random.pick(IDS) }),
    () => ({ ...right, signature: mutated(random, signature) }),
    () => ({ ...right, signature: "A".repeat(random.pick([0, 1, 4_096, 4_097, 65_536])) }),
    () => ({ ...right, signature: `0x${"00".repeat(65)}` }),
    () => ({ ...right, signature: Buffer.from(junk(random, 300)).toString("base64") }),
    () => ({ ...right, cookie: random.pick([true, false, "yes"]) }),
    () => ({ ...right, wallet: wallet.id }),
  ];
  const origin = random.below(6) === 0 ? ["Origin: https://evil.example"] : [];
  return post(
    random,
    "/voting/sessions",
    [JSON_TYPE, ...origin],
    JSON.stringify(random.pick(wrong)()),
  );
};

/** A busy machine may be late with one: it is asked for until it comes. */
async function challengeOf(service: World["service"], wallet: string) {
  for (;;) {
    const { status, body } = await send(service, "POST /voting/challenges", { json: { wallet } });
    if (status === 201) return body;
  }
}

function mutated(random: Dice, text: string): string {
  const at = random.below(text.length);
  return `${text.slice(0, at)}${random.pick(["A", "0", "f", "=", ""])}${text.slice(at + 1)}`;
}

/** The classes of requests, by reliability.md's numbers 1 to 10. */
export const CLASSES: readonly (readonly [string, Class])[] = [
  ["limit and offset", parameters(NUMBERED, NUMBERS)],
  ["enumerations", parameters(ENUMERATED, ENUMS)],
  ["country", parameters(LOCATED, COUNTRIES)],
  ["ids", ids],
  ["keys", keys],
  ["methods", methods],
  ["framing", framing],
  ["forwarded addresses", forwarded],
  ["vote JSON", voteJson],
  ["sign-in", signIns],
];

/** The dice of request number `index` of a run. */
export function diceOf(seed: number, index: number): Dice {
  return dice(seed * 1_000_003 + index);
}

/** What a class asks by these dice. */
export async function oddRequest(make: Class, random: Dice, world: World): Promise<WireRequest> {
  return { replies: ONE, ...(await make(random, world)) };
}

/** A plain request of a voter, for answers that are odd behind it. */
export function voterRequest(random: Dice, voter: Voter): WireRequest {
  const headers = [bearer(voter.token)];
  const target = random.pick(["token&id=0.0.9001", "event&id=mint", "event&id=meetup"]);
  if (random.below(3) > 0) {
    return { bytes: http({ target: `/voting/preview?type=${target}`, headers }), replies: ONE };
  }
  const body = JSON.stringify({ target: starTarget(random) });
  return { replies: ONE, ...post(random, "/voting/stars", [...headers, JSON_TYPE], body) };
}
