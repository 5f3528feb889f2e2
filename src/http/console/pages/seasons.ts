import { withInstants } from "../../../../actors/day.ts";
import { addSeason, listSeasons, type Season } from "../../../catalogue/seasons.ts";
import type { Sql } from "../../../store/postgres.ts";
import { actionForm, fieldOf, filledIn, flawIn } from "../forms.ts";
import { badge, type Content, type Html, html, instantText, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";

const ADD = "/seasons/add";

/** Seasons of the leaderboard and of premium passes. */
export function seasonsPage({ sql, patientSql }: PagesDeps): Page {
  return {
    path: "/seasons",
    nav: "Seasons",
    async show(request) {
      return { title: "Seasons", body: body(request, await listSeasons(sql)) };
    },
    actions: [adding(patientSql)],
  };
}

/** @param sql one with time: a season that has started is folded from millions of stars */
function adding(sql: Sql): Action {
  const read = (form: URLSearchParams) => {
    const name = filledIn(form, "name", { what: "A name" });
    const startsAt = instantOf(form, "starts", "The start");
    const endsAt = instantOf(form, "ends", "The end");
    if (endsAt <= startsAt) throw flawIn("ends", "A season must end after it starts");
    return { name, startsAt, endsAt };
  };
  return {
    path: ADD,
    name: "seasons.add",
    role: "admin",
    subject: (form) => read(form).name,
    async run({ form }) {
      const season = await addSeason(sql, read(form));
      const { name, startsAt, endsAt } = season;
      return {
        notice: `Season ${name} was added: ${instantText(startsAt)} to ${instantText(endsAt)}.`,
        goTo: "/seasons",
        details: withInstants(season),
      };
    },
  };
}

const FORM = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?: ?UTC|Z)?)?$/;

/** A date alone means 00:00; the console knows UTC alone. */
function instantOf(form: URLSearchParams, field: string, what: string): number {
  const text = filledIn(form, field, { what });
  const [, day = "", time = "00:00"] = FORM.exec(text) ?? [];
  const at = Date.parse(`${day}T${time}Z`);
  // 31 February is parsed as some day of March by some and refused by others.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(day)) {
    throw flawIn(
      field,
      `${what} must be a day, or a day and a time in UTC, such as 2026-11-20 18:00`,
    );
  }
  if (at < 0) throw flawIn(field, `${what} must not be before 1970`);
  return at;
}

function body(request: PageRequest, seasons: readonly Season[]): Html {
  const { now } = request;
  const rows = [...seasons]
    .reverse()
    .map((season): Content[] => [
      season.name,
      stateOf(season, now),
      instantText(season.startsAt),
      instantText(season.endsAt),
      html`<a class="button small" href="/ops/premium?season=${season.id}" aria-label="Premium passes of ${season.name}">Passes</a>`,
    ]);
  const form = actionForm(
    request,
    { path: ADD, kind: "fields" },
    html`${fieldOf(request, ADD, {
      name: "name",
      label: "Name",
      hint: "As people read it above the leaderboard.",
      maxLength: 300,
    })}
${fieldOf(request, ADD, { name: "starts", label: "Starts (UTC)", type: "datetime-local", hint: "The first moment that counts." })}
${fieldOf(request, ADD, {
  name: "ends",
  label: "Ends (UTC)",
  type: "datetime-local",
  hint: "The first moment that no longer counts. Seasons must not overlap.",
})}
<button class="primary">Add the season</button>`,
  );
  return html`<p class="lead">The leaderboard counts within a season, and premium passes give 20 votes a day while theirs is on. A season cannot be changed once it is added.</p>
${section("Add a season", form)}
${section(
  "Seasons",
  table({
    caption: "Seasons, newest first",
    columns: [
      { label: "Name", isText: true },
      "State",
      { label: "Starts", isWhole: true },
      { label: "Ends", isWhole: true },
      { label: "", isAction: true },
    ],
    rows,
    empty:
      "No season was added yet: there is no leaderboard, and passes cannot be granted. Add the first one above.",
  }),
)}`;
}

function stateOf({ startsAt, endsAt }: Season, now: number): Html {
  if (now < startsAt) return badge("plain", "to come");
  return now < endsAt ? badge("good", "on") : badge("plain", "over");
}
