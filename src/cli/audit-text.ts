import type { Conclusion } from "../audit/conclude.ts";
import type { KnownMatter, Mismatch } from "../audit/report.ts";
import { table } from "./output.ts";

type Shown = Omit<Conclusion, "isAhead">;

/** An audit's conclusion for people: what was checked, then the first thing that is wrong, in full. */
export function auditText(conclusion: Shown): string {
  return [
    conclusion.ok
      ? "Everything that was checked holds."
      : `Mismatches: ${conclusion.mismatchCount}.`,
    checkedTable(conclusion),
    topicsTable(conclusion),
    kindsTable(conclusion),
    firstOf(conclusion.mismatches),
    lines(`Known, and counted nowhere: ${conclusion.knownCount}`, conclusion.known.map(knownLine)),
    lines("Can be neither proved nor refuted:", conclusion.unprovable),
    lines("Notes:", conclusion.notes),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function checkedTable({ checked, margins }: Shown): string {
  const rows = {
    messages: checked.messages,
    "event stars": checked.eventStars,
    "asset stars": checked.assetStars,
    wallets: checked.wallets,
    days: checked.days,
    exports: checked.exports,
    "stars of exports": checked.exportedStars,
    "published counters": checked.rankings,
    "holdings true at the star's instant": margins.exact,
    "holdings true within the minute before": margins.needed,
  };
  return table(Object.entries(rows), {
    checked: ([name]) => name,
    number: ([, number]) => number.toLocaleString("en"),
  });
}

function topicsTable({ topics }: Shown): string {
  return table(topics, {
    topic: "topic",
    messages: ({ sequenceNumber }) => sequenceNumber.toLocaleString("en"),
    "hash as the network's": ({ framings }) => framings.stream.toLocaleString("en"),
    "hash as documented": ({ framings }) => framings.plain.toLocaleString("en"),
    "up to": "consensusTimestamp",
  });
}

function kindsTable({ byKind }: Shown): string {
  const rows = Object.entries(byKind);
  if (rows.length === 0) return "";
  return table(rows, { mismatch: ([kind]) => kind, times: ([, count]) => count });
}

function firstOf([first]: readonly Mismatch[]): string {
  if (first === undefined) return "";
  const { kind, topic, sequenceNumber, starId, where, expected, found, message } = first;
  const facts = {
    kind,
    ...(topic === null ? {} : { topic, message: String(sequenceNumber) }),
    ...(starId == null ? {} : { star: starId }),
    ...(where == null ? {} : { where }),
    expected: String(expected),
    found: String(found),
    ...(message === null ? {} : { text: message }),
  };
  return [
    "The first:",
    ...Object.entries(facts).map(([name, value]) => `  ${name.padEnd(9)}${oneLine(value)}`),
  ].join("\n");
}

function knownLine({ kind, topic, sequenceNumber, day, ...stars }: KnownMatter): string {
  const place = `message ${sequenceNumber} on ${topic}`;
  if (kind === "chain") return `the export of ${day} follows another chain: stars came back`;
  if (kind === "lost") return `${place}: its star was lost, and its loss accepted on ${day}`;
  return `${place}: star ${stars.starId} conflicts with ${stars.conflictsWith}, which was first`;
}

function lines(title: string, all: readonly string[]): string {
  return all.length === 0 ? "" : [title, ...all.map((line) => `  ${oneLine(line)}`)].join("\n");
}

/** What others wrote, names for one, makes no line of its own. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
