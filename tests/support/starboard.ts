import { execFile } from "node:child_process";
import { nodeArguments } from "./script.ts";

/** What a command said and how it ended. */
export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as the one JSON document it should be. */
  json<T>(): T;
}

const ENTRY = new URL("../../src/processes/starboard.ts", import.meta.url);

/** Runs `starboard` as a process of its own, with these settings and none of ours. */
export function starboard(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd?: string,
  given: { readonly readsOutput?: boolean } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { PATH = "", HOME = "" } = process.env;
    const child = execFile(
      process.execPath,
      [...nodeArguments(ENTRY), ...args],
      { env: { PATH, HOME, ...environment }, ...(cwd === undefined ? {} : { cwd }) },
      (error, stdout, stderr) => {
        const status = error === null ? 0 : Number(error.code ?? 1);
        resolve({ status, stdout, stderr, json: () => JSON.parse(stdout) });
      },
    );
    // As `| head -1` does once it has its line.
    if (given.readsOutput === false) child.stdout?.destroy();
  });
}
