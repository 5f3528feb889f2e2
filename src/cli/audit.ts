import { isDay } from "../../actors/day.ts";
import { type AuditOptions, runAudit } from "../audit/audit.ts";
import type { Conclusion } from "../audit/conclude.ts";
import { openExportSource } from "../audit/export-source.ts";
import { keysOnTopic, readHeader } from "../audit/learn-settings.ts";
import { environment, readSettings } from "../config.ts";
import { coerceError } from "../errors.ts";
import { isEntityId } from "../ledger/entity-id.ts";
import { type MirrorArchive, openMirrorArchive } from "../ledger/mirror-archive.ts";
import { silentLogger } from "../log.ts";
import { auditText } from "./audit-text.ts";
import { command } from "./output.ts";
import { progressBar } from "./progress-bar.ts";
import { readCommandSettings } from "./settings.ts";

const HOUR_MS = 3_600_000;
/** An outage of a day is rare; a star that comes later than that has to be explained. */
const LATE_HOURS = "24";
const LATE_HOURS_MAX = 24 * 366;
/** "p99 ≤ 10 s, max 60 s": what a healthy ledger takes to publish a star. */
const SETTLE_SECONDS = "60";
const SETTLE_SECONDS_MAX = 3_600;

const text = (description: string) => ({ type: "string", description }) as const;
const ARGS = {
  mirror: text("Mirror node base URL, one or several; default MIRROR_NODE_URL."),
  api: text("Public API base URL: compare every ranking."),
  key: text("API key for --api."),
  day: text("Judge only the stars of this UTC day."),
  export: text("Day exports: folder, or URL of GET /exports; default that of --api's server."),
  state: text("File to go on from and leave off at; a crash loses 10,000 messages at most."),
  "event-topic": text("Topic ids of event stars, comma-separated; default EVENT_VOTES_TOPIC_ID."),
  "asset-topic": text("Topic ids of other stars; default ASSET_VOTES_TOPIC_ID."),
  "collection-a": text("Collection that adds 1 per NFT; default COLLECTION_A_ID."),
  "collection-b": text("Collection that adds 5 once; default COLLECTION_B_ID."),
  "key-a": text("Its name in messages; default COLLECTION_A_KEY, else read off the topic."),
  "key-b": text("The same of collection B."),
  excluded: text("Wallets that carry only 1, comma-separated; default EXCLUDED_WALLETS."),
  "late-hours": { ...text("A message may follow its star by so much."), default: LATE_HOURS },
  settle: { ...text("Seconds to wait for messages rankings show."), default: SETTLE_SECONDS },
} as const;

type Given = { readonly [Name in keyof typeof ARGS]?: string | undefined };

/** `starboard audit` */
export const auditCommand = command({
  name: "audit",
  description: "Prove or refute every published star and ranking from a mirror node alone.",
  args: ARGS,
  async work(args) {
    const conclusion = await audit(args);
    if (!conclusion.ok) process.exitCode = 1;
    const { isAhead: _, ...told } = conclusion;
    return told;
  },
  text: auditText,
});

