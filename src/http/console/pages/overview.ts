import { figureList, figuresOf } from "../figures.ts";
import { healthOf, processHealth } from "../health.ts";
import { ago, badge, duration, type Html, html, number, raw, section, table } from "../markup.ts";
import { type Numbers, type Point, SERIES } from "../numbers.ts";
import type { Page, PagesDeps } from "../page.ts";
import { limitWords, refusalWords } from "../words.ts";

/** The charts: a title, which of `SERIES` they draw, and the page with what they count. */
const CHARTS = [
  { title: "Stars per minute", lines: [0], page: "/ops/stars" },
  { title: "Refusals per minute", lines: [1, 2, 3], page: "/ops/feed" },
  { title: "Publish lag", lines: [4], page: "/ops/publishing" },
  { title: "Waiting to be published", lines: [5], page: "/ops/publishing" },
  { title: "Mirror node answers", lines: [6], page: "/ops#processes" },
  { title: "Failed replies", lines: [7], page: "/ops#processes" },
] as const;

/** How everything is, at a glance; its figures and charts move by themselves. */
export function overviewPage({ readNumbers, network }: PagesDeps): Page {
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
  return html`<div class="figures" data-live-numbers>${figureList(figuresOf(numbers))}</div>
${section("Health", healthList(numbers, network), liveState())}
<div class="grid">${CHARTS.map(({ title, lines, page }) =>
    section(
      title,
      html`<div class="chart" data-chart="${lines.join(",")}" role="img" aria-label="${title}, the last hour; the same numbers are in the table below"></div>
<ul class="legend">${lines.map((line, index) => legendItem(line, index, page))}</ul>`,
      html`<span class="hint" data-reading-at></span>`,
    ),
  )}</div>
<script type="application/json" id="points">${dataBlock({
    series: SERIES.map(({ label, unit }) => ({ label, unit })),
    points: numbers.points,
  })}</script>
${section("Refusals of the last hour", refusals(numbers))}
<div id="processes">${section("Processes", processes(numbers))}</div>
${section("Last minutes in numbers", minutes(numbers.points))}`;
}

function liveState(): Html {
  return html`<span class="hint" data-live-state role="status"><noscript>As of when this page was loaded; without JavaScript it does not update.</noscript></span>`;
}

/** A line of a chart with its newest number, which the page's script keeps. */
function legendItem(line: number, index: number, page: string): Html {
  return html`<li class="line-${index}"><a href="${page}">${SERIES[line]?.label ?? ""}</a> <strong data-reading="${line}"></strong></li>`;
}

/** Data for the page's script; `<` could end the block. */
function dataBlock(value: unknown): Html {
  return raw(JSON.stringify(value).replaceAll("<", "\\u003c"));
}

function healthList(numbers: Numbers, network: string): Html {
  return html`<ul class="states">${healthOf(numbers, network).map(
    ({ key, name, page, mood, word, note }) =>
      html`<li><a href="${page}">${name}</a>${badge(mood, word, `health-${key}`)}<span class="quiet" data-live="health-${key}-note">${note}</span></li>`,
  )}</ul>`;
}

function refusals({ hour }: Numbers): Html {
  const rows = [...hour]
    .sort(([, one], [, other]) => other - one)
    .flatMap(([name, count]) => {
      const [kind, ...rest] = name.split(" ");
      if (kind === "refused") return [[inFeed(refusalWords(rest.join(" "))), number(count)]];
      return kind === "limited" ? [[inFeed(limitWords(rest.join(" "))), number(count)]] : [];
    });
  return table({
    caption: "Refusals of the last hour by reason",
    columns: ["Reason", { label: "Times", isNumber: true }],
    rows,
    empty: "Nothing was refused within the last hour.",
  });
}

/** Decisions as they come, refusals among them. */
function inFeed(words: string): Html {
  return html`<a href="/ops/feed">${words}</a>`;
}

function processes({ processes: known, at }: Numbers): Html {
  const ms = (value: number | null | undefined): string =>
    value === null || value === undefined ? "–" : duration(value);
  return table({
    caption: "Processes that reported within the last hour",
    columns: [
      { label: "Process", isTitle: true },
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
        html`${process.role} <span class="quiet">${process.host}, process ${process.pid}</span>`,
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
  columns: [
    "Minute (UTC)",
    ...SERIES.map(({ label, unit }) => ({
      label: unit === "" ? label : `${label} (${unit})`,
      isNumber: true,
    })),
  ],
  rows,
})}</details>`;
}
