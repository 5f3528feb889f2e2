import { html } from "../markup.ts";
import type { Page } from "../page.ts";

export function overviewPage(): Page {
  return {
    path: "",
    nav: "Overview",
    show: () => Promise.resolve({ title: "Overview", body: html`<p>soon</p>` }),
  };
}
