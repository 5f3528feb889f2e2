import { write, writeSync } from "node:fs";
import { type Logger, type LoggerOptions, pino } from "pino";

export type { Logger };

/** Paths whose values never reach a log, wherever an object carries them. */
const SECRET_FIELDS = [
  "operatorKey",
  "operatorToken",
  "key",
  "token",
  "signature",
  "authorization",
];

/** Lines are written together once there are so many characters, well below a pipe's room … */
const TOGETHER_CHARACTERS = 16_384;
/** … or so much time has passed: a `kill -9` loses what was said since. */
const TOGETHER_MS = 50;
const WARN = 40;
/** While the reader is behind; lines beyond that are dropped, to bound the memory. */
const WAITING_CHARACTERS_MAX = 16 * 1024 * 1024;
/** A reader that is behind gets this long before the next try. */
const RETRY_MS = 20;
/** A process that ends does not wait longer for a reader. */
const LAST_WORDS_MS = 1_000;
const STANDARD_ERROR = 2;

/**
 * A JSON logger on standard error: standard output belongs to what a command
 * prints (contract, section 7).
 *
 * Lines of a busy process are written together, because a system call for each request's line
 * costs an eighth of a refused star; from a warning on nothing waits.
 *
 * @param fields gives what every line has beside its own fields; called for each line
 */
export function createLogger(
  level: string,
  name: string,
  fields?: (() => object) | undefined,
): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  const stream = gathered(STANDARD_ERROR);
  const write = (line: string): void => stream.write(harmless(line));
  const options = { level, name, redact: { paths, censor: "[redacted]" } };
  const hooks: LoggerOptions["hooks"] = {
    logMethod(words, method, weight) {
      method.apply(this, words);
      if (weight >= WARN) stream.flush();
    },
  };
  return pino({ ...options, hooks, ...(fields && { mixin: fields }) }, { ...stream, write });
}

/** What a terminal obeys: controls but the line's end, and what turns the direction of text. */
export const COMMANDS_TERMINAL = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The same JSON for a terminal that shows it: paths, names and messages are of others' choice. */
export function harmless(json: string): string {
  return json.replace(
    COMMANDS_TERMINAL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A logger that says nothing, for tests and short commands. */
export const silentLogger: Logger = pino({ level: "silent" });

/**
 * Says once that something is away, and says it again only after it was back.
 *
 * @param message the line, at `warn`; the error stands beside it
 */
export function oncePerOutage(log: Logger, message: string) {
  let isOut = false;
  return {
    failed(error: unknown): void {
      if (!isOut) log.warn({ err: error }, message);
      isOut = true;
    },
    over(): void {
      isOut = false;
    },
  };
}

/**
 * Writes lines to a file descriptor, many at a time, in their order and never in the way of the
 * event loop. Pino's own destination measures all that waits again with each line, which costs
 * more than the line.
 */
export function gathered(descriptor: number) {
  let waiting: string[] = [];
  let characters = 0;
  /** Taken from those that wait, from the first byte that is not written. */
  let leaving: Buffer | undefined;
  let isWriting = false;
  let isUrgent = false;
  const take = (): Buffer => {
    const bytes = Buffer.from(waiting.join(""));
    waiting = [];
    characters = 0;
    return bytes;
  };
  const push = (): void => {
    const bytes = leaving;
    if (bytes === undefined || isWriting) return;
    isWriting = true;
    write(descriptor, bytes, (error, written) => {
      isWriting = false;
      if (error !== null && isBusy(error)) return void setTimeout(push, RETRY_MS);
      // The reader has closed its end: the rest is dropped.
      const rest = error === null ? bytes.subarray(written) : undefined;
      leaving = rest?.length ? rest : undefined;
      if (leaving !== undefined) push();
      else if (isUrgent || characters >= TOGETHER_CHARACTERS) flush();
    });
  };
  const flush = (): void => {
    isUrgent = leaving !== undefined;
    if (isUrgent || characters === 0) return;
    leaving = take();
    push();
  };
  /** Writes what waits before it returns: for a process that ends. */
  const flushSync = (): void => {
    // A process that ends waits for a write under way.
    const held = isWriting || leaving === undefined ? [] : [leaving];
    if (!isWriting) leaving = undefined;
    writeAll(descriptor, Buffer.concat([...held, take()]));
  };
  setInterval(flush, TOGETHER_MS).unref();
  process.once("exit", flushSync);
  return {
    write(line: string): void {
      if (characters > WAITING_CHARACTERS_MAX) return;
      waiting.push(line);
      characters += line.length;
      if (characters >= TOGETHER_CHARACTERS) flush();
    },
    flush,
    flushSync,
  };
}

function writeAll(descriptor: number, bytes: Buffer): void {
  const until = performance.now() + LAST_WORDS_MS;
  let rest = bytes;
  while (rest.length > 0 && performance.now() < until) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (!isBusy(error as NodeJS.ErrnoException)) return;
    }
  }
}

/** A pipe that is full. */
function isBusy({ code }: NodeJS.ErrnoException): boolean {
  return code === "EAGAIN" || code === "EBUSY";
}
