import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Goal, number, show } from "./report.ts";

/** What was measured, and on what. */
export interface Measured {
  /** Of the benchmark, as on the command line. */
  readonly name: string;
  /** The machine in words: cores, memory, Node, commit, load before and after. */
  readonly machine: string;
  /** How it was called, to be repeated. */
  readonly command: string;
  readonly goals: readonly Goal[];
}

const PAGE = new URL("../../docs/benchmarks.md", import.meta.url);

/**
 * Writes the goals and how they were met into docs/benchmarks.md, between the marks of the
 * benchmark or at the end, and a picture of them beside it.
 */
export function writeDocs(measured: Measured): void {
  const picture = `pictures/bench-${measured.name}.svg`;
  writeFileSync(new URL(`../../docs/${picture}`, import.meta.url), draw(measured));
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, withSection(page, measured.name, sectionOf(measured, picture)));
  process.stderr.write(`written: ${fileURLToPath(PAGE)}\n`);
}

/** The page with this benchmark's section in place of its last one, or at the end. */
export function withSection(page: string, name: string, section: string): string {
  const [from, to] = [`<!-- bench ${name} -->`, `<!-- /bench ${name} -->`];
  const marked = `${from}\n${section}\n${to}`;
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start === -1 || end === -1) return `${page.trimEnd()}\n\n${marked}\n`;
  return page.slice(0, start) + marked + page.slice(end + to.length);
}

function sectionOf({ name, machine, command, goals }: Measured, picture: string): string {
  const rows = measuredOf(goals).map(
    (goal) =>
      `| ${goal.name.trim()} | ${goal.wanted} | ${show(goal.value)} | ${goal.isMet ? "met" : "**missed**"} |`,
  );
  return [
    `### ${name}`,
    `\`${command}\` on ${machine}. Medians, and the range of the rounds.`,
    `![How far each goal is reached](${picture})`,
    ["| goal | wanted | measured | |", "|---|---|---|---|", ...rows].join("\n"),
  ].join("\n\n");
}

const ROW = 26;
const LEFT = 400;
const WIDTH = 900;
const TOP = 30;
/** Right end of the scale: twice the goal. */
const MOST = 2;

/** Bars as long as the goal is reached; the line is the goal, the whiskers are the rounds. */
export function draw({ name, goals }: Measured): string {
  const rows = measuredOf(goals);
  const x = (reached: number) => LEFT + (Math.min(reached, MOST) / MOST) * (WIDTH - LEFT - 110);
  const bars = rows.flatMap((goal, index) => {
    const y = TOP + index * ROW;
    const middle = y + ROW / 2;
    const [least, most] = [goal.reached(goal.value.least), goal.reached(goal.value.most)];
    const ends = [x(Math.min(least, most)), x(Math.max(least, most))].map((end) => end.toFixed(1));
    const reached = goal.reached(goal.value.median);
    const label = `${number(goal.value.median)} (${goal.wanted})`;
    return [
      `<text x="${LEFT - 10}" y="${middle + 4}" text-anchor="end">${escaped(goal.name.trim())}</text>`,
      `<rect x="${LEFT}" y="${y + 5}" width="${(x(reached) - LEFT).toFixed(1)}" height="${ROW - 10}" fill="${goal.isMet ? "#2f855a" : "#c05621"}"/>`,
      `<line x1="${ends[0]}" x2="${ends[1]}" y1="${middle}" y2="${middle}" stroke="#1a202c" stroke-width="2"/>`,
      `<text x="${(Math.max(x(reached), Number(ends[1])) + 8).toFixed(1)}" y="${middle + 4}">${escaped(label)}</text>`,
    ];
  });
  const height = TOP + rows.length * ROW + 10;
  const goalLine = x(1).toFixed(1);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#1a202c">`,
    `<title>${escaped(name)}: how far each goal is reached</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...bars,
    `<line x1="${goalLine}" x2="${goalLine}" y1="${TOP - 6}" y2="${height - 8}" stroke="#718096" stroke-dasharray="4 3"/>`,
    `<text x="${goalLine}" y="${TOP - 12}" text-anchor="middle">goal</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function measuredOf(goals: readonly Goal[]): readonly Goal[] {
  return goals.filter(({ value }) => !Number.isNaN(value.median));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
