import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ConfigurationError,
  environment,
  readSettings,
  type SettingName,
  type Settings,
  type With,
} from "../config.ts";

/** Where `npm start` leaves, with mode 0600, the settings that it made up for itself. */
const OWN_ENVIRONMENT = join(".starboard", "environment.json");

/**
 * Reads the settings a command needs from the environment. Those of a running `npm start` stand in
 * for what is unset, so that its commands work without any setup; where the environment already
 * has all that is needed, or names another network, they are left alone.
 *
 * @param needed settings the command cannot do without
 * @param folder the project's folder
 * @throws ConfigurationError naming every bad and every missing setting
 */
export function readCommandSettings<Name extends SettingName = never>(
  needed: readonly Name[],
  folder: string = process.cwd(),
): Readonly<With<Name>> {
  return readSettings(variablesFor(needed, folder), needed);
}

/** The same for a command that can do with less: what is not found stays unset. */
export function readFoundSettings(wanted: readonly SettingName[]): Readonly<Settings> {
  return readSettings(variablesFor(wanted, process.cwd()));
}

function variablesFor(
  wanted: readonly SettingName[],
  folder: string,
): Readonly<Record<string, string | undefined>> {
  const given = environment();
  const own = readSettings(given);
  if (wanted.every((name) => own[name] !== undefined)) return given;
  const running = readOwnEnvironment(folder);
  const present = Object.entries(given).filter(([, value]) => value?.trim());
  const found = { ...running, ...Object.fromEntries(present) };
  const networkOf = ({ HEDERA_NETWORK = "local" }) => HEDERA_NETWORK.trim();
  return networkOf(found) === networkOf(running) ? found : given;
}

function readOwnEnvironment(folder: string): Readonly<Record<string, string>> {
  const path = join(folder, OWN_ENVIRONMENT);
  try {
    const values: unknown = JSON.parse(readFileSync(path, "utf8"));
    return Object.fromEntries(
      Object.entries(values ?? {}).filter(([, value]) => typeof value === "string"),
    );
  } catch (error) {
    // No `npm start` has run here: the environment alone decides.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new ConfigurationError(`${OWN_ENVIRONMENT} cannot be read`);
  }
}
