/** Names of what is never shown, with any value. */
const SECRET =
  /secret|passw|passphrase|token|api[_-]?key|private|signature|authori[sz]ation|cookie|credential|mnemonic/i;
const HIDDEN = "(hidden)";
/** A job of this service has five fields; larger ones, of other producers, are shown in part. */
const DEPTH_MAX = 6;
const ENTRIES_MAX = 100;
const TEXT_MAX = 1_000;

/** The same value with the values of secret names replaced, bounded in every direction. */
export function hideSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return shortened(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEPTH_MAX) return "…";
  if (Array.isArray(value)) {
    return value.slice(0, ENTRIES_MAX).map((each) => hideSecrets(each, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ENTRIES_MAX)
      .map(([name, each]) => [name, SECRET.test(name) ? HIDDEN : hideSecrets(each, depth + 1)]),
  );
}

function shortened(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
