// On every page: relative times stay true, and what is live is loaded where it is needed.

import { relative } from "./times.js";

function refreshTimes() {
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const text = relative(Date.parse(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}

setInterval(refreshTimes, 5000);

// "/" leads to the search box, from anywhere but where text is typed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, textarea, select")) return;
  const box = document.querySelector(".top .search input");
  if (box === null) return;
  event.preventDefault();
  box.focus();
});

// A button that is pressed twice at once sends its form once: its reply may hold what is shown only once.
const AT_ONCE_MS = 2_000;
let sent = { submitter: null, timeStamp: Number.NEGATIVE_INFINITY };
document.addEventListener("submit", (event) => {
  const { submitter, timeStamp, target } = event;
  const isAgain = submitter === sent.submitter && timeStamp - sent.timeStamp < AT_ONCE_MS;
  sent = { submitter, timeStamp };
  if (isAgain && target.method === "post") event.preventDefault();
});

// On a phone the navigation scrolls: where one is should be in sight.
const here = document.querySelector(".pages [aria-current]");
here?.scrollIntoView({ block: "nearest", inline: "center" });

// What is long can be taken along whole; browsers give the clipboard to secure pages alone.
for (const text of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  const button = Object.assign(document.createElement("button"), {
    type: "button",
    className: "link copy",
  });
  const say = (word) =>
    Object.assign(button, { textContent: word, ariaLabel: `${word} ${text.dataset.copy}` });
  say("Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.dataset.copy);
    say("Copied");
    setTimeout(say, 2000, "Copy");
  });
  text.after(" ", button);
}

if (document.querySelector("[data-live-numbers]")) await import("./charts.js");
if (document.querySelector("[data-live-feed]")) await import("./feed.js");
