// The live page: decisions as they are made, newest on top.
import { openStream } from "./stream.js";

const list = document.querySelector("[data-live-feed]");
const state = document.querySelector("[data-live-state]");
const SHOWN_MAX = 200;
const LEFT_OUT_MS = 1_500;
let leftOut;

// Newest on top: what comes late, or once more after a pause, goes where it belongs.
function place({ at, html }) {
  const earlier = [...list.children].find((other) => Number(other.dataset.at) <= at);
  const drawn = document.createElement("template");
  drawn.innerHTML = html;
  drawn.content.firstElementChild.classList.add("new");
  list.insertBefore(drawn.content, earlier ?? null);
}

const shown = new Set([...list.children].map(({ dataset }) => dataset.id));
function takeDecision({ data }) {
  const decision = JSON.parse(data);
  if (shown.has(decision.id)) return;
  shown.add(decision.id);
  document.querySelector("[data-empty]")?.remove();
  place(decision);
  while (list.children.length > SHOWN_MAX) {
    shown.delete(list.lastElementChild.dataset.id);
    list.lastElementChild.remove();
  }
}
openStream(list.dataset.liveFeed, state, {
  decision: takeDecision,
  "left-out": ({ data }) => {
    const text = `Live; ${Number(data).toLocaleString("en")} more in the last second`;
    state.textContent = text;
    // The next second says it again, or brings no more than is shown.
    clearTimeout(leftOut);
    leftOut = setTimeout(() => {
      if (state.textContent === text) state.textContent = "Live";
    }, LEFT_OUT_MS);
  },
  hello: () => {
    state.textContent = "Live";
  },
});