async function audit(given: Given): Promise<Conclusion> {
  const own = readSettings(environment());
  const exports = await openExports(given);
  const header = exports?.header;
  const mirrorUrls = split(given.mirror) ?? own.MIRROR_NODE_URL;
  const known = {
    MIRROR_NODE_URL: mirrorUrls,
    EVENT_VOTES_TOPIC_ID: given["event-topic"] ?? own.EVENT_VOTES_TOPIC_ID ?? header?.topics.event,
    ASSET_VOTES_TOPIC_ID: given["asset-topic"] ?? own.ASSET_VOTES_TOPIC_ID ?? header?.topics.asset,
    COLLECTION_A_ID: given["collection-a"] ?? own.COLLECTION_A_ID ?? header?.collections.a.id,
    COLLECTION_B_ID: given["collection-b"] ?? own.COLLECTION_B_ID ?? header?.collections.b.id,
  };
  const names = Object.keys(known) as (keyof typeof known)[];
  // A running `npm start` in this folder tells the rest; it names what nobody tells.
  const rest = readCommandSettings(names.filter((name) => known[name] == null));
  const mirror = openMirrorArchive({
    urls: httpUrls(mirrorUrls ?? rest.MIRROR_NODE_URL ?? []),
    // What matters is said in the end, in one line; a log would only stand between.
    log: silentLogger,
  });
  const bar = { what: "", bar: progressBar(process.stderr, "") };
  const asset = ids(known.ASSET_VOTES_TOPIC_ID ?? rest.ASSET_VOTES_TOPIC_ID, "--asset-topic");
  try {
    const options: AuditOptions = {
      mirror,
      topics: {
        event: ids(known.EVENT_VOTES_TOPIC_ID ?? rest.EVENT_VOTES_TOPIC_ID, "--event-topic"),
        asset,
      },
      collections: {
        a: id(known.COLLECTION_A_ID ?? rest.COLLECTION_A_ID, "--collection-a"),
        b: id(known.COLLECTION_B_ID ?? rest.COLLECTION_B_ID, "--collection-b"),
      },
      keys: await keysOf(mirror, asset, {
        a: given["key-a"] ?? own.COLLECTION_A_KEY ?? header?.collections.a.key,
        b: given["key-b"] ?? own.COLLECTION_B_KEY ?? header?.collections.b.key,
      }),
      excluded: split(given.excluded) ?? [
        ...new Set([...own.EXCLUDED_WALLETS, ...(header?.excludedWallets ?? [])]),
      ],
      day: dayOfFlag(given.day),
      exports: exports && { source: exports.source, days: exports.days },
      api: apiOf(given),
      lateMs: whole(given["late-hours"], { name: "--late-hours", max: LATE_HOURS_MAX }) * HOUR_MS,
      settleMs: whole(given.settle, { name: "--settle", max: SETTLE_SECONDS_MAX }) * 1_000,
      stateFile: given.state ?? null,
      now: Date.now,
      onProgress(what, done, total) {
        if (bar.what !== what) Object.assign(bar, { what, bar: progressBar(process.stderr, what) });
        bar.bar.show(done, total);
      },
    };
    return await runAudit(options);
  } finally {
    bar.bar.end();
    await mirror.close();
  }
}

/** Exports that were asked for must be there; those of the API's server are used where they are. */
async function openExports(given: Given) {
  const implied = given.api === undefined ? undefined : `${new URL(url(given.api)).origin}/exports`;
  const place = given.export ?? implied;
  if (place === undefined) return null;
  const source = openExportSource(place);
  try {
    const days = await source.days();
    const last = days.at(-1);
    if (last === undefined) return null;
    return { source, days, header: await readHeader(source, last) };
  } catch (error) {
    if (given.export === undefined) return null;
    throw new Error(`--export cannot be read: ${coerceError(error).message}`);
  }
}

async function keysOf(
  mirror: MirrorArchive,
  topics: readonly string[],
  { a, b }: { a: string | undefined; b: string | undefined },
): Promise<AuditOptions["keys"]> {
  if (a !== undefined && b !== undefined) return { a, b };
  for (const topic of topics) {
    const read = await keysOnTopic(mirror, topic);
    if (read !== undefined) return { a: a ?? read.a, b: b ?? read.b };
  }
  // Nothing on the topic: no message will be held against them.
  return { a: a ?? "a", b: b ?? "b" };
}

function apiOf(given: Given): AuditOptions["api"] {
  if (given.api === undefined) return null;
  if (given.key === undefined) throw new Error("--api needs --key");
  return { url: url(given.api), key: given.key };
}

function dayOfFlag(day: string | undefined): string | null {
  if (day !== undefined && !isDay(day)) throw new Error("--day must be a UTC day, YYYY-MM-DD");
  return day ?? null;
}

function split(list: string | undefined): readonly string[] | undefined {
  return list
    ?.split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

function url(given: string): string {
  if (/^https?:\/\//.test(given) && URL.canParse(given)) return given;
  throw new Error(`${given.slice(0, 100)} is not an http(s) URL`);
}

function httpUrls(urls: readonly string[]): readonly string[] {
  if (urls.length === 0) throw new Error("--mirror names no mirror node");
  return urls.map(url);
}

function id(given: string | undefined, flag: string): string {
  if (given !== undefined && isEntityId(given)) return given;
  throw new Error(`${flag} must be a ledger id such as 0.0.1001`);
}

function ids(given: string | undefined, flag: string): readonly string[] {
  return (split(given) ?? []).map((part) => id(part, flag));
}

function whole(given: string | undefined, { name, max }: { name: string; max: number }): number {
  const value = /^\d{1,9}$/.test(given ?? "") ? Number(given) : Number.NaN;
  if (value >= 0 && value <= max) return value;
  throw new Error(`${name} must be a whole number up to ${max}`);
}
