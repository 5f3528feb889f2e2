import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Goal, number, type Rival, show } from "./report.ts";

/** What was measured, and on what. */
export interface Measured {
  /** Of the benchmark, as on the command line. */
  readonly name: string;
  /** The machine in words: cores, memory, Node, commit, load before and after. */
  readonly machine: string;
  /** How it was called, to be repeated. */
  readonly command: string;
  readonly goals: readonly Goal[];
  /** Ours and what does the same, where that was measured; empty without. */
  readonly rivals: readonly Rival[];
}

const PAGE = new URL("../../docs/benchmarks.md", import.meta.url);

/**
 * Writes the goals and how they were met into docs/benchmarks.md, between the marks of the
 * benchmark or at the end, and a picture of them beside it.
 */
export function writeDocs(measured: Measured): void {
  const { name } = measured;
  writeFileSync(new URL(pictureOf(name), PAGE), draw(measured));
  if (measured.rivals.length > 0) {
    writeFileSync(new URL(pictureOf(name, "-rivals"), PAGE), drawRivals(measured));
  }
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, withSection(page, name, sectionOf(measured)));
  process.stderr.write(`written: ${fileURLToPath(PAGE)}\n`);
}

const pictureOf = (name: string, part = ""): string => `pictures/bench-${name}${part}.svg`;

/** The page with this benchmark's section in place of its last one, or at the end. */
export function withSection(page: string, name: string, section: string): string {
  const [from, to] = [`<!-- bench ${name} -->`, `<!-- /bench ${name} -->`];
  const marked = `${from}\n${section}\n${to}`;
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start === -1 || end === -1) return `${page.trimEnd()}\n\n${marked}\n`;
  return page.slice(0, start) + marked + page.slice(end + to.length);
}

function sectionOf(measured: Measured): string {
  const { name, machine, command, goals } = measured;
  const rows = measuredOf(goals).map(
    (goal) =>
      `| ${goal.name.trim()} | ${goal.wanted} | ${show(goal.value)} | ${goal.isMet ? "met" : "**missed**"} |`,
  );
  return [
    `### ${name}`,
    `\`${command}\` on ${machine}. Medians, and the range of the rounds.`,
    ...rivalsOf(measured),
    `![How far each goal is reached](${pictureOf(name)})`,
    ["| goal | wanted | measured | |", "|---|---|---|---|", ...rows].join("\n"),
  ].join("\n\n");
}

function rivalsOf({ name, rivals }: Measured): readonly string[] {
  if (rivals.length === 0) return [];
  const rows = rivals.map(({ name: who, perSecond, p50Ms, cpuUs, times }) =>
    [who, ...[perSecond, times, p50Ms, cpuUs].map(show)].join(" | "),
  );
  const head = [
    "| | per second | ours is times as fast | p50 ms | CPU µs each |",
    "|---|---|---|---|---|",
  ];
  return [
    `![Beside what a user could take instead](${pictureOf(name, "-rivals")})`,
    [...head, ...rows.map((row) => `| ${row} |`)].join("\n"),
  ];
}

const ROW = 26;
const LEFT = 400;
const WIDTH = 900;
const TOP = 30;
/** Right end of the scale of goals: twice the goal. */
const MOST = 2;

/** A bar; places on the scale run from 0 to 1. */
interface Bar {
  readonly name: string;
  readonly length: number;
  /** Where the rounds begin and end. */
  readonly range: readonly [number, number];
  readonly isGreen: boolean;
  readonly label: string;
}

/** Bars as long as the goal is reached; the line is the goal, the whiskers are the rounds. */
export function draw({ name, goals }: Pick<Measured, "name" | "goals">): string {
  const at = (reached: number) => Math.min(reached, MOST) / MOST;
  const bars = measuredOf(goals).map((goal): Bar => {
    const ends = [at(goal.reached(goal.value.least)), at(goal.reached(goal.value.most))];
    return {
      name: goal.name.trim(),
      length: at(goal.reached(goal.value.median)),
      range: [Math.min(...ends), Math.max(...ends)],
      isGreen: goal.isMet === true,
      label: `${number(goal.value.median)} (${goal.wanted})`,
    };
  });
  return picture(`${name}: how far each goal is reached`, bars, { at: at(1), name: "goal" });
}

/** Bars as long as many are done in a second; ours are green. */
export function drawRivals({ name, rivals }: Pick<Measured, "name" | "rivals">): string {
  const most = Math.max(...rivals.map(({ perSecond }) => perSecond.most));
  const bars = rivals.map(
    ({ name: who, isOurs, perSecond: { median, least, most: best } }): Bar => ({
      name: who,
      length: median / most,
      range: [least / most, best / most],
      isGreen: isOurs,
      label: `${number(median)}/s`,
    }),
  );
  return picture(`${name} a second, beside what a user could take instead`, bars);
}

function picture(
  title: string,
  bars: readonly Bar[],
  line?: { readonly at: number; readonly name: string },
): string {
  const x = (place: number) => LEFT + place * (WIDTH - LEFT - 110);
  const rows = bars.flatMap((bar, index) => {
    const y = TOP + index * ROW;
    const middle = y + ROW / 2;
    const [from, to] = bar.range.map((end) => x(end).toFixed(1));
    return [
      `<text x="${LEFT - 10}" y="${middle + 4}" text-anchor="end">${escaped(bar.name)}</text>`,
      `<rect x="${LEFT}" y="${y + 5}" width="${(x(bar.length) - LEFT).toFixed(1)}" height="${ROW - 10}" fill="${bar.isGreen ? "#2f855a" : "#c05621"}"/>`,
      `<line x1="${from}" x2="${to}" y1="${middle}" y2="${middle}" stroke="#1a202c" stroke-width="2"/>`,
      `<text x="${(Math.max(x(bar.length), Number(to)) + 8).toFixed(1)}" y="${middle + 4}">${escaped(bar.label)}</text>`,
    ];
  });
  const height = TOP + bars.length * ROW + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#1a202c">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...rows,
    ...(line === undefined ? [] : lineAt(x(line.at).toFixed(1), height, line.name)),
    "</svg>",
    "",
  ].join("\n");
}

function lineAt(x: string, height: number, name: string): readonly string[] {
  return [
    `<line x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${height - 8}" stroke="#718096" stroke-dasharray="4 3"/>`,
    `<text x="${x}" y="${TOP - 12}" text-anchor="middle">${escaped(name)}</text>`,
  ];
}

function measuredOf(goals: readonly Goal[]): readonly Goal[] {
  return goals.filter(({ value }) => !Number.isNaN(value.median));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
