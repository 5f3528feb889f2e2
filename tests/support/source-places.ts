import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";

/** A place in a compiled file, as stack traces name it. */
const PLACE = /(?:file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

/**
 * Names the places in our sources that stack traces name in compiled files. Node does it by itself
 * with `--enable-source-maps`, but reads every map at each start of a process for it; few fail.
 */
export function nameSources(text: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return text.replace(PLACE, (place, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, mapOf(file));
    const origin = maps.get(file)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !("fileName" in origin) || !origin.fileName.endsWith(".ts"))
      return place;
    return `${new URL(origin.fileName, `file://${file}`).href}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function mapOf(file: string): SourceMap | undefined {
  const path = `${file}.map`;
  return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, "utf8"))) : undefined;
}
