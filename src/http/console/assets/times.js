// How long ago something was, in the words that the server uses.

const STEPS = [
  [1000, 1, "ms"],
  [120_000, 1000, "s"],
  [7_200_000, 60_000, "min"],
  [172_800_000, 3_600_000, "h"],
  [Number.POSITIVE_INFINITY, 86_400_000, "days"],
];

// The server's clock is the one that counts: a page says how far the browser's is from it.
const served = Number(document.querySelector("main")?.dataset.now);
const ahead = Number.isFinite(served) && served > 0 ? Date.now() - served : 0;

function duration(ms) {
  const [, unit, word] = STEPS.find(([below]) => ms < below);
  return `${Math.round(ms / unit)} ${word}`;
}

export function relative(at) {
  const age = Date.now() - ahead - at;
  if (Math.abs(age) < 1000) return "just now";
  return age > 0 ? `${duration(age)} ago` : `in ${duration(-age)}`;
}
