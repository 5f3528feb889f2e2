import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { bounds } from "../bounds.ts";
import { exportList } from "../journal/export-format.ts";
import { fetchWithRetry, jsonOf } from "./fetch-with-retry.ts";

/** Where the day exports of the journal are read from. */
export interface ExportSource {
  /** Whether a day that is not over is written when it is asked for, and so holds every star until then. */
  readonly isLive: boolean;
  /** Exported days, oldest first. @throws Error when there is no list to be had */
  days(): Promise<readonly string[]>;
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
    lines: (day) => linesOf(createReadStream(join(folder, `${day}.ndjson`))),
  };
}

function fromUrl(url: string): ExportSource {
  return {
    isLive: true,
    async days() {
      const reply = await fetchWithRetry(url);
      const list = exportList.safeParse(await jsonOf(reply).catch(() => undefined));
      if (!list.success) throw new Error(`${url}: not a list of exports`);
      return list.data.exports.map(({ day }) => day).sort();
    },
    lines: (day) => goOn(async () => linesOf((await fetchWithRetry(`${url}/${day}`)).body)),
  };
}

/** A service that restarts cuts its downloads; one whose journal was changed cuts each. */
const CUTS_MAX = 2;

/**
 * The lines of a download, also where it is cut: it is asked for again, and goes on behind what was
 * given, if that is still the same.
 */
async function* goOn(open: () => Promise<AsyncIterable<string>>): AsyncGenerator<string> {
  let [given, count] = ["", 0];
  for (let cuts = 0; ; cuts += 1) {
    const hash = createHash("sha256");
    let place = 0;
    try {
      for await (const line of await open()) {
        hash.update(`${line}\n`);
        place += 1;
        if (place === count && hash.copy().digest("hex") !== given)
          throw new Error("was cut, and is another one now");
        if (place > count) yield line;
      }
      return;
    } catch (error) {
      if (cuts === CUTS_MAX) throw error;
      if (place > count) [given, count] = [hash.digest("hex"), place];
    }
  }
}

/** By hand: `readline` takes other things than `\n` for the end of a line, and has no bound. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
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
