/** Counters on the page, by `<type>/<id>`, and when each was last set from outside. */
const setTimes = new Map<string, number>();
const numbers = new Intl.NumberFormat("en");
const places = (key: string): NodeListOf<Element> =>
  document.querySelectorAll(`[data-counter="${CSS.escape(key)}"]`);

/** What a counter shows; undefined where the page has none for it. */
export function counterOf(key: string): number | undefined {
  const text = places(key)[0]?.textContent;
  return text == null ? undefined : Number(text.replaceAll(",", ""));
}

/** Shows a counter as the service sent it. */
export function setCounter(key: string, value: number): void {
  setTimes.set(key, performance.now());
  expectCounter(key, value);
}

/** Shows what a counter will be if all goes well. */
export function expectCounter(key: string, value: number): void {
  for (const place of places(key)) place.textContent = numbers.format(value);
}

/** Whether the service sent this counter after a moment of `performance.now()`. */
export function wasSetSince(key: string, moment: number): boolean {
  return (setTimes.get(key) ?? Number.NEGATIVE_INFINITY) > moment;
}
