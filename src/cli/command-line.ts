import { stripVTControlCharacters } from "node:util";
import { type ArgsDef, type CommandDef, renderUsage, runCommand, type SubCommandsDef } from "citty";
import { refuse } from "./output.ts";

interface Found {
  readonly command: CommandDef;
  /** As people call it: `starboard keys issue`. */
  readonly name: string;
  /** What stands behind its name. */
  readonly words: readonly string[];
}

/**
 * Runs a command line: `--help` and `--version` on standard output, the latter as a document with
 * `--json`, a refusal as one line on standard error with exit status 1. Options are checked here,
 * before the parser reports an unknown one as another one missing.
 *
 * @param words the command line after the root's own name
 * @param version what `--version` prints
 */
export async function runCommandLine(
  root: SubCommandsDef[string],
  words: readonly string[],
  version: string,
): Promise<void> {
  heedClosedOutput();
  try {
    const command = await resolved(root);
    const found = await find({ command, name: (await metaOf(command)).name ?? "", words });
    const options = found.words.slice(0, endOfOptions(found.words));
    if (options.some((word) => word === "--help" || word === "-h")) await printUsage(found);
    else if (options.includes("--version")) printVersion(version, options.includes("--json"));
    else await run(found);
  } catch (error) {
    refuse(error);
  }
}

/**
 * A reader may close its end early, as in `| head -1`: the rest is dropped without a word. What
 * was asked for did not arrive whole, so the exit status is 1, as after any other failed write.
 */
function heedClosedOutput(): void {
  if (process.stdout.listeners("error").includes(onUnwritten)) return;
  process.stdout.on("error", onUnwritten);
  process.stderr.on("error", onUnheard);
}

function onUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exitCode = 1;
  else refuse(error);
}

/** The reader of the output has closed it. */
function onUnheard(): void {
  process.exitCode = 1;
}

async function find({ command, name, words }: Found): Promise<Found> {
  const subCommands = (await resolved(command.subCommands)) ?? {};
  const [word = ""] = words;
  // Read as an own property: `starboard constructor` is no command either.
  if (!Object.hasOwn(subCommands, word)) return { command, name, words };
  const next: CommandDef = (await resolved(subCommands[word])) ?? {};
  return find({ command: next, name: `${name} ${word}`, words: words.slice(1) });
}

async function run({ command, name, words }: Found): Promise<void> {
  if (command.subCommands !== undefined) {
    const [word] = words;
    const flaw = word === undefined ? "a command is needed" : `there is no command ${word}`;
    throw new Error(`${flaw}: ${name} --help lists them`);
  }
  const rawArgs = checkedWords(words, (await resolved(command.args)) ?? {});
  await runCommand(command, { rawArgs }).catch((error: unknown) => {
    const isOfParser = error instanceof Error && error.name === "CLIError";
    throw isOfParser
      ? new Error(`${stripVTControlCharacters(error.message)}: see ${name} --help`)
      : error;
  });
}

function endOfOptions(words: readonly string[]): number {
  const end = words.indexOf("--");
  return end === -1 ? words.length : end;
}

/**
 * Checks the options.
 *
 * @returns the words, each option with its value as one word (`--reason=--no-backup`): the parser takes a
 *   separate word that begins with `--no-` for an option that is turned off
 */
function checkedWords(words: readonly string[], args: ArgsDef): string[] {
  const end = endOfOptions(words);
  const checked: string[] = [];
  const valued = new Set<string>();
  for (let index = 0; index < end; index += 1) {
    const word = words[index] ?? "";
    checked.push(word);
    if (!/^-./.test(word)) continue;
    if (/^-\d/.test(word)) {
      throw new Error(
        `${word} reads as an option: put a negative number last, as in \`-- ${word}\``,
      );
    }
    if (!word.startsWith("--")) throw new Error(`${word} has one dash: options begin with two`);
    const [name = "", value] = word.slice(2).split("=", 2);
    const option = Object.hasOwn(args, name) ? args[name] : undefined;
    if (option === undefined || option.type === "positional") {
      throw new Error(`there is no option ${word}`);
    }
    const isBoolean = option.type === "boolean";
    if (isBoolean && value !== undefined) throw new Error(`--${name} takes no value`);
    // The parser takes the last of several values, and says nothing of the others.
    if (valued.has(name)) throw new Error(`--${name} is given twice`);
    if (!isBoolean) valued.add(name);
    // The next word is its value, however that begins.
    if (isBoolean || value !== undefined || index + 1 >= end) continue;
    index += 1;
    checked.push(`${checked.pop()}=${words[index]}`);
  }
  return [...checked, ...words.slice(end)];
}

async function printUsage({ command, name }: Found): Promise<void> {
  const usage = await renderUsage({ ...command, meta: { ...(await metaOf(command)), name } });
  const text = process.stdout.isTTY ? usage : stripVTControlCharacters(usage);
  process.stdout.write(`${text}\n`);
}

function printVersion(version: string, asJson: boolean): void {
  process.stdout.write(`${asJson ? JSON.stringify({ version }) : version}\n`);
}

async function metaOf(command: CommandDef) {
  return (await resolved(command.meta)) ?? {};
}

/** The library takes a value, a promise of one, or a function that makes either. */
async function resolved<T>(given: T | Promise<T> | (() => T) | (() => Promise<T>)): Promise<T> {
  return typeof given === "function" ? (given as () => T | Promise<T>)() : given;
}
