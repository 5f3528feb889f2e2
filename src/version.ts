import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This build's version, from the project's `package.json`: found from source and `dist` alike. */
export function ownVersion(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) return "unknown";
    folder = parent;
  }
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return String(version);
}
