// A page's stream of server-sent events, opened again also after an answer that ends it, such as 503.
const AGAIN_MS = 5_000;

export function openStream(url, state, listeners) {
  const source = new EventSource(url);
  for (const [event, listener] of Object.entries(listeners)) {
    source.addEventListener(event, listener);
  }
  source.addEventListener("error", async () => {
    state.textContent = "Not live just now; connecting again …";
    if (source.readyState !== EventSource.CLOSED) return;
    const answer = await fetch(url, { method: "HEAD" }).catch(() => undefined);
    if (answer?.status === 401) {
      state.textContent = "No longer live: sign in again by loading the page anew";
    } else setTimeout(openStream, AGAIN_MS, url, state, listeners);
  });
}
