const numbers = new Intl.NumberFormat("en");

/** Shows a counter as the service told it. @param key `<type>/<id>` */
export function setCounter(key: string, value: number): void {
  for (const place of document.querySelectorAll(`[data-counter="${CSS.escape(key)}"]`)) {
    place.textContent = numbers.format(value);
  }
}
