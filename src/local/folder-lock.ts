import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, type ProcessReference, referTo } from "./process-identity.ts";

/** Who may start a server on a folder, and which server runs there. */
interface Entry {
  readonly owner: ProcessReference;
  readonly server?: ProcessReference;
}

/** A folder that is ours alone until released. */
export interface FolderLock {
  /** What ran here before us, when it was never stopped; it may still run. */
  readonly predecessor: ProcessReference | undefined;
  /** Remembers the server, for the next process if we are killed. */
  note(server: ProcessReference): void;
  release(): void;
}

/** Two processes that find the same dead owner at once need a second look each. */
const TRIES_MAX = 5;

/**
 * Takes a folder for this process. Survives `kill -9` of an owner: a lock whose
 * owner no longer runs is taken over, with the server that it left behind.
 *
 * @throws Error when another process that still runs uses the folder
 */
export function lockFolder(folder: string): FolderLock {
  const file = join(folder, "server.lock");
  const owner = referTo(process.pid);
  let predecessor: ProcessReference | undefined;
  for (let tries = 0; !create(file, { owner }); tries += 1) {
    const text = readText(file);
    const found = parse(text);
    if (found !== undefined && isRunning(found.owner)) {
      throw new Error(`${folder} is in use by process ${found.owner.pid}`);
    }
    if (tries === TRIES_MAX) throw new Error(`cannot take ${file}`);
    predecessor = found?.server;
    // Unless another process has taken it over since we looked.
    if (readText(file) === text) rmSync(file, { force: true });
  }
  // Until the predecessor has ended, the next process must know it too.
  const note = (server: ProcessReference): void => replace(file, { owner, server });
  if (predecessor !== undefined) note(predecessor);
  return { predecessor, note, release: () => rmSync(file, { force: true }) };
}

function create(file: string, entry: Entry): boolean {
  const draft = write(file, entry);
  try {
    // Unlike a write, a link never shows others half a file.
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
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

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function parse(text: string): Entry | undefined {
  try {
    return JSON.parse(text) as Entry;
  } catch {
    return undefined;
  }
}
