/**
 * Counters on the page, by `<type>/<id>`: when each was last set from outside, and the UTC day that it
 * is of, where that was said.
 */
const lastSet = new Map<string, { readonly at: number; readonly day: string | undefined }>();
const numbers = new Intl.NumberFormat("en");
const places = (key: string): NodeListOf<Element> =>
  document.querySelectorAll(`[data-counter="${CSS.escape(key)}"]`);

/** What a counter shows; undefined where the page has none for it. */
export function counterOf(key: string): number | undefined {
  const text = places(key)[0]?.textContent;
  return text == null ? undefined : Number(text.replaceAll(",", ""));
}

/** Shows a counter as the service sent it. @param day the UTC day that it is of, `2026-11-20` */
export function setCounter(key: string, value: number, day?: string): void {
  lastSet.set(key, { at: performance.now(), day });
  expectCounter(key, value);
}

/** Shows what a counter will be if all goes well. */
export function expectCounter(key: string, value: number): void {
  for (const place of places(key)) place.textContent = numbers.format(value);
}

/** Whether the service sent this counter after a moment of `performance.now()`. */
export function wasSetSince(key: string, moment: number): boolean {
  return (lastSet.get(key)?.at ?? Number.NEGATIVE_INFINITY) > moment;
}

/** Whether the service said that this counter is of a UTC day. @param at an instant of it, epoch milliseconds */
export function isOfDay(key: string, at: number): boolean {
  return lastSet.get(key)?.day === new Date(at).toISOString().slice(0, 10);
}
