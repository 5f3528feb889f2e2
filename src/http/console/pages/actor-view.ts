import { type Content, type Html, html, number, raw } from "../markup.ts";

/** What a kind of actor brings to its page; the rest is the same for all. */
export interface ActorView {
  /** What it is, as people call it; its name stands below. */
  readonly title: string;
  readonly state: string;
  /** How many stars it has accepted or counted; at least so many where they are too many to be counted. */
  readonly version: number;
  readonly isPartial?: boolean;
  /** Where its state was read from, in words. */
  readonly source: string;
  readonly context: Content;
  /** Sections of this kind alone, before the history. */
  readonly more: Content;
  /** The history, event by event. */
  readonly history: Content;
  /** Sections of this kind alone, after the history. */
  readonly below?: Content;
  /** What `?at=` shows, when it is asked for, and the state then where it is known. */
  readonly past: { readonly state: string | null; readonly section: Content } | null;
}

/** A history that is longer is walked by the command alone: a page answers at once. */
export const STEPS_MAX = 5_000;

export function afterLink(id: string, step: number, text: string): Html {
  return html`<a href="/ops/actors/${id}?at=${step}#past" title="The state after event ${number(step)}">${text}</a>`;
}

/** The frame around a past state, with the ways to the steps beside it. */
export function pastState(
  id: string,
  place: { readonly step: number; readonly last: number },
  content: Content,
): Html {
  const { step, last } = place;
  const way = (to: number, text: string): Html =>
    to < 0 || to > last
      ? raw("")
      : html`<a class="button" href="/ops/actors/${id}?at=${to}#past">${text}</a>`;
  const title =
    step === 0 ? "Before the first event" : `After event ${number(step)} of ${number(last)}`;
  return html`<section class="card past" id="past"><header><h2>${title}</h2><a href="/ops/actors/${id}">Back to now</a></header>
${content}
<nav class="pager" aria-label="Steps">${way(step - 1, "← One event back")}${way(step + 1, "One event on →")}</nav></section>`;
}
