import { TerminalError } from "../errors.ts";
import { repeatedKey } from "../repeated-key.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a JSON file that people have written: UTF-8, with or without a byte order mark, and no
 * object that names a key twice.
 *
 * @param name of the file, for messages
 * @throws TerminalError `INVALID_REQUEST` saying which of these it is not
 */
export function readJson(bytes: Uint8Array, name: string): unknown {
  const text = attempt(() => utf8.decode(bytes), `${name} is not UTF-8`);
  const parsed: unknown = attempt(() => JSON.parse(text), `${name} is no JSON file`);
  const repeated = repeatedKey(text);
  if (repeated === undefined) return parsed;
  const line = text.slice(0, repeated.at).split("\n").length;
  throw new TerminalError(
    "INVALID_REQUEST",
    `${name} names ${JSON.stringify(repeated.key)} twice in one object, line ${line}`,
  );
}

function attempt<T>(work: () => T, message: string): T {
  try {
    return work();
  } catch (error) {
    throw new TerminalError("INVALID_REQUEST", message, {}, error);
  }
}
