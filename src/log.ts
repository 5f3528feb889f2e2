import { type Logger, pino } from "pino";

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

/**
 * A JSON logger on standard error: standard output belongs to what a command
 * prints (contract, section 7).
 */
export function createLogger(level: string, name: string): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  return pino({ level, name, redact: { paths, censor: "[redacted]" } }, pino.destination(2));
}

/** A logger that says nothing, for tests and short commands. */
export const silentLogger: Logger = pino({ level: "silent" });
