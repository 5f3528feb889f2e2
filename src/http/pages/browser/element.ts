/** Makes an element. @param properties as its class has them, for example `textContent` */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

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
