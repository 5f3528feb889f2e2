import type { KnownProcess } from "../../../store/service-report.ts";
import { ago, duration, number } from "../amounts.ts";
import { figureList, figuresOf, healthOf, processHealth } from "../health.ts";
import {
  badge,
  type Column,
  type Content,
  type Html,
  html,
  quiet,
  raw,
  section,
  table,
} from "../markup.ts";
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
    nav: ["Watch", "Overview"],
    async show({ now }) {
      const numbers = await readNumbers(now);
      const body = html`<div class="figures" data-live-numbers>${figureList(figuresOf(numbers))}</div>
${section("Health", healthList(numbers, network), liveState())}
<div class="grid">${CHARTS.map(({ title, lines, page }) =>
        section(
          title,
          html`<div class="chart" data-chart="${lines.join(",")}" role="img" aria-label="${title}, the last hour; the same numbers are in the table below"></div>
<ul class="legend hint">${lines.map((line, index) => legendItem(line, index, page))}</ul>`,
          html`<span class="hint" data-reading-at></span>`,
        ),
      )}</div>
<script type="application/json" id="points">${dataBlock({
        series: SERIES.map(({ label, unit }) => ({ label, unit })),
        points: numbers.points,
      })}</script>
${section("Refusals of the last hour", liveTable(refusals, numbers))}
<div id="processes">${section("Processes", liveTable(processes, numbers))}</div>
${section(
  "Last minutes in numbers",
  html`<details><summary>The charts' newest ten minutes as a table</summary>
${liveTable(minutes, numbers)}</details>`,
)}`;
      return { title: "Overview", body };
    },
  };
}

type Draw = (numbers: Numbers) => Html;

/** The overview's tables, in their order; the live stream sends them again. */
export const TABLES: readonly Draw[] = [refusals, processes, minutes];

/** A table whose rows the page's script keeps true. */
function liveTable(draw: Draw, numbers: Numbers): Html {
  return html`<div data-live-table>${draw(numbers)}</div>`;
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
      if (kind === "refused") return [{ words: refusalWords(rest.join(" ")), count }];
      return kind === "limited" ? [{ words: limitWords(rest.join(" ")), count }] : [];
    });
  return table({
    caption: "Refusals of the last hour by reason",
    rows,
    columns: [
      ["Reason", "plain", ({ words }) => html`<a href="/ops/feed">${words}</a>`],
      ["Times", "number", ({ count }) => count],
    ],
    empty: "Nothing was refused within the last hour.",
  });
}

function processes({ processes: known, at }: Numbers): Html {
  const ms = (value: number | null | undefined): Content =>
    value === undefined || value === null ? null : duration(value);
  return table({
    caption: "Processes that reported within the last hour",
    rows: known,
    columns: [
      ["Process", "plain title", processName],
      ["State", "plain", (process) => stateOf(process, at)],
      ["Version", "plain", ({ version }) => version],
      ["Started", "plain", ({ startedAt }) => ago(startedAt, at)],
      ["Last report", "plain", ({ seenAt }) => ago(seenAt, at)],
      ["Actors in memory", "number", ({ report }) => report.actors ?? null],
      ["Memory", "number", ({ report }) => `${number(report.memoryMb)} MB`],
      ["Postgres", "number", ({ report }) => ms(report.postgresMs)],
      ["Redis", "number", ({ report }) => ms(report.redisMs)],
    ],
    empty:
      "No process has reported yet. A process reports ten seconds after its start at the latest.",
  });
}

function processName({ role, host, pid }: KnownProcess): Html {
  return html`${role} ${quiet(`${host}, process ${pid}`)}`;
}

function stateOf(process: KnownProcess, now: number): Html {
  const { mood, word } = processHealth(process, now);
  return badge(mood, word);
}

const MINUTES_IN_NUMBERS = 10;

function minutes({ points }: Numbers): Html {
  return table({
    caption: "The newest ten minutes",
    rows: points.slice(-MINUTES_IN_NUMBERS).reverse(),
    columns: [
      ["Minute (UTC)", "plain", ([second]) => new Date(second * 1_000).toISOString().slice(11, 16)],
      ...SERIES.map(
        ({ label, unit }, line): Column<Point> => [
          unit === "" ? label : `${label} (${unit})`,
          "number",
          (point) => measured(point[line + 1] ?? null),
        ],
      ),
    ],
  });
}

function measured(value: number | null): string | null {
  return value === null ? null : number(value, 2);
}
