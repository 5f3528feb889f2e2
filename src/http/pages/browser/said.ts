/** Long enough to be read twice. */
const SHOWN_MS = 9_000;

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a message, to screen readers too; it disappears by itself. */
export function say(text: string): void {
  const place = document.querySelector("[data-said]");
  if (place === null) return;
  place.textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    place.textContent = "";
  }, SHOWN_MS);
}
