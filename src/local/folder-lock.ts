import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isRunning, type ProcessReference, referTo } from "./process-identity.ts";

const REFERENCE = z.object({ pid: z.number(), identity: z.string() });
/** Who may start a server on a folder, and which server runs there. */
const ENTRY = z.object({ owner: REFERENCE, server: REFERENCE.optional() });
type Entry = z.infer<typeof ENTRY>;

/** What stands for a lock that is not whole. */
const DAMAGED: Entry = { owner: { pid: 0, identity: "" } };

/** Another process that still runs uses the folder. */
export class FolderInUseError extends Error {}

/**
 * Takes a folder for this process alone, until it is released. Survives `kill -9` of an owner: a
 * lock whose owner no longer runs is taken over, with the server that it left behind.
 *
 * @throws FolderInUseError; Error of the file system, where the folder takes no lock
 */
export function lockFolder(folder: string) {
  const file = join(folder, "server.lock");
  const owner = referTo(process.pid);
  const { server: predecessor } = take(folder, file, owner);
  return {
    /** What ran here before us, when it was never stopped; it may still run. */
    predecessor,
    /** Remembers the server, for the next process if we are killed. */
    note: (server: ProcessReference): void => replace(file, { owner, server }),
    release: (): void => rmSync(file, { force: true }),
  };
}

/** @returns our lock, with the server of a dead owner */
function take(folder: string, file: string, owner: ProcessReference): Entry {
  if (create(file, { owner })) return { owner };
  refuseRunning(folder, read(file));
  // One process at a time: between a look at the lock and its change another would take it, too.
  const claim = `${file}.claim`;
  // A dead process' claim is taken over as any lock is: a process that removed it could remove another's.
  take(folder, claim, owner);
  try {
    const found = read(file);
    refuseRunning(folder, found);
    if (found !== undefined) {
      // Until its server has ended, the next process must know it too.
      const entry = { ...found, owner };
      replace(file, entry);
      return entry;
    }
  } finally {
    rmSync(claim, { force: true });
  }
  return take(folder, file, owner);
}

function refuseRunning(folder: string, found: Entry | undefined): void {
  if (found === undefined || !isRunning(found.owner)) return;
  throw new FolderInUseError(`${folder} is in use by process ${found.owner.pid}`);
}

function create(file: string, entry: Entry): boolean {
  const draft = write(file, entry);
  try {
    // Unlike a write, a link never shows others half a file.
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (isError(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function replace(file: string, entry: Entry): void {
  renameSync(write(file, entry), file);
}

function write(file: string, entry: Entry): string {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(entry), { mode: 0o600 });
  return draft;
}

/** @returns undefined where there is no such file any more */
function read(file: string): Entry | undefined {
  try {
    return ENTRY.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    return isError(error, "ENOENT") ? undefined : DAMAGED;
  }
}

function isError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
