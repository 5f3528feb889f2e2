import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, type ProcessReference, referTo } from "./process-identity.ts";

/** Who may start a server on a folder, and which server runs there. */
interface Entry {
  readonly owner: ProcessReference;
  readonly server?: ProcessReference;
}

/** Others that find the same dead owner at once wait for the first of them. */
const TRIES_MAX = 100;
const RETRY_MS = 10;

/**
 * Takes a folder for this process alone, until it is released. Survives `kill -9` of an owner: a
 * lock whose owner no longer runs is taken over, with the server that it left behind.
 *
 * @throws Error when another process that still runs uses the folder
 */
export function lockFolder(folder: string) {
  const file = join(folder, "server.lock");
  const owner = referTo(process.pid);
  let predecessor: ProcessReference | undefined;
  for (let tries = 0; !create(file, { owner }); tries += 1) {
    const text = readText(file);
    const found = parse(text);
    if (found !== undefined && isRunning(found.owner)) {
      throw new Error(`${folder} is in use by process ${found.owner.pid}`);
    }
    predecessor = found?.server;
    // Until the predecessor has ended, the next process must know it too.
    if (takeOver(file, text, { owner, ...(predecessor && { server: predecessor }) })) break;
    if (tries === TRIES_MAX) throw new Error(`cannot take ${file}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
  }
  return {
    /** What ran here before us, when it was never stopped; it may still run. */
    predecessor,
    /** Remembers the server, for the next process if we are killed. */
    note: (server: ProcessReference): void => replace(file, { owner, server }),
    release: (): void => rmSync(file, { force: true }),
  };
}

/**
 * Puts our lock in the place of a dead owner's. One process at a time may: between a look at the
 * file and a change of it, another would take the folder, too.
 *
 * @returns false where another process is at it, or has done it since we looked
 */
function takeOver(file: string, dead: string, entry: Entry): boolean {
  const claim = `${file}.claim`;
  if (!create(claim, entry)) {
    const other = parse(readText(claim));
    // Killed while it was at it.
    if (other !== undefined && !isRunning(other.owner)) rmSync(claim, { force: true });
    return false;
  }
  try {
    if (readText(file) !== dead) return false;
    replace(file, entry);
    return true;
  } finally {
    rmSync(claim, { force: true });
  }
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
