import { html } from "../console/markup.ts";
import type { ShownPage } from "./page.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "That cannot be shown",
  404: "Nothing is here",
  429: "Too many requests",
  503: "Not available just now",
};

const SENTENCES: Readonly<Record<number, string>> = {
  429: "This address has asked for many pages within a minute. Wait a little and ask again.",
  500: "Something went wrong on our side.",
  503: "The directory cannot be read right now. Try again in a moment.",
};

/**
 * What went wrong, as a page.
 *
 * @param sentence what was written for the caller, where there is such a sentence
 */
export function errorBody(status: number, sentence?: string): Pick<ShownPage, "title" | "body"> {
  const title = TITLES[status] ?? "That did not work";
  return {
    title,
    body: html`<h1>${title}</h1>
<p>${sentence ?? SENTENCES[status] ?? "Something went wrong on our side."}</p>
<p><a class="button" href="/">See what is on now</a></p>`,
  };
}
