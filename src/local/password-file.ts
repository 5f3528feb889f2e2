import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The password of a server on this machine: 192 random bits, made once, kept in
 * its folder where only we can read it. Safe in a URL as it is.
 */
export function keepPassword(folder: string): string {
  const file = passwordFileOf(folder);
  if (!existsSync(file)) {
    writeFileSync(file, randomBytes(24).toString("base64url"), { mode: 0o600 });
  }
  return readFileSync(file, "utf8");
}

export function passwordFileOf(folder: string): string {
  return join(folder, "password");
}
