// The live page: decisions as they are made, newest on top.
import { openStream } from "./stream.js";
import { relative } from "./times.js";

const list = document.querySelector("[data-live-feed]");
const state = document.querySelector("[data-live-state]");
const SHOWN_MAX = 200;

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function link(href, text) {
  return element("a", { href, textContent: text });
}

function entry({ id, at, isAccepted, wallet, what, why, weight }) {
  const when = new Date(at).toISOString();
  const time = element("time", {
    dateTime: when,
    title: `${when.slice(0, 19).replace("T", " ")} UTC`,
    textContent: relative(at),
  });
  time.dataset.relative = "";
  const item = element(
    "li",
    { className: "new" },
    element("span", {
      className: `badge ${isAccepted ? "good" : "warn"}`,
      textContent: isAccepted ? "accepted" : "refused",
    }),
    element(
      "span",
      { className: "what" },
      link(`/ops/actors/wallet-day/${wallet}/${when.slice(0, 10)}`, wallet),
      " on ",
      isAccepted ? link(`/ops/stars/${id}`, what) : what,
    ),
    element(
      "span",
      { className: "why" },
      ...(weight === null ? [] : [element("strong", { textContent: weight }), " = "]),
      why,
    ),
    time,
  );
  item.dataset.id = id;
  item.dataset.at = at;
  return item;
}

// Newest on top: what comes late, or once more after a pause, goes where it belongs.
function place(item, at) {
  const later = [...list.children].find((other) => Number(other.dataset.at) <= at);
  list.insertBefore(item, later ?? null);
}

const shown = new Set([...list.children].map(({ dataset }) => dataset.id));
function takeDecision({ data }) {
  const decision = JSON.parse(data);
  if (shown.has(decision.id)) return;
  shown.add(decision.id);
  document.querySelector("[data-empty]")?.remove();
  place(entry(decision), decision.at);
  while (list.children.length > SHOWN_MAX) {
    shown.delete(list.lastElementChild.dataset.id);
    list.lastElementChild.remove();
  }
}
openStream(list.dataset.liveFeed, state, {
  decision: takeDecision,
  "left-out": ({ data }) => {
    state.textContent = `Live; ${Number(data).toLocaleString("en")} more in the last second`;
  },
  hello: () => {
    state.textContent = "Live";
  },
});
