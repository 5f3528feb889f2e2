/** A brace, or a string with the colon that may follow it. */
const TOKEN = /[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g;

/**
 * Finds the first name that stands twice in one object, which `JSON.parse` lets pass in silence:
 * parsers disagree on which of the two counts.
 *
 * @param json well-formed: then a string before a colon is a name in the innermost open object
 */
export function repeatedKey(
  json: string,
): { readonly key: string; readonly at: number } | undefined {
  const open: Set<string>[] = [];
  for (const match of json.matchAll(TOKEN)) {
    const [token, quoted, colon] = match;
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    if (quoted === undefined || colon === undefined) continue;
    // `"\u0061"` and `"a"` are one name.
    const key = quoted.includes("\\") ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
    const keys = open.at(-1);
    if (keys?.has(key)) return { key, at: match.index };
    keys?.add(key);
  }
  return undefined;
}
