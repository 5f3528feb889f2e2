import { figuresOf } from "../figures.ts";
import {
  checkHealth,
  type Health,
  mirrorHealth,
  postgresHealth,
  processHealth,
  publishingHealth,
  redisHealth,
} from "../health.ts";
import {
  ago,
  badge,
  type Content,
  duration,
  type Html,
  html,
  number,
  raw,
  section,
  table,
} from "../markup.ts";
import { type Numbers, type Point, SERIES } from "../numbers.ts";
import type { Page } from "../page.ts";
import { limitWords, refusalWords } from "../words.ts";

export interface OverviewDeps {
  readonly readNumbers: (now: number) => Promise<Numbers>;
  readonly network: string;
}

/** The charts: a title and which of `SERIES` they draw. */
const CHARTS = [
  { title: "Stars per minute", lines: [0] },
  { title: "Refusals per minute", lines: [1, 2, 3] },
  { title: "Publish lag", lines: [4] },
  { title: "Waiting to be published", lines: [5] },
  { title: "Mirror node answers", lines: [6] },
  { title: "Failed replies", lines: [7] },
] as const;

/** How everything is, at a glance; its figures and charts move by themselves. */
export function overviewPage({ readNumbers, network }: OverviewDeps): Page {
  return {
    path: "",
    nav: "Overview",
    async show({ now }) {
      const numbers = await readNumbers(now);
      return { title: "Overview", body: overview(numbers, network) };
    },
  };
}

function overview(numbers: Numbers, network: string): Html {
  return html`<div class="figures" data-live-numbers>${figuresOf(numbers).map(
    ({ key, label, value, note }) => html`<div class="figure">
<div class="label">${label}</div>
<div class="value" data-figure="${key}">${value}</div>
<div class="note" data-figure-note="${key}">${note}</div>
</div>`,
  )}</div>
<p class="hint" data-live-state><noscript>Without JavaScript this page shows how things were when it was loaded.</noscript></p>
<div class="grid">${CHARTS.map(({ title, lines }) =>
    section(
      title,
      html`<div class="chart" data-chart="${lines.join(",")}" role="img" aria-label="${title}, the last hour; the same numbers are in the table below"></div><p class="hint reading"></p>`,
      lines.length === 1 ? null : legend(lines),
    ),
  )}</div>
<script type="application/json" id="points">${dataBlock({
    labels: SERIES.map(({ label }) => label),
    points: numbers.points,
  })}</script>
<div class="pair">
${section("Health", healthList(numbers, network))}
${section("Refusals of the last hour", refusals(numbers))}
</div>
${section("Processes", processes(numbers))}
${section("Last minutes in numbers", minutes(numbers.points))}`;
}

function legend(lines: readonly number[]): Html {
  return html`<ul class="legend">${lines.map(
    (line, index) => html`<li class="line-${index}">${SERIES[line]?.label ?? ""}</li>`,
  )}</ul>`;
}

/** Data for the page's script; `<` could end the block. */
function dataBlock(value: unknown): Html {
  return raw(JSON.stringify(value).replaceAll("<", "\\u003c"));
}

function healthList(numbers: Numbers, network: string): Html {
  const { check } = numbers;
  const found: Content =
    check === null || check.state === "skipped"
      ? null
      : html`; ${number(check.removed)} removed, ${number(check.kept)} kept, ${number(check.deferred)} left open`;
  const row = (name: string, { mood, word, note }: Health, more: Content = null): Html =>
    html`<li><span>${name}</span>${badge(mood, word)}<span class="quiet">${note}${more}</span></li>`;
  return html`<ul class="states">
${row("Postgres", postgresHealth(numbers))}
${row("Redis", redisHealth(numbers))}
${row("Mirror node", mirrorHealth(numbers, network))}
${row("Publishing", publishingHealth(numbers))}
${row("Last holdings check", checkHealth(numbers), found)}
</ul>`;
}

function refusals({ hour }: Numbers): Html {
  const rows = [...hour].flatMap(([name, count]) => {
    const [kind, ...rest] = name.split(" ");
    if (kind === "refused") return [[refusalWords(rest.join(" ")), number(count)]];
    return kind === "limited" ? [[limitWords(rest.join(" ")), number(count)]] : [];
  });
  return table({
    caption: "Refusals of the last hour by reason",
    columns: ["Reason", { label: "Times", isNumber: true }],
    rows,
    empty: "Nothing was refused within the last hour.",
  });
}

function processes({ processes: known, at }: Numbers): Html {
  const ms = (value: number | null | undefined): string =>
    value === null || value === undefined ? "–" : duration(value);
  return table({
    caption: "Processes heard of within the last hour",
    columns: [
      "Process",
      "State",
      "Version",
      "Started",
      "Last report",
      { label: "Actors in memory", isNumber: true },
      { label: "Memory", isNumber: true },
      { label: "Postgres", isNumber: true },
      { label: "Redis", isNumber: true },
    ],
    rows: known.map((process) => {
      const { mood, word } = processHealth(process, at);
      const { actors, memoryMb, postgresMs, redisMs } = process.report;
      return [
        html`${process.role} <span class="quiet">${process.host}:${process.pid}</span>`,
        badge(mood, word),
        process.version,
        ago(process.startedAt, at),
        ago(process.seenAt, at),
        actors === undefined ? "–" : number(actors),
        `${number(memoryMb)} MB`,
        ms(postgresMs),
        ms(redisMs),
      ];
    }),
    empty:
      "No process has reported yet. A process reports ten seconds after its start at the latest.",
  });
}

const MINUTES_IN_NUMBERS = 10;

function minutes(points: readonly Point[]): Html {
  const rows = points
    .slice(-MINUTES_IN_NUMBERS)
    .reverse()
    .map(([second, ...values]) => [
      new Date(second * 1_000).toISOString().slice(11, 16),
      ...values.map((value) => (value === null ? "–" : number(value, 2))),
    ]);
  return html`<details><summary>The charts' newest ten minutes as a table</summary>
${table({
  caption: "The newest ten minutes",
  columns: ["Minute (UTC)", ...SERIES.map(({ label }) => ({ label, isNumber: true }))],
  rows,
})}</details>`;
}
