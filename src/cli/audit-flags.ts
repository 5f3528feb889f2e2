import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { isDay } from "../../actors/day.ts";
import type { AuditOptions } from "../audit/audit.ts";
import { newestFirst, openAuditMirror, REQUESTS_PER_SECOND } from "../audit/audit-mirror.ts";
import { SEVERAL_URLS } from "../config.ts";
import { isEntityId } from "../ledger/entity-id.ts";
import { silentLogger } from "../log.ts";
import { option, readWhole } from "./arguments.ts";

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

export const ARGS = {
  mirror: option("Mirror node base URL, one or several, comma-separated; default MIRROR_NODE_URL."),
  rate: { ...option("Requests a second the mirror node takes."), default: RATE },
  api: option("Public API base URL: compare every ranking."),
  key: option("API key for --api."),
  day: option("Judge only the stars of this UTC day."),
  export: option("Day exports: folder, or URL of GET /exports; default that of --api's server."),
  state: option("File to go on from and leave off at; a crash loses 10,000 messages at most."),
  "event-topic": option("Topic ids of event stars, comma-separated; default EVENT_VOTES_TOPIC_ID."),
  "asset-topic": option("Topic ids of other stars; default ASSET_VOTES_TOPIC_ID."),
  "collection-a": option("Collection that adds 1 per NFT; default COLLECTION_A_ID."),
  "collection-b": option("Collection that adds 5 once; default COLLECTION_B_ID."),
  "key-a": option("Its name in messages; default COLLECTION_A_KEY, else read off the topic."),
  "key-b": option("The same of collection B."),
  excluded: option("Wallets that carry only 1, comma-separated; default EXCLUDED_WALLETS."),
  "late-hours": { ...option("A message may follow its star by so much."), default: LATE_HOURS },
  settle: { ...option("Seconds to wait for messages rankings show."), default: SETTLE_SECONDS },
} as const;

export type Given = { readonly [Name in keyof typeof ARGS]?: string | undefined };

/** What flags alone decide, checked before anything is asked of anyone. */
export type Wanted = Pick<AuditOptions, "day" | "api" | "lateMs" | "settleMs" | "stateFile">;

/** @throws Error in one line naming a flag that is wrong */
export function wantedOf(given: Given): Wanted {
  for (const flag of ["api", "key", "export", "key-a", "key-b"] as const) {
    if (given[flag] === "") throw new Error(`--${flag} is empty`);
  }
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
    lateMs: readWhole(given["late-hours"], { name: "--late-hours", max: LATE_HOURS_MAX }) * HOUR_MS,
    settleMs: readWhole(given.settle, { name: "--settle", max: SETTLE_SECONDS_MAX }) * SECOND_MS,
    stateFile: stateOf(given.state),
  };
}

/**
 * Opens the mirror nodes that `--mirror` names, else these, at `--rate`.
 *
 * @throws Error in one line when a flag is wrong
 */
export async function openMirror(
  { mirror, rate }: Pick<Given, "mirror" | "rate">,
  urls: readonly string[] = [],
): Promise<ReturnType<typeof openAuditMirror>> {
  const wanted = (split(mirror) ?? urls).map(urlOf);
  if (wanted.length === 0) throw new Error("--mirror names no mirror node");
  const requestsPerSecond = readWhole(rate, { name: "--rate", min: 1, max: RATE_MAX });
  return openAuditMirror({
    urls: await newestFirst(wanted),
    // What matters is said in the end, in one line; a log would only stand between.
    log: silentLogger,
    requestsPerSecond,
  });
}

function apiOf(given: Given): AuditOptions["api"] {
  if (given.api === undefined && given.key === undefined) return null;
  if (given.api === undefined) throw new Error("--key needs --api");
  if (given.key === undefined) throw new Error("--api needs --key");
  const url = urlOf(given.api).replace(/\/+$/, "").replace(/\/v1$/, "");
  return { url, key: given.key };
}

/** It is written after hours of work: what keeps it from being written is said before. */
function stateOf(file: string | undefined): string | null {
  if (file === "") throw new Error("--state names no file");
  if (file !== undefined && !existsSync(dirname(file)))
    throw new Error(`--state: there is no folder ${dirname(file)}`);
  return file ?? null;
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
  const shown = given.slice(0, 100);
  if (SEVERAL_URLS.test(given)) throw new Error(`${shown} is not one URL: commas part a list`);
  if (/^https?:\/\//.test(given) && URL.canParse(given)) return given;
  throw new Error(`${shown} is not an http(s) URL`);
}

export function idOf(given: string | undefined, flag: string): string {
  if (given !== undefined && isEntityId(given)) return given;
  throw new Error(`${flag} must be a ledger id such as 0.0.1001`);
}

export function idsOf(given: string | undefined, flag: string): readonly string[] {
  return (split(given) ?? []).map((part) => idOf(part, flag));
}

/** @throws Error naming what stands there twice: each would be judged by what the other is */
export function refuseRepeated(ids: readonly string[], flags: string): void {
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new Error(`${flags} name ${repeated} twice`);
}
