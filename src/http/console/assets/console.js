// On every page: relative times stay true, and what is live is loaded where it is needed.

import { relative } from "./times.js";

function refreshTimes() {
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const text = relative(Date.parse(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}

setInterval(refreshTimes, 5000);

// On a phone the navigation scrolls: where one is should be in sight.
const here = document.querySelector(".pages [aria-current]");
here?.scrollIntoView({ block: "nearest", inline: "center" });

// So does a drawing: its present state first.
for (const drawing of document.querySelectorAll(".state-chart")) {
  const box = drawing.closest(".scroll");
  const state = drawing.querySelector(".current")?.getBoundingClientRect();
  if (state) box.scrollLeft = state.left - box.getBoundingClientRect().left - box.clientWidth / 2;
}

if (document.querySelector("[data-live-numbers]")) await import("./charts.js");
if (document.querySelector("[data-live-feed]")) await import("./feed.js");
