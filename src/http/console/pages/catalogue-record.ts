import type { RecordType } from "../../../catalogue/record-type.ts";
import type { CatalogueRecord } from "../../../reads/console-catalogue.ts";
import { instant, number } from "../amounts.ts";
import { type Content, facts, type Html, html, quiet } from "../markup.ts";
import { kindWords, upperFirst } from "../words.ts";

/** A record with every field it has, and what a decision changes, for whom it has to be judged. */
export function wholeRecord(type: RecordType, record: CatalogueRecord, now: number): Html {
  const fields = Object.entries(record.whole).map(
    ([name, value]) => [upperFirst(name.replaceAll("_", " ")), shown(name, value)] as const,
  );
  const word = record.approvedAt === null ? "When approved" : "When rejected";
  return facts([[word, consequence(type, record, now)], ...fields]);
}

/** Records come from elsewhere: only these are made links. */
export function isWeb(url: unknown): url is string {
  return typeof url === "string" && /^https?:\/\//.test(url);
}

function consequence(
  type: RecordType,
  { approvedAt, whole }: CatalogueRecord,
  now: number,
): string {
  if (approvedAt !== null) {
    return "The public API hides it, and it takes no stars; those it has stay.";
  }
  const as = type === "event" ? `an event that ${eventState(whole, now)}` : `a ${kindWords(type)}`;
  return `The public API shows it at once, as ${as}, and it can be starred.`;
}

function eventState({ starts_at, ends_at }: CatalogueRecord["whole"], now: number): string {
  if (Number(starts_at) > now) return "is to come";
  return ends_at === null || now < Number(ends_at) ? "is on now" : "is over";
}

function shown(name: string, value: unknown): Content {
  if (value === null || value === "") return quiet("none");
  if (typeof value === "number") return name.endsWith("_at") ? instant(value) : number(value, 6);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? shown(name, null) : listed(value);
  if (isWeb(value)) {
    return html`<a href="${value}" rel="noopener noreferrer external">${value}</a>`;
  }
  return String(value);
}

/** An event's links and prizes: each with what is known of it. */
function listed(values: readonly unknown[]): Html {
  const item = (value: unknown): Content =>
    Object.entries(Object(value)).map(
      ([name, part], index) => html`${index === 0 ? "" : " · "}${shown(name, part)}`,
    );
  return html`<ul class="bullets">${values.map((value) => html`<li>${item(value)}</li>`)}</ul>`;
}
