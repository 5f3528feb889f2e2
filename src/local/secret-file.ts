import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * A secret of a server on this machine: 192 random bits, made once, kept in a file that only we
 * can read. Safe in a URL as it is.
 */
export function keepSecret(file: string): string {
  // Empty where a full disk or a kill came between its making and its writing.
  const kept = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (kept !== "") return kept;
  const made = randomBytes(24).toString("base64url");
  writeFileSync(file, made, { mode: 0o600 });
  return made;
}
