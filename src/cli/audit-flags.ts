import { isDay } from "../../actors/day.ts";
import type { AuditOptions } from "../audit/audit.ts";
import { REQUESTS_PER_SECOND } from "../audit/audit-mirror.ts";
import { isEntityId } from "../ledger/entity-id.ts";

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;
/** An outage of a day is rare; a star that comes later than that has to be explained. */
const LATE_HOURS = "24";
const LATE_HOURS_MAX = 24 * 366;
/** "p99 ≤ 10 s, max 60 s": what a healthy ledger takes to publish a star. */
const SETTLE_SECONDS = "60";
const SETTLE_SECONDS_MAX = 3_600;

const RATE = String(REQUESTS_PER_SECOND);
const RATE_MAX = 100_000;

const text = (description: string) => ({ type: "string", description }) as const;
export const ARGS = {
  mirror: text("Mirror node base URL, one or several; default MIRROR_NODE_URL."),
  rate: { ...text("Requests a second the mirror node takes."), default: RATE },
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

/** The flags as they were given. */
export type Given = { readonly [Name in keyof typeof ARGS]?: string | undefined };

/** What flags alone decide, checked before anything is asked of anyone. */
export type Wanted = Pick<AuditOptions, "day" | "api" | "lateMs" | "settleMs" | "stateFile">;

/** @throws Error in one line naming a flag that is wrong */
export function wantedOf(given: Given): Wanted {
  for (const flag of ["event-topic", "asset-topic"] as const) {
    const ids = idsOf(given[flag], `--${flag}`);
    if (given[flag] !== undefined && ids.length === 0) throw new Error(`--${flag} names no topic`);
  }
  for (const flag of ["collection-a", "collection-b"] as const) {
    if (given[flag] !== undefined) idOf(given[flag], `--${flag}`);
  }
  idsOf(given.excluded, "--excluded");
  return {
    day: dayOfFlag(given.day),
    api: apiOf(given),
    lateMs: whole(given["late-hours"], { name: "--late-hours", max: LATE_HOURS_MAX }) * HOUR_MS,
    settleMs: whole(given.settle, { name: "--settle", max: SETTLE_SECONDS_MAX }) * SECOND_MS,
    stateFile: given.state ?? null,
  };
}

/** @throws Error in one line when the flag is wrong */
export function rateOf({ rate }: Given): number {
  return whole(rate, { name: "--rate", min: 1, max: RATE_MAX });
}

function apiOf(given: Given): AuditOptions["api"] {
  if (given.api === undefined) return null;
  if (given.key === undefined) throw new Error("--api needs --key");
  return { url: urlOf(given.api), key: given.key };
}

function dayOfFlag(day: string | undefined): string | null {
  if (day !== undefined && !isDay(day)) throw new Error("--day must be a UTC day, YYYY-MM-DD");
  return day ?? null;
}

/** Parts between commas. */
export function split(list: string | undefined): readonly string[] | undefined {
  return list
    ?.split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

export function urlOf(given: string): string {
  if (/^https?:\/\//.test(given) && URL.canParse(given)) return given;
  throw new Error(`${given.slice(0, 100)} is not an http(s) URL`);
}

export function urlsOf(urls: readonly string[]): readonly string[] {
  if (urls.length === 0) throw new Error("--mirror names no mirror node");
  return urls.map(urlOf);
}

export function idOf(given: string | undefined, flag: string): string {
  if (given !== undefined && isEntityId(given)) return given;
  throw new Error(`${flag} must be a ledger id such as 0.0.1001`);
}

export function idsOf(given: string | undefined, flag: string): readonly string[] {
  return (split(given) ?? []).map((part) => idOf(part, flag));
}

function whole(
  given: string | undefined,
  { name, min = 0, max }: { name: string; min?: number; max: number },
): number {
  const value = /^\d{1,9}$/.test(given ?? "") ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`${name} must be a whole number from ${min} to ${max}`);
}
