/** Odd requests, in classes, each a function of a seed: the same seed gives the same bytes. */
export interface OddRequest {
  readonly name: string;
  /** What goes over the wire, in latin1. */
  readonly bytes: string;
  /** Replies that may come: a pipeline brings several, a broken frame perhaps none. */
  readonly replies: { readonly least: number; readonly most: number };
}

/** A source of randomness that can be repeated (mulberry32). */
export interface Dice {
  /** A whole number below `sides`. */
  below(sides: number): number;
  pick<T>(of: readonly T[]): T;
}

export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (sides: number): number => Math.floor(next() * sides);
  return { below, pick: (of) => of[below(of.length)] as (typeof of)[number] };
}

/** What a request may use. */
export interface Given {
  readonly key: string;
  readonly revokedKey: string;
}

interface Parts {
  readonly method?: string;
  readonly target: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

const one = { least: 1, most: 1 };
const LISTS = ["/events", "/ecosystem", "/tokens/top", "/collections/top", "/leaderboard"];
const utf8 = (text: string): string => Buffer.from(text).toString("latin1");

function http({ method = "GET", target, headers = [], body = "" }: Parts): string {
  const lines = [`${method} ${target} HTTP/1.1`, "Host: fuzz", ...headers, "Connection: close"];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

const bearer = ({ key }: Given): string => `Authorization: Bearer ${key}`;

function junk(random: Dice, most = 40): string {
  const length = random.below(most);
  return Array.from({ length }, () => String.fromCharCode(33 + random.below(94))).join("");
}

const NUMBERS = [
  ...["-1", "0", "1", "100", "101", "1e309", "1.0", "0x10", "%2B5", "+5", "5%20", "%205"],
  ...["%EF%BC%95", "9007199254740992", "999999999", "1000000000", "null", "NaN", "Infinity", ""],
  ...[
    "[]",
    "[1]",
    "{}",
    "true",
    "1,2",
    "1;2",
    "%00",
    "1%00",
    "%D9%A5",
    "00000000000000000001",
    "-0",
  ],
];
const ENUMS = [
  ...["live", "LIVE", "Live", "l%C4%B1ve", "all", "ended%00", "OTHER", "other", "DEFI", "defi"],
  ...["%D0%A2OOLS", "MINT_EVENT%20", "SOURCE_B", "SOURCE_A", "undefined", "constructor"],
];
const COUNTRIES = [
  "de",
  "DE",
  "dE",
  "D",
  "DEU",
  "%C3%84B",
  "%F0%9F%87%A9%F0%9F%87%AA",
  "1A",
  "%00%00",
  "D%45",
  "d+e",
  "--",
];
const IDS = [
  ...[
    "e",
    "none",
    "..%2F..%2Fetc%2Fpasswd",
    "../events",
    "%2e%2e",
    "%00",
    "%",
    "%zz",
    "%C0%AF",
    "'",
  ],
  ...[
    "%27%20or%201%3D1--",
    "%27%3B%20drop%20table%20event%3B--",
    "0.0.1",
    "0.0.-1",
    "0.0.99999999999999999999",
  ],
  ...[
    "99999999999999999999999",
    "%ED%A0%80",
    "%F0%9F%98%80",
    "__proto__",
    "constructor",
    "toString",
    ";",
    "e/",
    "/e",
    "e%2Fe",
  ],
];
const METHODS = [
  ...[
    "HEAD",
    "OPTIONS",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "TRACE",
    "PROPFIND",
    "PURGE",
    "SEARCH",
    "LINK",
  ],
  ...["REPORT", "M-SEARCH", "QUERY", "get", "FOO", "GETT", "CONNECT"],
];
const ADDRESSES = [
  ...[
    "1.2.3.4",
    "::1",
    "[::1]:80",
    "1.2.3.4:80",
    "::ffff:1.2.3.4",
    "::ffff:0102:0304",
    "fe80::1%25eth0",
  ],
  ...[
    "fe80::1%eth0",
    "300.1.1.1",
    "1.2.3",
    "unknown",
    "_hidden",
    "",
    " ",
    "::",
    "2001:db8::/32",
    "0x7f.1",
    "127.0.0.1",
  ],
];

/** Repeats a value beyond what any buffer is made for, now and then. */
function stretched(random: Dice, value: string): string {
  return random.below(12) === 0 ? value.repeat(1 + random.below(2_000)).slice(0, 12_000) : value;
}

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

type Class = (random: Dice, given: Given) => Omit<OddRequest, "name">;

const asked = (given: Given, target: string): Omit<OddRequest, "name"> => ({
  bytes: http({ target, headers: [bearer(given)] }),
  replies: one,
});

/** Names by the list that has them; now and then they are asked of another one. */
const parameters =
  (names: Readonly<Record<string, readonly string[]>>, values: readonly string[]): Class =>
  (random, given) => {
    const list = random.pick(Object.keys(names));
    const target = random.below(10) === 0 ? random.pick(LISTS) : list;
    return asked(given, `/v1${target}?${query(random, names[list] ?? [], values)}`);
  };

const ids: Class = (random, given) => {
  const id = random.below(4) === 0 ? encodeURIComponent(junk(random)) : random.pick(IDS);
  return asked(given, `/v1/events/${stretched(random, id)}`);
};

const keys: Class = (random, given) => {
  const { key, revokedKey } = given;
  const swapped = `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`;
  const values = [
    "",
    key,
    revokedKey,
    swapped,
    `${key}x`,
    key.toUpperCase(),
    key.replace("_live_", "_test_"),
    "x".repeat(8_192),
    utf8("schlüssel"),
    junk(random),
  ];
  const scheme = random.pick(["Bearer", "bearer", "BEARER", "Basic", "Bearer  ", "", "Token"]);
  const header = (): string => `Authorization: ${scheme} ${random.pick(values)}`;
  const headers = Array.from({ length: random.below(3) }, header);
  const inQuery = Array.from(
    { length: random.below(3) },
    () => `api_key=${encodeURIComponent(random.pick(values))}`,
  );
  const target = `/v1${random.pick([...LISTS, "/", "/openapi.json"])}?${inQuery.join("&")}`;
  return { bytes: http({ target, headers }), replies: one };
};

const methods: Class = (random, given) => {
  const method = random.pick(METHODS);
  const target = random.pick([
    "/v1/events",
    "/v1/",
    "/v1/nothing",
    "/v1/openapi.json",
    "/v1/events/e",
  ]);
  const override = random.pick(["GET", "DELETE", "TRACE"]);
  const headers = [bearer(given), `X-HTTP-Method-Override: ${override}`, `X-Method: ${override}`];
  if (method === "OPTIONS" && random.below(3) === 0)
    return { bytes: http({ method, target: "*", headers }), replies: one };
  if (method === "CONNECT")
    return { bytes: http({ method, target: "fuzz:443", headers }), replies: one };
  return { bytes: http({ method, target, headers }), replies: one };
};

const framing: Class = (random, given) => {
  const head = `Host: fuzz\r\n${bearer(given)}\r\n`;
  const get = `GET /v1/tokens/top HTTP/1.1\r\n${head}`;
  const end = "Connection: close\r\n\r\n";
  const forms: readonly (() => Omit<OddRequest, "name">)[] = [
    () => ({
      bytes: `${get}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n${end}0\r\n\r\n`,
      replies: { least: 1, most: 2 },
    }),
    () => ({
      bytes: `${get}Content-Length: 5\r\nContent-Length: 6\r\n${end}hello`,
      replies: { least: 1, most: 2 },
    }),
    () => ({
      bytes: `${get}Transfer-Encoding: xchunked\r\n${end}`,
      replies: { least: 1, most: 2 },
    }),
    () => ({
      bytes: `GET /v1/tokens/top HTTP/1.1\nHost: fuzz\n${bearer(given)}\nConnection: close\n\n`,
      replies: one,
    }),
    () => ({ bytes: `${get}Host: other\r\n${end}`, replies: one }),
    () => ({ bytes: `GET /v1/tokens/top HTTP/1.1\r\n${bearer(given)}\r\n${end}`, replies: one }),
    () => ({
      bytes: `GET http://other.example/v1/tokens/top HTTP/1.1\r\n${head}${end}`,
      replies: one,
    }),
    () => ({
      bytes: `GET /v1/tokens/top HTTP/1.1\r\nHost: ${stretched(random, junk(random))}\r\n${bearer(given)}\r\n${end}`,
      replies: one,
    }),
    () => ({
      bytes: `${get}Transfer-Encoding: chunked\r\n${end}5;ext=${junk(random)}\r\nhello\r\n0\r\n\r\n`,
      replies: { least: 1, most: 2 },
    }),
    () => ({ bytes: `${get}X-Long: ${"a".repeat(17 * 1_024)}\r\n${end}`, replies: one }),
    () => ({ bytes: `${get}Content-Length: 11\r\n${end}hello=world`, replies: one }),
    () => ({ bytes: `${get}\r\n${get}\r\n${get}${end}`, replies: { least: 3, most: 3 } }),
    () => ({
      bytes: `${get}Accept-Encoding: ${junk(random)}, gzip;q=${junk(random, 5)}\r\nIf-None-Match: ${junk(random)}\r\n${end}`,
      replies: one,
    }),
    () => ({ bytes: `GET  /v1/tokens/top  HTTP/1.1\r\n${head}${end}`, replies: one }),
    () => ({ bytes: `GET /v1/tokens/top HTTP/9.9\r\n${head}${end}`, replies: one }),
    () => ({ bytes: `GET /v1/tokens/top\r\n\r\n`, replies: one }),
    () => ({
      bytes: `${get}X-${junk(random)}: ${utf8("\u{1F31F}")}\u0001\r\n${end}`,
      replies: one,
    }),
    () => ({ bytes: `${junk(random, 200)}\r\n\r\n`, replies: { least: 0, most: 1 } }),
    () => ({ bytes: get.slice(0, 1 + random.below(get.length)), replies: { least: 0, most: 1 } }),
  ];
  return random.pick(forms)();
};

const forwarded: Class = (random, given) => {
  const hop = (): string => (random.below(6) === 0 ? junk(random, 60) : random.pick(ADDRESSES));
  const hops = Array.from({ length: random.below(20) === 0 ? 500 : random.below(6) }, hop);
  const names = ["X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "Forwarded", "X-Request-Id"];
  const headers = [
    bearer(given),
    `${random.pick(names)}: ${hops.join(random.pick([",", ", ", " ,"]))}`,
  ];
  if (random.below(3) === 0) headers.push(`X-Forwarded-For: ${hop()}`);
  return { bytes: http({ target: "/v1/tokens/top?limit=1", headers }), replies: one };
};

/** The classes of requests, in the order in which they take turns. */
export const CLASSES: readonly (readonly [string, Class])[] = [
  [
    "limit and offset",
    parameters(
      {
        "/events": ["limit", "offset"],
        "/ecosystem": ["limit", "offset"],
        "/tokens/top": ["limit"],
        "/collections/top": ["limit"],
        "/leaderboard": ["limit"],
      },
      NUMBERS,
    ),
  ],
  [
    "enumerations",
    parameters({ "/events": ["status", "eventType", "source"], "/ecosystem": ["category"] }, ENUMS),
  ],
  ["country", parameters({ "/ecosystem": ["country"] }, COUNTRIES)],
  ["ids", ids],
  ["keys", keys],
  ["methods", methods],
  ["framing", framing],
  ["forwarded addresses", forwarded],
];

/** Request number `index` of a run. */
export function oddRequest(seed: number, index: number, given: Given): OddRequest {
  const [name, make] = CLASSES[index % CLASSES.length] ?? ["none", framing];
  return { name, ...make(dice(seed * 1_000_003 + index), given) };
}
