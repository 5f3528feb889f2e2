import { type Content, type Html, html, options as optionsOf } from "../console/markup.ts";
import { NAME_PART_CHARACTERS_MAX } from "../v1/parameters.ts";

export interface Choice {
  readonly parameter: string;
  readonly label: string;
  /** The word of the empty choice: what the list shows without it. */
  readonly unset: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly chosen: string | undefined;
}

/** A part of a name, to be written into a list's form. */
export interface Search {
  readonly parameter: string;
  readonly label: string;
  readonly written: string | undefined;
}

/** A form that asks the same page for less. Who goes back finds in it what the list there shows. */
export function filterForm(
  path: string,
  label: string,
  fields: readonly (Choice | Search)[],
): Html {
  return html`<form class="filters" method="get" action="${path}" aria-label="${label}" autocomplete="off">
${fields.map(
  (
    field,
  ) => html`<label>${field.label} ${"options" in field ? select(field) : search(field)}</label>
`,
)}<button>Show</button>
</form>`;
}

function select({ parameter, unset, options, chosen }: Choice): Html {
  return html`<select name="${parameter}">
<option value="">${unset}</option>${optionsOf(options, chosen)}</select>`;
}

function search({ parameter, written = "" }: Search): Html {
  return html`<input type="search" name="${parameter}" value="${written}" maxlength="${NAME_PART_CHARACTERS_MAX}" spellcheck="false">`;
}

/** What a page says that has no records though others have: it was asked for too far on. */
export const NOTHING_FURTHER = "Nothing is listed this far on.";

/** The way to the pages before and after this one. @param query what this one was asked with */
export function pager(
  path: string,
  query: Readonly<Record<string, string | null | undefined>>,
  given: { readonly offset: number; readonly limit: number; readonly total: number },
): Content {
  const { offset, limit, total } = given;
  if (offset === 0 && total <= limit) return null;
  const at = (from: number): string => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value);
    if (from > 0) parameters.set("offset", String(from));
    const text = parameters.toString();
    return text === "" ? path : `${path}?${text}`;
  };
  const before =
    offset === 0
      ? ""
      : html`<a class="button" rel="prev" href="${at(Math.max(0, Math.min(offset, total) - limit))}">← Before</a>`;
  const after =
    offset + limit >= total
      ? ""
      : html`<a class="button" rel="next" href="${at(offset + limit)}">After →</a>`;
  const where =
    offset < total
      ? `${offset + 1} to ${Math.min(offset + limit, total)} of ${total}`
      : `${total} in all`;
  return html`<nav class="pager" aria-label="Pages">${before}<span>${where}</span>${after}</nav>`;
}
