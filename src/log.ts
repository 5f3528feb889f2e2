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
const TOGETHER_CHARACTERS = 4_096;
/** … or so much time has passed: a `kill -9` loses what was said since. */
const TOGETHER_MS = 50;
const WARN = 40;

/**
 * A JSON logger on standard error: standard output belongs to what a command
 * prints (contract, section 7).
 *
 * Lines of a busy process are written together, because a system call for each request's line
 * costs an eighth of a refused star; from a warning on nothing waits.
 */
export function createLogger(level: string, name: string): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  const stream = pino.destination({
    dest: 2,
    sync: false,
    minLength: TOGETHER_CHARACTERS,
    periodicFlush: TOGETHER_MS,
  });
  const options = { level, name, redact: { paths, censor: "[redacted]" } };
  const hooks: LoggerOptions["hooks"] = {
    logMethod(words, method, weight) {
      method.apply(this, words);
      if (weight >= WARN) stream.flush();
    },
  };
  return pino({ ...options, hooks }, stream);
}

/** A logger that says nothing, for tests and short commands. */
export const silentLogger: Logger = pino({ level: "silent" });
