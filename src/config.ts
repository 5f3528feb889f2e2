import { existsSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { z } from "zod";

/**
 * All settings, read once, from the environment alone (contract, section 6).
 * `.env.example` is generated from this file.
 */

const matching = (form: RegExp, error: string) => z.string().regex(form, error);
const ENTITY = /^0\.0\.[1-9]\d{0,11}$/;
const entityId = matching(ENTITY, "must be a ledger id such as 0.0.1001");
/** Of several URLs in one text a parser makes one: what follows the first is its host or its path. */
export const SEVERAL_URLS = /^[^?#]*[\s,;|]\w+:\/\//;
const httpUrl = z
  .string()
  .refine((text) => !SEVERAL_URLS.test(text), "must be one URL")
  .pipe(z.url({ protocol: /^https?$/, error: "must be an http(s) URL" }));
/** Paths are put behind it: what else a URL may hold, a key among it, would be lost. */
const baseUrl = httpUrl.refine((text) => {
  if (!URL.canParse(text)) return true; // Named as that already.
  const { origin, pathname, href } = new URL(text);
  return href === `${origin}${pathname}`;
}, "must have no credentials, query or fragment");
/** The URL of a store. Without a host its driver would take this machine's; it decodes each part. */
const serverUrl = (protocol: RegExp, error: string) =>
  z
    .url({ protocol, hostname: /^[^,]+$/, error })
    .regex(/^([^%]|%[\da-f]{2})*$/i, "has a % that must be written %25");
/** What a URL takes as a host, by itself: no port, path or credentials with it. */
const host = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || (!/[\s:/?#@\\]/.test(text) && URL.canParse(`http://${text}`)),
    "must be a name or an address",
  );
/** One origin as browsers write it; a pattern, `*` and `null` name none. */
const origin = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol.startsWith("http") && url.href === `${url.origin}/` && !text.includes("*")) {
    return url.origin;
  }
  context.addIssue({
    code: "custom",
    message: "must be origins such as https://app.example; * and null are refused",
  });
  return z.NEVER;
});
const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean),
);
const listOf = <Entry extends z.ZodType<string, string>>(entry: Entry) =>
  list.pipe(z.array(entry)).default([]);
const choice = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, { error: `must be one of ${names.join(", ")}` });
const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error, abort: true })
    .transform(Number)
    .pipe(z.number().min(min, error).max(max, error));
};
const count = (fallback: number, min: number, max: number) =>
  whole(min, max).prefault(String(fallback));

/** Begins with a letter, so it is no inherited property such as `__proto__`. */
const messageKey = matching(
  /^[A-Za-z][A-Za-z0-9_-]{0,39}$/,
  "must be a name of letters, digits, _ and -: a letter first, 40 at most",
);
/** It is sent in a header, which holds no other characters as they are. */
const token = matching(/^[\x20-\x7e]{16,}$/, "needs at least 16 characters, all of them ASCII");

const SOURCE = /^[A-Z][A-Z0-9_]{0,39}$/;

/** No IPv6 address: the SDK takes what follows its first colon for the port. */
const NODE = /^(?<address>[^=\s/@:]+:(?<port>[1-9]\d{0,4}))=(?<account>0\.0\.[1-9]\d{0,11})$/;
const node = z.string().transform((entry, context) => {
  const { address, account, port } = NODE.exec(entry)?.groups ?? {};
  if (address === undefined || account === undefined || Number(port) > 65_535) {
    context.addIssue({ code: "custom", message: "must be host:port=0.0.n, comma-separated" });
    return z.NEVER;
  }
  return { address: address.toLowerCase(), account };
});

