import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This build's version, from the project's `package.json`. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(ownFile("package.json"), "utf8"));
  return String(version);
}

/**
 * Where a file of the project stands that is no code: found from source and from `dist` alike.
 *
 * @param path from the project's root
 * @throws Error where this installation lacks it
 */
export function ownFile(path: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, path))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`${path} is missing`);
    folder = parent;
  }
  return join(folder, path);
}
