import { LEDGER_SETTINGS, type Settings } from "../config.ts";
import { type Diagnosis, examine } from "../upkeep/doctor/examine.ts";
import { flag } from "./arguments.ts";
import { checksText } from "./checks-text.ts";
import { command, print, refuse } from "./output.ts";
import { readFoundSettings } from "./settings.ts";

/** Every setting that a check asks about. */
const ASKED = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  "HEDERA_NODES",
  ...LEDGER_SETTINGS,
] as const;

export const subcommand = command({
  work: () => diagnose(readFoundSettings(ASKED)),
  text: diagnosisText,
});

/** Options of the processes `serve` and `work`. */
export const PROCESS_FLAGS = {
  check: flag("Do not start: ask what this process needs, and say what is wrong."),
  json: flag("Print one JSON document: where it answers; with --check, what is wrong."),
} as const;

/**
 * Asks in place of starting, where `--check` is given.
 *
 * @param read settings of the process; it throws where one is bad or missing
 * @returns whether it was given
 */
export async function checkInstead(
  { check, json }: { readonly check: boolean; readonly json: boolean },
  forProcess: "serve" | "work",
  read: () => Settings,
): Promise<boolean> {
  if (!check) return false;
  try {
    print(await diagnose(read(), forProcess), { json, text: diagnosisText });
  } catch (error) {
    refuse(error);
  }
  return true;
}

/** Makes the exit status 1 where anything is wrong. */
async function diagnose(settings: Settings, forProcess?: "serve" | "work"): Promise<Diagnosis> {
  const diagnosis = await examine(settings, forProcess);
  if (!diagnosis.ok) process.exitCode = 1;
  return diagnosis;
}

function diagnosisText({ checks }: Diagnosis): string {
  return checksText(checks, { "what to do": "fix" });
}