/** Every setting; the description becomes its line in `.env.example`. */
export const settings = z.object({
  PORT: count(3000, 0, 65_535).describe("Port of the web process."),
  WORKER_PORT: whole(0, 65_535)
    .optional()
    .describe("Port of the worker's /healthz, /readyz and /metrics; unset: none."),
  HOST: host.default("127.0.0.1").describe("Address that web and worker bind."),
  PUBLIC_URL: baseUrl.optional().describe("URL clients use; default http://HOST:PORT."),
  // With several hosts the driver tries one after another without a pause or an end.
  DATABASE_URL: serverUrl(/^postgres(ql)?$/, "must be a postgres:// URL of one host")
    .optional()
    .describe("Postgres. `npm start` brings its own when this is unset."),
  REDIS_URL: serverUrl(/^rediss?$/, "must be a redis:// URL of one host")
    .regex(/^\w+:\/\/[^/?#]*(\/\d*)?([?#].*)?$/, "has a path that is no number of a database")
    .optional()
    .describe(
      "Redis (maxmemory-policy noeviction). `npm start` brings its own when this is unset.",
    ),
  HEDERA_NETWORK: choice(["local", "testnet", "mainnet", "previewnet"])
    .default("local")
    .describe(
      "Ledger network. `local` is a ledger on this machine that speaks the real protocols.",
    ),
  HEDERA_NODES: list
    .pipe(z.array(node).min(1, "must name one node at least"))
    .refine(
      (nodes) => new Set(nodes.map(({ address }) => address)).size === nodes.length,
      "must not name one address twice",
    )
    .optional()
    .describe("Consensus nodes, host:port=0.0.3,…; default: the network's own."),
  MIRROR_NODE_URL: list
    .refine((urls) => !urls.some((url) => SEVERAL_URLS.test(url)), "must be comma-separated URLs")
    .pipe(z.array(baseUrl).min(1, "must name one URL at least"))
    .optional()
    .describe("Mirror node base URL, one or several, comma-separated."),
  HEDERA_OPERATOR_ID: entityId.optional().describe("Account that pays for messages. Worker only."),
  HEDERA_OPERATOR_KEY: matching(
    /^(0x)?[0-9a-fA-F]{64,256}$/,
    "must be a private key in DER or raw hex",
  )
    .optional()
    .describe("Its private key, DER or raw hex. Worker only."),
  EVENT_VOTES_TOPIC_ID: entityId.optional().describe("Topic of event stars."),
  ASSET_VOTES_TOPIC_ID: entityId
    .optional()
    .describe("Topic of token, collection and project stars."),
  COLLECTION_A_ID: entityId.optional().describe("NFT collection that adds 1 per NFT held."),
  COLLECTION_A_KEY: messageKey.optional().describe("Its key in a message's `holdings`."),
  COLLECTION_B_ID: entityId.optional().describe("NFT collection that adds 5 once."),
  COLLECTION_B_KEY: messageKey.optional().describe("Its key in a message's `holdings`."),
  EVENT_SOURCES: list
    .refine(
      ([one = "", other = "", ...more]) =>
        SOURCE.test(one) && SOURCE.test(other) && one !== other && more.length === 0,
      "must be two upper-case names, comma-separated",
    )
    .optional()
    .describe("The two external event sources, upper-case names, comma-separated."),
  OPERATOR_TOKEN: token
    .optional()
    .describe("Opens /ops, and /metrics where METRICS_TOKEN is unset."),
  METRICS_TOKEN: token.optional().describe("Opens /metrics and nothing else."),
  EXCLUDED_WALLETS: listOf(entityId).describe(
    "Wallets that carry only the base 1 (a treasury, say).",
  ),
  TRUSTED_PROXIES: listOf(matching(/^[0-9a-fA-F:.]+(\/\d{1,3})?$/, "must be CIDR ranges")).describe(
    "Peers whose X-Forwarded-For counts, CIDR list.",
  ),
  VOTING_ORIGINS: listOf(origin).describe("Origins of browser voting clients (CORS)."),
  API_RATE_LIMIT: count(100, 1, 1_000_000).describe("Public API requests per client and 60 s."),
  VOTING_RATE_LIMIT: count(300, 1, 1_000_000).describe("Voting requests per client and 60 s."),
  PRICE_URL: httpUrl
    .refine(
      (text) => !/^\w+:\/*[^/?#]*@/.test(text),
      "must have no credentials: requests leave them out",
    )
    .optional()
    .describe("Source of token prices and market caps."),
  PAGES: choice(["on", "off"]).default("on").describe("The directory's pages at /; off: none."),
  SITE_NAME: z
    .string()
    .refine((text) => [...text].length <= 60, "must be at most 60 characters")
    .default("Starboard")
    .describe("What the pages call this directory."),
  EXPLORER_URL: baseUrl
    .optional()
    .describe("Base of the explorer's pages; default: HashScan's for the public networks."),
  WALLETCONNECT_PROJECT_ID: matching(/^[A-Za-z0-9_-]{1,64}$/, "must be a project's id")
    .optional()
    .describe("Project of WalletConnect, by which Hedera wallets sign in; unset: they cannot."),
  XP_PER_STAR: count(1, 0, 1_000).describe("XP credited per accepted star."),
  DEMO_VOTERS: choice(["on", "off"])
    .default("on")
    .describe("Whether the demo of `npm start` has voters that vote by themselves."),
  LOG_LEVEL: choice(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .default("info")
    .describe("Least severe level that is logged."),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe("OpenTelemetry collector, OTLP over HTTP; unset: no traces."),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl
    .optional()
    .describe("The same for traces alone, with its whole path."),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .string()
    .optional()
    .describe("Traces are sent as http/json; another one is answered by a warning."),
  OTEL_TRACES_EXPORTER: z
    .string()
    .optional()
    .describe("otlp sends traces, to http://localhost:4318 without an endpoint; others do not."),
  OTEL_SDK_DISABLED: z
    .string()
    .default("false")
    .transform((text) => text.toLowerCase() === "true")
    .describe("true: no traces, even where an endpoint is set."),
  OTEL_SERVICE_NAME: z
    .string()
    .optional()
    .describe("Name of the service in traces; default starboard-web or starboard-worker."),
  FAILPOINT: matching(/^[a-z]+\.[a-z_]+:[a-z]+(:\d+)?$/, "must be name:mode or name:mode:hit")
    .optional()
    .describe("For tests: where this process dies or fails. Refused in production."),
});

export type Settings = z.output<typeof settings>;
export type SettingName = keyof Settings;

/** What says which NFTs add weight, and how messages name them. */
export const COLLECTION_SETTINGS = [
  "COLLECTION_A_ID",
  "COLLECTION_A_KEY",
  "COLLECTION_B_ID",
  "COLLECTION_B_KEY",
] as const;
export type CollectionSetting = (typeof COLLECTION_SETTINGS)[number];

/** What says how stars are weighed and published. */
export const LEDGER_SETTINGS = [
  "HEDERA_OPERATOR_ID",
  "HEDERA_OPERATOR_KEY",
  "EVENT_VOTES_TOPIC_ID",
  "ASSET_VOTES_TOPIC_ID",
  ...COLLECTION_SETTINGS,
] as const;

/** Where one value for both would mix what is apart: on the ledger, or in what a token opens. */
const DIFFERENT = [
  ["COLLECTION_B_ID", "COLLECTION_A_ID"],
  ["COLLECTION_B_KEY", "COLLECTION_A_KEY"],
  ["METRICS_TOKEN", "OPERATOR_TOKEN"],
] as const;
/** The topics too, but not for the doctor: it needs no setting, and has a check of its own for them. */
const DIFFERENT_AT_WORK = [...DIFFERENT, ["ASSET_VOTES_TOPIC_ID", "EVENT_VOTES_TOPIC_ID"]] as const;

/** A setting is missing or wrong; the message names each one. Nothing has started. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/** `Settings` in which the named ones are certainly there. */
export type With<Name extends SettingName> = Settings & { [N in Name]-?: NonNullable<Settings[N]> };

/**
 * Reads the environment. Empty variables count as unset.
 *
 * @param needed settings the calling command cannot do without
 * @throws ConfigurationError naming every bad and every missing setting; values
 *   are never repeated in it, because some are secrets
 */
export function readSettings<Name extends SettingName = never>(
  environment: Readonly<Record<string, string | undefined>>,
  needed: readonly Name[] = [],
): Readonly<With<Name>> {
  const given = Object.fromEntries(
    Object.keys(settings.shape)
      .map((name) => [name, environment[name]?.trim()] as const)
      .filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = settings.safeParse(given);
  const wrong = parsed.success
    ? needed.filter((name) => parsed.data[name] === undefined).map((name) => `${name} is missing`)
    : parsed.error.issues.map((issue) => `${String(issue.path[0])} ${issue.message}`);
  for (const [name, other] of needed.length > 0 ? DIFFERENT_AT_WORK : DIFFERENT) {
    const value = parsed.data?.[name];
    if (value !== undefined && value === parsed.data?.[other])
      wrong.push(`${name} must not be ${other}`);
  }
  if (parsed.data?.FAILPOINT !== undefined && environment.NODE_ENV === "production")
    wrong.push("FAILPOINT is for tests and refused while NODE_ENV is production");
  // Several entries of a list may have the same flaw.
  if (!parsed.success || wrong.length > 0)
    throw new ConfigurationError([...new Set(wrong)].join("; "));
  return Object.freeze(parsed.data) as Readonly<With<Name>>;
}

const ENV_FILE = ".env";

/**
 * The environment of this process, after `.env` where there is one. The only reader of `process.env`.
 *
 * @throws ConfigurationError where there is such a file and this user may not read it
 */
export function environment(): Readonly<Record<string, string | undefined>> {
  try {
    process.loadEnvFile(ENV_FILE);
  } catch {
    // Node says of both that there is no file. Without one, and in a folder that is closed to this
    // user (root's own, under sudo), the environment alone decides.
    const isThere = existsSync(ENV_FILE) && statSync(ENV_FILE).isFile();
    if (isThere) throw new ConfigurationError(`${ENV_FILE} is there and cannot be read`);
  }
  return process.env;
}
