// The overview's charts, figures and health, moved by server-sent events.
import { openStream } from "./stream.js";
import uPlot from "./uplot.js";

let { series, points } = JSON.parse(document.getElementById("points").textContent);
const state = document.querySelector("[data-live-state]");
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(name).trim();
const NUMBERS = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const MINUTES = 60;

function clock(seconds) {
  return new Date(seconds * 1000).toISOString().slice(11, 16);
}

function said(value, line) {
  if (value === null || value === undefined) return "–";
  return [NUMBERS.format(value), series[line].unit].filter(Boolean).join("\u00a0");
}

// Each line twice: the whole minutes, then, dashed, the way into the one that is still filling.
function columnsOf(lines) {
  const running = points.length - 1;
  const values = (line) => points.map((point) => point[line + 1]);
  return [
    points.map((point) => point[0]),
    ...lines.map((line) => values(line).with(running, null)),
    ...lines.map((line) => values(line).map((value, at) => (at < running - 1 ? null : value))),
  ];
}

function axes(unit) {
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  return [
    {
      ...axis,
      values: (_, ticks) => ticks.map(clock),
      incrs: [15, 20, 30, 60].map((minutes) => minutes * MINUTES),
      space: 46,
      size: 26,
      grid: { show: false },
    },
    {
      ...axis,
      values: (_, ticks) => ticks.map((tick) => [NUMBERS.format(tick), unit].join(unit && " ")),
      size: unit === "ms" ? 64 : 50,
      gap: 6,
      space: 30,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5],
    },
  ];
}

function draw(box) {
  const lines = box.dataset.chart.split(",").map(Number);
  const lineOf = (line, index) => ({
    label: series[line].label,
    stroke: colour(`--line-${index}`),
    fill: lines.length === 1 ? colour("--line-0-soft") : undefined,
    width: 2,
    points: { show: false },
    spanGaps: false,
  });
  const options = {
    width: box.clientWidth,
    height: box.clientHeight,
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    padding: [8, 14, 0, 0],
    scales: { y: { range: (_, min, max) => [Math.min(0, min), Math.max(1, max * 1.1)] } },
    axes: axes(series[lines[0]].unit),
    series: [
      {},
      ...lines.map(lineOf),
      ...lines.map((line, index) => ({ ...lineOf(line, index), dash: [3, 3] })),
    ],
    hooks: { setCursor: [(chart) => tell(box, chart, lines)] },
  };
  const chart = new uPlot(options, columnsOf(lines), box);
  const observer = new ResizeObserver(() =>
    chart.setSize({ width: box.clientWidth, height: box.clientHeight }),
  );
  observer.observe(box);
  tell(box, chart, lines);
  return { chart, lines, box, observer };
}

// What the pointer is over, else the newest whole minute: the time above, the numbers below.
function tell(box, chart, lines) {
  const point = points[chart.cursor.idx ?? points.length - 2];
  if (point === undefined) return;
  const card = box.closest(".card");
  card.querySelector("[data-reading-at]").textContent = `${clock(point[0])} UTC`;
  for (const line of lines) {
    card.querySelector(`[data-reading="${line}"]`).textContent = said(point[line + 1], line);
  }
}

let charts = [];
function drawAll() {
  for (const { chart, observer } of charts) {
    observer.disconnect();
    chart.destroy();
  }
  charts = [...document.querySelectorAll("[data-chart]")].map(draw);
}
drawAll();
// Colours are read once per drawing.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

// All of them: a stream that was away has missed some.
function takePoints(newest) {
  points = newest;
  for (const { chart, lines, box } of charts) {
    chart.setData(columnsOf(lines));
    tell(box, chart, lines);
  }
}

function say(selector, text) {
  const place = document.querySelector(selector);
  if (place.textContent !== text) place.textContent = text;
}

function drawnFrom(markup) {
  const drawn = document.createElement("template");
  drawn.innerHTML = markup;
  return drawn.content;
}

// Rows alone: a table's own box keeps the focus, and how far it is scrolled.
function takeTables(tables) {
  const marked = getSelection();
  for (const [index, place] of document.querySelectorAll("[data-live-table]").entries()) {
    const drawn = drawnFrom(tables[index]);
    const [rows, newest] = [place, drawn].map((root) => root.querySelector("tbody"));
    // What has the focus, or is marked to be copied, stays until it is let go.
    if (rows?.contains(document.activeElement)) continue;
    if (rows && !marked.isCollapsed && marked.containsNode(rows, true)) continue;
    if (rows && newest) rows.replaceWith(newest);
    else place.replaceChildren(drawn);
  }
}

const failingIn = (root) =>
  [...root.querySelectorAll("[data-verdict] strong")].map(({ textContent }) => textContent).join();

// What is wrong comes and goes with the checks that fail, and is read out then alone.
function takeVerdict({ banner, badge }) {
  const drawn = drawnFrom(banner);
  if (failingIn(drawn) === failingIn(document)) return;
  const main = document.querySelector("main");
  const shown = document.querySelector("[data-verdict]");
  const focused = shown?.contains(document.activeElement) ? document.activeElement.href : undefined;
  shown?.remove();
  main.prepend(drawn);
  // The keyboard goes on at the same link, or where the page's content begins.
  const links = [...document.querySelectorAll("[data-verdict] a")];
  if (focused !== undefined) (links.find(({ href }) => href === focused) ?? main).focus();
  const link = document.querySelector('.pages a[href="/ops"]');
  link.querySelector(".badge")?.remove();
  link.insertAdjacentHTML("beforeend", badge);
}

function takeNumbers({ data }) {
  const { figures, health, points: newest, tables, ...verdict } = JSON.parse(data);
  takeVerdict(verdict);
  for (const { key, value, note, mood } of figures) {
    say(`[data-figure="${key}"]`, value);
    say(`[data-figure-note="${key}"]`, note);
    document.querySelector(`[data-figure-box="${key}"]`).className = `figure ${mood}`;
  }
  for (const { key, word, note, mood } of health) {
    say(`[data-live="health-${key}"]`, word);
    say(`[data-live="health-${key}-note"]`, note);
    document.querySelector(`[data-live="health-${key}"]`).className = `badge ${mood}`;
  }
  takePoints(newest);
  takeTables(tables);
  say("[data-live-state]", "Live, every 5 s");
}
openStream("/ops/live/numbers", state, { numbers: takeNumbers });
