import { readFile, stat } from "node:fs/promises";
import { defineCommand } from "citty";
import { withInstants } from "../../actors/day.ts";
import { approveRecord, rejectRecord } from "../catalogue/approve-records.ts";
import { importCatalog } from "../catalogue/import-catalog.ts";
import { listRecords } from "../catalogue/list-records.ts";
import { readRecordType } from "../catalogue/record-type.ts";
import { TerminalError } from "../errors.ts";
import { repeatedKey } from "../repeated-key.ts";
import { flag, word } from "./arguments.ts";
import { act, withDatabase } from "./database.ts";
import { command, table } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

/** The whole file is held in memory, three times over while it is parsed and sent. */
const FILE_BYTES_MAX = 256 * 1024 * 1024;

const importFile = command({
  description: "Add and replace records from a JSON file, all or nothing.",
  args: {
    file: word("The catalogue file."),
    approve: flag("Make the records visible."),
  },
  async work({ file, approve }) {
    const { EVENT_SOURCES } = readCommandSettings(["DATABASE_URL"]);
    const catalog = await readJsonFile(file);
    const options = { approve, eventSources: EVENT_SOURCES ?? [] };
    return act(
      { name: "catalogue.import", subject: file },
      (sql) => importCatalog(sql, catalog, options),
      (details) => ({ details: { ...details } }),
    );
  },
  text: ({ imported, approved }) => {
    const parts = Object.entries(imported).map(([list, count]) => `${count} ${list}`);
    return `imported ${parts.join(", ")}; ${approved} approved`;
  },
});

const record = {
  type: word("event, token, collection or project."),
  id: word("Id of the record."),
};

const approve = command({
  description: "Make a record visible.",
  args: record,
  work: ({ type, id }) => onRecord("catalogue.approve", { type, id }, approveRecord),
  text: ({ type, id, approvedAt }) => `${type} ${id} is approved since ${approvedAt}`,
});

const reject = command({
  description: "Hide a record; its stars stay.",
  args: record,
  work: ({ type, id }) => onRecord("catalogue.reject", { type, id }, rejectRecord),
  text: ({ type, id }) => `${type} ${id} is hidden`,
});

const list = command({
  description: "List the records of a type, approved or not.",
  args: { type: record.type },
  async work({ type }) {
    const recordType = readRecordType(type);
    return withDatabase((sql) => listRecords(sql, recordType));
  },
  text: (records) =>
    table(records, {
      id: "id",
      name: ({ title, name }) => title ?? name,
      approved: "approvedAt",
    }),
});

export const subcommand = defineCommand({
  subCommands: { import: importFile, approve, reject, list },
});

async function onRecord(
  name: string,
  { type, id }: { readonly type: string; readonly id: string },
  change: typeof approveRecord,
) {
  const recordType = readRecordType(type);
  const how = { name, subject: `${recordType}/${id}` };
  return withInstants(await act(how, (sql) => change(sql, recordType, id)));
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a JSON file that people have written: UTF-8, with or without a byte order mark, and no
 * object that names a key twice.
 *
 * @throws TerminalError `INVALID_REQUEST` saying which of these it is not, or that it is a folder;
 *   `PAYLOAD_TOO_LARGE`
 */
async function readJsonFile(path: string): Promise<unknown> {
  const found = await stat(path);
  if (found.isDirectory()) throw new TerminalError("INVALID_REQUEST", `${path} is a folder`);
  if (found.size > FILE_BYTES_MAX)
    throw new TerminalError("PAYLOAD_TOO_LARGE", `${path} is too large`);
  const bytes = await readFile(path);
  const text = attempt(() => utf8.decode(bytes), `${path} is not UTF-8`);
  const parsed: unknown = attempt(() => JSON.parse(text), `${path} is no JSON file`);
  const repeated = repeatedKey(text);
  if (repeated === undefined) return parsed;
  const line = text.slice(0, repeated.at).split("\n").length;
  throw new TerminalError(
    "INVALID_REQUEST",
    `${path} names ${JSON.stringify(repeated.key)} twice in one object, line ${line}`,
  );
}

function attempt<T>(work: () => T, message: string): T {
  try {
    return work();
  } catch (error) {
    throw new TerminalError("INVALID_REQUEST", message, {}, error);
  }
}
