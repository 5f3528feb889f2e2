// The overview's charts and figures, moved by server-sent events.
import uPlot from "./uplot.js";

const given = JSON.parse(document.getElementById("points").textContent);
const points = given.points;
const state = document.querySelector("[data-live-state]");
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(name).trim();
const HEIGHT = 150;

function clock(seconds) {
  return new Date(seconds * 1000).toISOString().slice(11, 16);
}

function columnsOf(lines) {
  return [points.map((point) => point[0]), ...lines.map((line) => points.map((p) => p[line + 1]))];
}

function draw(box) {
  const lines = box.dataset.chart.split(",").map(Number);
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const options = {
    width: box.clientWidth,
    height: HEIGHT,
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    padding: [8, 18, 0, 0],
    scales: { y: { range: (_, min, max) => [Math.min(0, min), Math.max(1, max * 1.1)] } },
    axes: [
      {
        ...axis,
        values: (_, ticks) => ticks.map(clock),
        space: 70,
        size: 28,
        grid: { show: false },
      },
      {
        ...axis,
        size: 44,
        space: 30,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5],
      },
    ],
    series: [
      {},
      ...lines.map((line, index) => ({
        label: given.labels[line],
        stroke: colour(`--line-${index}`),
        fill: lines.length === 1 ? colour("--line-0-soft") : undefined,
        width: 2,
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: { setCursor: [(chart) => tell(box, chart, lines)] },
  };
  const chart = new uPlot(options, columnsOf(lines), box);
  new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: HEIGHT })).observe(box);
  tell(box, chart, lines);
  return { chart, lines, box };
}

// What the pointer is over, else the newest whole minute, in words below the chart.
function tell(box, chart, lines) {
  const point = points[chart.cursor.idx ?? points.length - 2];
  if (point === undefined) return;
  const said = (line) => `${given.labels[line]}: ${point[line + 1] ?? "–"}`;
  box.nextElementSibling.textContent = `${clock(point[0])} UTC · ${lines.map(said).join(" · ")}`;
}

let charts = [];
function drawAll() {
  for (const { chart } of charts) chart.destroy();
  charts = [...document.querySelectorAll("[data-chart]")].map(draw);
}
drawAll();
// Colours are read once per drawing.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

function take(newest) {
  for (const point of newest) {
    const last = points.at(-1);
    if (last !== undefined && point[0] > last[0]) {
      points.push(point);
      points.shift();
    } else {
      const index = points.findIndex(([second]) => second === point[0]);
      if (index >= 0) points[index] = point;
    }
  }
  for (const { chart, lines, box } of charts) {
    chart.setData(columnsOf(lines));
    tell(box, chart, lines);
  }
}

const source = new EventSource("/ops/live/numbers");
source.addEventListener("numbers", ({ data }) => {
  const { figures, points: newest } = JSON.parse(data);
  for (const { key, value, note } of figures) {
    document.querySelector(`[data-figure="${key}"]`).textContent = value;
    document.querySelector(`[data-figure-note="${key}"]`).textContent = note;
  }
  take(newest);
  state.textContent = "Live: figures and charts follow every five seconds.";
});
source.addEventListener("error", () => {
  state.textContent =
    source.readyState === EventSource.CLOSED
      ? "No longer live: sign in again by loading the page anew."
      : "Not live just now; connecting again …";
});
