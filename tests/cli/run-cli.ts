import type { SubCommandsDef } from "citty";
import { runCommandLine } from "../../src/cli/command-line.ts";

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Runs a command within this process and catches what it prints and how it would exit. */
export async function runCli(
  command: SubCommandsDef[string],
  args: readonly string[],
): Promise<CliResult> {
  const printed = { stdout: "", stderr: "" };
  const restore = (["stdout", "stderr"] as const).map((name) => {
    const write = process[name].write;
    process[name].write = (text: string | Uint8Array) => {
      printed[name] += String(text);
      return true;
    };
    return () => {
      process[name].write = write;
    };
  });
  try {
    await runCommandLine(command, args, "0.0.0");
  } finally {
    for (const undo of restore) undo();
  }
  const exitCode = Number(process.exitCode ?? 0);
  process.exitCode = 0;
  return { ...printed, exitCode };
}
