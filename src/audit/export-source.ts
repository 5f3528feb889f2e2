import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Day, dayOf } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import {
  type ExportEntry,
  type ExportHeader,
  exportHeader,
  exportList,
} from "../journal/export-format.ts";
import { CLOCK_DOUBT_MS, dateOf, fetchWithRetry, jsonOf } from "./fetch-with-retry.ts";

export interface ExportSource {
  /** Whether a day that is not over is written when it is asked for, and so holds every star until then. */
  readonly isLive: boolean;
  /** Exported days, oldest first. @throws Error when there is no list to be had */
  days(): Promise<readonly string[]>;
  /**
   * What the list that `days` read says of a day: null where it leaves out one up to the day on which it was
   * read, undefined where it cannot know.
   */
  listed(day: Day): ExportEntry | null | undefined;
  /**
   * Whether stars of a day came back since it was kept, and so the list may say another thing of it.
   *
   * @param left the chain that the day may have left since, for stars of the day before came back; undefined
   *   where that is not known, as of a day that was not read or was judged by an earlier audit
   */
  isRecovered?(day: Day, left: string | undefined): Promise<boolean>;
  /** A day's export, line by line, without the line ends. @throws Error when it cannot be read */
  lines(day: string): AsyncIterable<string>;
}

/** All serials of both collections that a wallet may bring, each listed twice: longer lines are no export's. */
const LINE_CHARACTERS_MAX = 4 * 100 * bounds.mirrorPagesMax * "99999999,".length;
const FILE = /^(?<day>\d{4}-\d\d-\d\d)\.ndjson$/;

/** @param place a folder of `YYYY-MM-DD.ndjson` files, or the URL of `GET /exports` */
export function openExportSource(place: string): ExportSource {
  return /^https?:\/\//.test(place) ? fromUrl(place.replace(/\/+$/, "")) : fromFolder(place);
}

function fromFolder(folder: string): ExportSource {
  return {
    isLive: false,
    async days() {
      const names = await readdir(folder);
      return names.flatMap((name) => FILE.exec(name)?.groups?.day ?? []).sort();
    },
    listed: () => undefined,
    lines: (day) => linesOf(createReadStream(join(folder, `${day}.ndjson`))),
  };
}

function fromUrl(url: string): ExportSource {
  const entries = new Map<Day, ExportEntry>();
  let through = "";
  return {
    isLive: true,
    async days() {
      const reply = await fetchWithRetry(url);
      const list = exportList.safeParse(await jsonOf(reply).catch(() => undefined));
      if (!list.success) throw new Error(`${url}: not a list of exports`);
      for (const entry of list.data.exports) entries.set(entry.day, entry);
      through = dayOf(dateOf(reply) - CLOCK_DOUBT_MS);
      return [...entries.keys()].sort();
    },
    listed: (day) => entries.get(day) ?? (day <= through ? null : undefined),
    lines: (day) => goOn(async () => linesOf((await fetchWithRetry(`${url}/${day}`)).body)),
  };
}

/** A service that restarts cuts its downloads; one whose journal was changed cuts each. */
const CUTS_MAX = 2;

/** A download was cut, and its day, which is not final, has changed since. */
export class ProvisionalChanged extends Error {
  override readonly name = "ProvisionalChanged";
}

/**
 * The lines of a download, also where it is cut: it is asked for again, and goes on behind what was
 * given, if that is still the same.
 *
 * @throws ProvisionalChanged where it is another one that may be; Error where it may not be
 */
async function* goOn(open: () => Promise<AsyncIterable<string>>): AsyncGenerator<string> {
  let [given, count] = ["", 0];
  let isProvisional = false;
  const another = () =>
    new (isProvisional ? ProvisionalChanged : Error)("was cut, and is another one now");
  for (let cuts = 0; ; cuts += 1) {
    const hash = createHash("sha256");
    let place = 0;
    try {
      for await (const line of await open()) {
        hash.update(`${line}\n`);
        place += 1;
        if (place === count && hash.copy().digest("hex") !== given) throw another();
        if (place > count) {
          if (place === 1) isProvisional = headerIn(line)?.final === false;
          yield line;
        }
      }
      if (place < count) throw another();
      return;
    } catch (error) {
      if (cuts === CUTS_MAX || error instanceof ProvisionalChanged) throw error;
      if (place > count) [given, count] = [hash.digest("hex"), place];
    }
  }
}

/** The header of a day's export. @throws Error in one line when the export does not begin with one */
export async function readHeader(source: ExportSource, day: Day): Promise<ExportHeader> {
  for await (const line of source.lines(day)) {
    const header = headerIn(line);
    if (header !== undefined) return header;
    break;
  }
  throw new Error(`the export of ${day} does not begin with a header`);
}

function headerIn(line: string): ExportHeader | undefined {
  try {
    return exportHeader.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** By hand: `readline` takes other things than `\n` for the end of a line, and has no bound. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n", start)) {
      yield rest.slice(start, end);
      start = end + 1;
    }
    rest = rest.slice(start);
    if (rest.length > LINE_CHARACTERS_MAX) throw new Error("a line without an end");
  }
  if (rest !== "") throw new Error("ends within a line");
}
