import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment } from "../../src/config.ts";

const ROOT = join(import.meta.dirname, "../..");
/** What a verdict rests on. */
const SOURCES = ["actors", "migrations", "package-lock.json", "packages", "src", "tests"];

/** Verdicts of a run that was interrupted, by name. */
export interface KeptVerdicts {
  find(name: string): readonly string[] | undefined;
  keep(name: string, verdict: readonly string[]): void;
}

/**
 * Keeps verdicts in a folder, a file for each. Verdicts on other sources do not count.
 *
 * @param folder undefined: nothing is kept
 * @param how the kind of run; verdicts of another kind are of no use
 */
export function keepVerdicts(folder: string | undefined, how: string): KeptVerdicts {
  if (folder === undefined) return { find: () => undefined, keep: () => undefined };
  mkdirSync(folder, { recursive: true });
  const sources = hashOfSources();
  const fileOf = (name: string): string => join(folder, `${name.replaceAll("/", "_")}.json`);
  return {
    find(name) {
      let text: string;
      try {
        text = readFileSync(fileOf(name), "utf8");
      } catch {
        return undefined;
      }
      const kept = JSON.parse(text);
      return kept.sources === sources && kept.how === how ? kept.verdict : undefined;
    },
    keep(name, verdict) {
      writeFileSync(fileOf(name), `${JSON.stringify({ sources, how, verdict })}\n`);
    },
  };
}

/** Of what is committed, changed and new. */
function hashOfSources(): string {
  const committed = SOURCES.map((path) => `HEAD:${path}`);
  const parts = [
    git("rev-parse", ...committed),
    git("diff", "HEAD", "--", ...SOURCES),
    ...git("ls-files", "--others", "--exclude-standard", "--", ...SOURCES)
      .split("\n")
      .filter((path) => path !== "")
      .map((path) => readFileSync(join(ROOT, path), "utf8")),
  ];
  return createHash("sha256").update(parts.join("\0")).digest("hex");
}

function git(...given: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", given, {
    cwd: ROOT,
    encoding: "utf8",
    env: { PATH: environment().PATH },
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`git ${given[0]}: ${stderr}`);
  return stdout;
}
