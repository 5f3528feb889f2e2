import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from "citty";
import { coerceError, RetryableError } from "../errors.ts";
import { COMMANDS_TERMINAL, harmless } from "../log.ts";
import { flag } from "./arguments.ts";

/** A command as one file of `cli/` describes it; `--json` comes with it. */
interface Command<A extends ArgsDef, T> {
  /** Of a command of a group; the list of `processes/commands.ts` has those of the others. */
  readonly description?: string;
  readonly args?: A;
  /** Does it; the result is what `--json` prints, in the shape of the contract. */
  readonly work: (args: ParsedArgs<A & typeof JSON_FLAG>) => Promise<T>;
  readonly text: (result: T) => string;
}

const JSON_FLAG = { json: flag("Print one JSON document.") };

/**
 * Makes a command of the command line. It keeps the conventions in every case: with
 * `--json` exactly one document on standard output, a refusal as one line on standard error,
 * exit status 0 only on success.
 */
export function command<const A extends ArgsDef, T>({
  description,
  args: own,
  work,
  text,
}: Command<A, T>): CommandDef<A & typeof JSON_FLAG> {
  const args = { ...(own as A), ...JSON_FLAG };
  return defineCommand({
    ...(description !== undefined && { meta: { description } }),
    args,
    async run(context) {
      try {
        refuseMore(context.args._, args);
        print(await work(context.args), { json: context.args.json === true, text });
      } catch (error) {
        refuse(error);
      }
    },
  });
}

/** On standard output, as a terminal shows and does not obey it; an empty text is no line. */
export function print<T>(
  result: T,
  { json, text }: { readonly json: boolean; readonly text: (result: T) => string },
): void {
  const printed = json ? harmless(JSON.stringify(result)) : printable(text(result));
  if (printed !== "") process.stdout.write(`${printed}\n`);
}

/**
 * Says in one line on standard error why nothing was done, and makes the exit status 1.
 *
 * @param who what that line begins with
 */
export function refuse(error: unknown, who = ""): void {
  process.stderr.write(`${who}${printable(reasonOf(error).replace(/\s+/g, " ").trim())}\n`);
  process.exitCode = 1;
}

/** A text that a terminal shows and does not obey: names of others may hold anything. */
function printable(text: string): string {
  return text.replace(COMMANDS_TERMINAL, "\ufffd");
}

/** What a column shows: a field, or what is said of the row. */
type Cell<Row> = keyof Row | ((row: Row) => unknown);

/**
 * Rows in columns, for people; with headings only when there are rows.
 *
 * @param columns by their headings; null and undefined are shown as `-`
 */
export function table<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, Cell<Row>>>,
): string {
  if (rows.length === 0) return "nothing yet";
  const headings = Object.keys(columns);
  const cells = Object.values(columns);
  const textOf = (row: Row) => (cell: Cell<Row>) =>
    String((typeof cell === "function" ? cell(row) : row[cell]) ?? "-").replace(/\s+/g, " ");
  const lines = [headings, ...rows.map((row) => cells.map(textOf(row)))];
  const widths = headings.map((_, column) =>
    lines.reduce((width, line) => Math.max(width, (line[column] ?? "").length), 0),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** SQLSTATEs of a table, a column and a function that is not there. */
const UNDEFINED = ["42P01", "42703", "42883"];

/** SQLSTATE of a right that the login lacks. */
const NOT_ALLOWED = "42501";

function reasonOf(thrown: unknown): string {
  const error = coerceError(thrown);
  const code = "code" in error ? String(error.code) : "";
  if (UNDEFINED.includes(code)) {
    return "the database lacks tables of this build: run `starboard migrate` first";
  }
  if (code === NOT_ALLOWED) {
    return `${error.message}: \`migrate\` and \`journal recover\` need the tables' owner in DATABASE_URL, the rest a member of starboard_app`;
  }
  // The cause of an outage says more: which host, which port.
  const cause = error instanceof RetryableError ? error.cause : undefined;
  return cause instanceof Error ? `${error.message}: ${coerceError(cause).message}` : error.message;
}

/** @throws Error naming the first word that has no place among the arguments */
export function refuseMore(positionals: readonly string[], args: ArgsDef = {}): void {
  const places = Object.values(args).filter(({ type }) => type === "positional").length;
  if (positionals.length > places) {
    throw new Error(`${positionals[places]} is one argument too many`);
  }
}
