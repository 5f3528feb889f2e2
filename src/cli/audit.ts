import { type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { type AuditOptions, runAudit } from "../audit/audit.ts";
import type { AuditMirror } from "../audit/audit-mirror.ts";
import type { Conclusion } from "../audit/conclude.ts";
import { type ExportSource, openExportSource, readHeader } from "../audit/export-source.ts";
import { keysOnTopic } from "../audit/replay-topic.ts";
import { environment, readSettings, type SettingName } from "../config.ts";
import { coerceError } from "../errors.ts";
import type { ExportHeader } from "../journal/export-format.ts";
import {
  ARGS,
  type Given,
  idOf,
  idsOf,
  openMirror,
  refuseRepeated,
  split,
  type Wanted,
  wantedOf,
} from "./audit-flags.ts";
import { auditText } from "./audit-text.ts";
import { command } from "./output.ts";
import { progressBar } from "./progress-bar.ts";
import { readCommandSettings } from "./settings.ts";

export const subcommand = command({
  args: ARGS,
  async work(args) {
    const wanted = wantedOf(args);
    const exports = await openExports(args, wanted);
    const { isAhead: _, ...conclusion } = await audit(args, wanted, exports);
    if (!conclusion.ok) process.exitCode = 1;
    const notes =
      exports?.note === undefined ? conclusion.notes : [exports.note, ...conclusion.notes];
    return {
      ...conclusion,
      // A missing value is null, never an absent field.
      mismatches: conclusion.mismatches.map((one) => ({ starId: null, where: null, ...one })),
      known: conclusion.known.map((one) => ({ starId: null, conflictsWith: null, ...one })),
      notes,
    };
  },
  text: auditText,
});

async function audit(given: Given, wanted: Wanted, exports: Exports | null): Promise<Conclusion> {
  const own = readSettings(environment());
  const headers = exports?.headers ?? [];
  const header = headers.at(-1);
  const known = {
    MIRROR_NODE_URL: given.mirror ?? own.MIRROR_NODE_URL,
    EVENT_VOTES_TOPIC_ID:
      given["event-topic"] ?? topicsOf(own.EVENT_VOTES_TOPIC_ID, headers, "event"),
    ASSET_VOTES_TOPIC_ID:
      given["asset-topic"] ?? topicsOf(own.ASSET_VOTES_TOPIC_ID, headers, "asset"),
    COLLECTION_A_ID: given["collection-a"] ?? own.COLLECTION_A_ID ?? header?.collections.a.id,
    COLLECTION_B_ID: given["collection-b"] ?? own.COLLECTION_B_ID ?? header?.collections.b.id,
  };
  const names = Object.keys(known) as (keyof typeof known)[];
  // A running `npm start` in this folder gives the rest; what is missing then, this names.
  const rest = readRest(
    names.filter((name) => known[name] == null),
    exports?.note,
  );
  const mirror = await openMirror(given, own.MIRROR_NODE_URL ?? rest.MIRROR_NODE_URL);
  const bar = progressBar(process.stderr);
  try {
    const event = idsOf(known.EVENT_VOTES_TOPIC_ID ?? rest.EVENT_VOTES_TOPIC_ID, "--event-topic");
    const asset = idsOf(known.ASSET_VOTES_TOPIC_ID ?? rest.ASSET_VOTES_TOPIC_ID, "--asset-topic");
    refuseRepeated([...event, ...asset], "--event-topic and --asset-topic");
    const a = idOf(known.COLLECTION_A_ID ?? rest.COLLECTION_A_ID, "--collection-a");
    const b = idOf(known.COLLECTION_B_ID ?? rest.COLLECTION_B_ID, "--collection-b");
    refuseRepeated([a, b], "--collection-a and --collection-b");
    const keys = await keysOf(mirror, asset, {
      a: given["key-a"] ?? own.COLLECTION_A_KEY ?? header?.collections.a.key,
      b: given["key-b"] ?? own.COLLECTION_B_KEY ?? header?.collections.b.key,
    });
    refuseRepeated([keys.a, keys.b], "--key-a and --key-b");
    const options: AuditOptions = {
      mirror,
      topics: { event, asset, earlier: earlierTopics(headers) },
      collections: { a, b },
      keys,
      excluded: split(given.excluded) ?? [
        ...new Set([
          ...own.EXCLUDED_WALLETS,
          ...headers.flatMap(({ excludedWallets }) => excludedWallets),
        ]),
      ],
      ...wanted,
      exports: header && exports ? { source: exports.source, days: exports.days } : null,
      now: Date.now,
      onProgress(what, done, total) {
        bar.show(what, done, total);
        // What follows, the rankings and the verdict, is not counted.
        if (done === total) bar.end();
      },
    };
    return await runAudit(options);
  } finally {
    bar.end();
    await mirror.close();
  }
}

/** @throws Error in one line naming what is missing, and why the exports do not give it */
function readRest<Name extends SettingName>(missing: readonly Name[], note: string | undefined) {
  try {
    return readCommandSettings(missing);
  } catch (error) {
    if (note === undefined) throw error;
    throw new Error(`${coerceError(error).message}; ${note}`);
  }
}

interface Exports {
  readonly source: ExportSource;
  readonly days: readonly string[];
  /** Oldest first, that of the newest day the last; none with a note of why. */
  readonly headers: readonly ExportHeader[];
  readonly note?: string;
}

/** Exports that were asked for must be there; those of the API's server are used where they are. */
async function openExports(given: Given, { api }: Wanted): Promise<Exports | null> {
  const place = given.export ?? (api && `${api.url}/exports`);
  if (place === null) return null;
  const opened = openExportSource(place);
  const { source, note } =
    api === null || opened.isLive ? { source: opened } : await besideList(opened, api.url);
  try {
    const days = await source.days();
    const last = days.at(-1);
    if (last === undefined) throw new Error("there is none");
    const newest = await readHeader(source, last);
    const headers: ExportHeader[] = [];
    for (const day of days.slice(0, -1)) {
      // The audit itself reports a day that cannot be read.
      const header = await readHeader(source, day).catch(() => undefined);
      if (header !== undefined) headers.push(header);
    }
    return { source, days, headers: [...headers, newest], ...(note !== undefined && { note }) };
  } catch (error) {
    const why = `exports cannot be read: ${coerceError(error).message}`;
    if (given.export !== undefined) throw new Error(why);
    return { source, days: [], headers: [], note: why };
  }
}

/** Days that were kept, and what the list of the API's server says of them now. */
async function besideList(
  kept: ExportSource,
  url: string,
): Promise<{ readonly source: ExportSource; readonly note?: string }> {
  const live = openExportSource(`${url}/exports`);
  try {
    await live.days();
  } catch (error) {
    return { source: kept, note: `no list of exports: ${coerceError(error).message}` };
  }
  const isRecovered = async (day: Day, left: string | undefined): Promise<boolean> => {
    const entry = live.listed(day);
    if (entry == null) return false;
    // Stars come back to it, and it will be final again.
    if (!entry.final) return true;
    const { recovered, previous } = await readHeader(live, day);
    if (recovered === true) return true;
    if (left !== undefined) return previous !== left;
    const own = await readHeader(kept, day).catch(() => undefined);
    const isMoved = own !== undefined && own.previous !== previous;
    return isMoved && (await isRecovered(dayOf(startOfDay(day) - 1), undefined));
  };
  return { source: { ...kept, listed: live.listed, isRecovered } };
}

/** Every topic that the days' stars were published to, the oldest first, and our own; comma-separated. */
function topicsOf(
  own: string | undefined,
  headers: readonly ExportHeader[],
  kind: "event" | "asset",
): string | undefined {
  const named = headers.flatMap(({ topics }) => topics[kind] ?? []);
  return [...new Set([...named, ...(own === undefined ? [] : [own])])].join(",") || undefined;
}

/** Topics that the newest day's header does not name. */
function earlierTopics(headers: readonly ExportHeader[]): readonly string[] {
  const [newest = [], ...earlier] = headers.map(({ topics }) => Object.values(topics)).reverse();
  return earlier.flat().flatMap((topic) => (newest.includes(topic) ? [] : (topic ?? [])));
}

async function keysOf(
  mirror: AuditMirror,
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
