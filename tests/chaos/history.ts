import { closeSync, fsync, openSync, write } from "node:fs";
import { promisify } from "node:util";
import type { HistoryLine } from "./evidence.ts";

/** The clients' history, a file that only grows. */
export interface History {
  /** Resolves when the line is on the disk; lines of one moment share a flush. */
  add(line: HistoryLine): Promise<void>;
  close(): Promise<void>;
}

const writeFile = promisify(write);
const flush = promisify(fsync);

/** Opens a history to go on with it. */
export function openHistory(file: string): History {
  const handle = openSync(file, "a");
  let waiting: { text: string; done: () => void; failed: (error: Error) => void }[] = [];
  let writing: Promise<void> | undefined;
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await writeFile(handle, batch.map(({ text }) => text).join(""));
        await flush(handle);
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error as Error);
      }
    }
    writing = undefined;
  };
  return {
    add: (line) =>
      new Promise((done, failed) => {
        waiting.push({ text: `${JSON.stringify(line)}\n`, done, failed });
        writing ??= writeAll();
      }),
    async close() {
      await writing;
      closeSync(handle);
    },
  };
}
