import { TerminalError } from "../errors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a JSON file that people have written: UTF-8, with or without a byte order mark, and no
 * object that names a key twice, of which `JSON.parse` would drop one without a word.
 *
 * @param name of the file, for messages
 * @throws TerminalError `INVALID_REQUEST` saying which of these it is not
 */
export function readJson(bytes: Uint8Array, name: string): unknown {
  const text = attempt(() => utf8.decode(bytes), `${name} is not UTF-8`);
  const parsed: unknown = attempt(() => JSON.parse(text), `${name} is no JSON file`);
  const repeated = firstRepeatedKey(text);
  if (repeated === null) return parsed;
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

/** @param json well-formed: then a string before a colon is a key of the innermost open object */
function firstRepeatedKey(json: string): { readonly key: string; readonly at: number } | null {
  const open: Set<string>[] = [];
  for (const match of json.matchAll(/[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g)) {
    const [token, quoted, colon] = match;
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    if (quoted === undefined || colon === undefined) continue;
    const key: string = JSON.parse(quoted);
    const keys = open.at(-1);
    if (keys?.has(key)) return { key, at: match.index };
    keys?.add(key);
  }
  return null;
}
