/** Deeper than any body of this API; deeper is an attack on some parser behind. */
const DEPTH_MAX = 5;

/**
 * A string, a bracket, a comma, or anything between them. A string without an end is one too, up to
 * the end: to look for that again from each of its quotes would take 20 ms for 4 KiB.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^"{}[\],:]+/gs;

/**
 * Looks for what `JSON.parse` lets pass in silence: a name twice in one object (parsers
 * disagree on which counts) and deep nesting. Says nothing on whether the text is JSON.
 *
 * @returns the first flaw, or undefined
 */
export function inspectJson(
  text: string,
): { readonly message: string; readonly field: string | null } | undefined {
  /** The names seen so far of each open object, innermost last; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  const tokens = text.match(TOKEN) ?? [];
  for (const [index, token] of tokens.entries()) {
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : undefined);
      if (open.length > DEPTH_MAX)
        return { message: "The body is nested too deeply.", field: null };
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (token.startsWith('"') && followedByColon(tokens, index)) {
      const name = unescaped(token);
      const names = open.at(-1);
      if (names?.has(name)) return { message: "A field of the body occurs twice.", field: name };
      names?.add(name);
    }
  }
  return undefined;
}

function followedByColon(tokens: readonly string[], index: number): boolean {
  const next = tokens[index + 1];
  return next === ":" || (next?.trim() === "" && tokens[index + 2] === ":");
}

/** `"\u0061"` and `"a"` are one name. */
function unescaped(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}
