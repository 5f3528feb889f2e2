import type { z } from "zod";
import { TerminalError } from "../errors.ts";
import { type Catalog, catalogSchema } from "./record-schemas.ts";

/**
 * Checks what a catalogue file holds.
 *
 * @param eventSources values of `EVENT_SOURCES`; empty when that is not set
 * @throws TerminalError `INVALID_REQUEST` naming every bad field by its record's index and id
 */
export function readCatalog(given: unknown, eventSources: readonly string[]): Catalog {
  const parsed = catalogSchema(eventSources).safeParse(given, { reportInput: true });
  const flaws = parsed.success
    ? repeatedValues(parsed.data)
    : parsed.error.issues.flatMap((issue) => flawsOf(issue, given));
  if (parsed.success && flaws.length === 0) return parsed.data;
  throw new TerminalError("INVALID_REQUEST", `the catalogue is not valid: ${flaws.join("; ")}`);
}

function flawsOf(issue: z.core.$ZodIssue, given: unknown): readonly string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${placeOf([...issue.path, key], given)} is not a known field`);
  }
  return [`${placeOf(issue.path, given)} ${inWords(issue)}`];
}

function inWords(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return "is missing";
  if (issue.code === "invalid_type") return `must be ${issue.expected}`;
  if (issue.code !== "invalid_value") return issue.message;
  // No enumeration but the event sources can be empty.
  if (issue.values.length === 0) return "cannot be given: EVENT_SOURCES is not set";
  return `must be one of ${issue.values.join(", ")}`;
}

/** `events[3] (id "x") startsAt`, or as much of it as there is. */
function placeOf(path: readonly PropertyKey[], given: unknown): string {
  const [list, index, ...field] = path.map(String);
  if (list === undefined) return "the file";
  if (index === undefined) return list;
  const id = idOf(given, list, Number(index));
  return [`${list}[${index}]${id}`, field.join(".")].filter(Boolean).join(" ");
}

const ID_CHARACTERS_MAX = 64;

function idOf(given: unknown, list: string, index: number): string {
  const records: unknown = isObject(given) ? given[list] : undefined;
  const record: unknown = Array.isArray(records) ? records[index] : undefined;
  const id = isObject(record) ? record.id : undefined;
  return typeof id === "string" ? ` (id ${JSON.stringify(id.slice(0, ID_CHARACTERS_MAX))})` : "";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function repeatedValues({ projects, ...others }: Catalog): string[] {
  return [
    ...Object.entries({ ...others, projects }).flatMap(([list, records]) =>
      repeated(list, "id", records),
    ),
    ...repeated("projects", "slug", projects),
    ...repeated("projects", "ledgerId", projects),
  ];
}

function repeated<Field extends string>(
  list: string,
  field: Field,
  records: readonly ({ readonly id: string } & Readonly<Record<Field, string | null>>)[],
): string[] {
  const seen = new Set<string | null>();
  return records.flatMap((record, index) => {
    const value = record[field];
    const isRepeated = value !== null && seen.has(value);
    seen.add(value);
    return isRepeated ? [`${list}[${index}] (id "${record.id}") ${field} is there twice`] : [];
  });
}
