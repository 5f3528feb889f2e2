import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { table } from "./report.ts";

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly children?: readonly number[];
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
}

/** A function or a part, and its share of the time the process was busy. */
export interface Hotspot {
  readonly name: string;
  readonly share: number;
}

/** Where a process spent its time. */
export interface Hotspots {
  readonly busyMs: number;
  /** Folders of ours, packages, parts of Node: time of their own. */
  readonly parts: readonly Hotspot[];
  /** Functions: time of their own. */
  readonly functions: readonly Hotspot[];
  /** Functions of ours and their packages' entries: time with all they call. */
  readonly totals: readonly Hotspot[];
}

const LISTED = 30;

/** Reads a `.cpuprofile`; idle time is left out. */
export function hotspotsOf(file: string, listed = LISTED): Hotspots {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8")) as CpuProfile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const own = new Map<number, number>();
  samples.forEach((id, index) => {
    own.set(id, (own.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  });
  const [functions, parts, totals] = [new Sums(), new Sums(), new Sums()];
  let busy = 0;
  /** Walks the tree with the functions that are running; each counts its total once. */
  const walk = (node: ProfileNode, running: readonly string[]): void => {
    const { functionName, url } = node.callFrame;
    const us = own.get(node.id) ?? 0;
    const name = nameOf(node);
    const inside = running.includes(name) ? running : [...running, name];
    if (functionName !== "(idle)" && functionName !== "(root)") {
      busy += us;
      functions.add(name, us);
      parts.add(partOf(functionName, placeOf(url)), us);
      for (const each of inside) totals.add(each, us);
    }
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) walk(child, inside);
    }
  };
  const [root] = nodes;
  if (root !== undefined) walk(root, []);
  return {
    busyMs: busy / 1_000,
    functions: functions.largest(listed, busy),
    parts: parts.largest(listed, busy),
    totals: totals.largest(listed, busy, (name) => / (src|actors|node_modules)\//.test(name)),
  };
}

/** For a terminal. */
export function showHotspots({ busyMs, parts, functions, totals }: Hotspots): string {
  const rows = (of: readonly Hotspot[]) =>
    of.map(({ name, share }) => [name, `${(share * 100).toFixed(1)} %`]);
  return [
    `busy ${busyMs.toFixed(0)} ms`,
    table(["part", "own"], rows(parts)),
    table(["function", "own"], rows(functions)),
    table(["function", "with callees"], rows(totals)),
  ].join("\n\n");
}

/** Times by name. */
class Sums {
  readonly #byName = new Map<string, number>();

  add(name: string, us: number): void {
    this.#byName.set(name, (this.#byName.get(name) ?? 0) + us);
  }

  largest(count: number, busy: number, isListed = (_name: string) => true): readonly Hotspot[] {
    return [...this.#byName]
      .filter(([name]) => isListed(name))
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([name, us]) => ({ name, share: us / busy }));
  }
}

function nameOf({ callFrame }: ProfileNode): string {
  const { functionName, url, lineNumber } = callFrame;
  const place = placeOf(url);
  return `${functionName || "(anonymous)"}${place === "" ? "" : ` ${place}:${lineNumber + 1}`}`;
}

function placeOf(url: string): string {
  if (!url.startsWith("file:")) return url;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  return relative(root, fileURLToPath(url)).replace(/^dist\/bench\//, "");
}

/** A folder of ours, a package, or a part of Node. */
function partOf(name: string, place: string): string {
  if (place === "") return name.startsWith("(") ? name : "(V8 and C++)";
  const [, inPackage] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place) ?? [];
  if (inPackage !== undefined) return inPackage;
  if (place.startsWith("node:")) return place.replace(/^(node:(?:internal\/)?[^/]+).*/, "$1");
  return place.split("/").slice(0, 2).join("/").replace(/\.js$/, "");
}
