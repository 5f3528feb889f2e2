import {
  closeSync,
  constants,
  fdatasync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { every } from "../../../service.ts";
import { lockFolder } from "../../folder-lock.ts";
import { type LedgerEvent, readEvents, writeEvents } from "./events.ts";

const FILE = "events.jsonl";
const SYNC_EVERY_MS = 1_000;
const NEWLINE = 0x0a;

/**
 * Opens the ledger on disk, made when absent, and reads it back: one line of JSON per turn of
 * consensus, appended and never changed. A line is with the operating system before it is answered,
 * so `kill -9` loses nothing; a power cut may lose the last second. A last line that was cut short
 * is dropped.
 *
 * @param replay gets each turn's events, in order
 * @throws Error when another process has it open, or when an earlier line cannot be read
 */
export function openLedgerFile(folder: string, replay: (events: readonly LedgerEvent[]) => void) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  const path = join(folder, FILE);
  let size: number;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    size = readBack(path, readFileSync(descriptor), replay);
    ftruncateSync(descriptor, size);
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    lock.release();
    throw error;
  }
  const file = descriptor;
  let synced = size;
  const syncing = every(SYNC_EVERY_MS, async () => {
    const reached = size;
    if (reached === synced) return;
    await promisify(fdatasync)(file);
    synced = reached;
  });
  return {
    /**
     * Adds a turn's events, whole or not at all.
     *
     * @throws Error of the file system, when the disk is full for example
     */
    append(events: readonly LedgerEvent[]): void {
      const line = Buffer.from(`${writeEvents(events)}\n`);
      // By position: what a failed write left behind is written over by the next.
      for (let done = 0; done < line.length; ) {
        done += writeSync(file, line, done, line.length - done, size + done);
      }
      size += line.length;
    },
    async close(): Promise<void> {
      await syncing.close();
      closeSync(file);
      lock.release();
    },
  };
}

/** @returns the length of what could be read, in bytes */
function readBack(
  path: string,
  bytes: Buffer,
  replay: (events: readonly LedgerEvent[]) => void,
): number {
  let start = 0;
  for (let lines = 1; ; lines += 1) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) return start;
    const events = readLine(bytes.toString("utf8", start, end));
    if (events === undefined) {
      if (end + 1 === bytes.length) return start;
      throw new Error(`${path} is damaged: line ${lines} cannot be read`);
    }
    replay(events);
    start = end + 1;
  }
}

function readLine(line: string): LedgerEvent[] | undefined {
  try {
    return readEvents(line);
  } catch {
    return undefined;
  }
}
