import { withInstants } from "../../../../actors/day.ts";
import { addSeason, listSeasons, type Season } from "../../../catalogue/seasons.ts";
import { badField } from "../../../errors.ts";
import type { Sql } from "../../../store/postgres.ts";
import { type Field, fieldsForm, filledIn } from "../forms.ts";
import { badge, type Html, html, instantText, section, table } from "../markup.ts";
import type { Action, Page, PagesDeps } from "../page.ts";

const ADD = "/seasons/add";
const FIELDS: readonly Field[] = [
  {
    name: "name",
    label: "Name",
    hint: "As people read it above the leaderboard.",
    maxLength: 300,
  },
  {
    name: "starts",
    label: "Starts (UTC)",
    type: "datetime-local",
    hint: "The first moment that counts.",
  },
  {
    name: "ends",
    label: "Ends (UTC)",
    type: "datetime-local",
    hint: "The first moment that no longer counts. Seasons must not overlap.",
  },
];

/** Seasons of the leaderboard and of premium passes. */
export function seasonsPage({ sql, patientSql }: PagesDeps): Page {
  return {
    path: "/seasons",
    nav: ["Manage", "Seasons"],
    async show(request) {
      const list = table({
        caption: "Seasons, newest first",
        rows: [...(await listSeasons(sql))].reverse(),
        columns: [
          ["Name", "text", ({ name }) => name],
          ["State", "plain", (season) => stateOf(season, request.now)],
          ["Starts", "whole", ({ startsAt }) => instantText(startsAt)],
          ["Ends", "whole", ({ endsAt }) => instantText(endsAt)],
          [
            "",
            "action",
            ({ id, name }) =>
              html`<a class="button small" href="/ops/premium?season=${id}" aria-label="Premium passes of ${name}">Passes</a>`,
          ],
        ],
        empty:
          "No season was added yet: there is no leaderboard, and passes cannot be granted. Add the first one above.",
      });
      const body = html`<p class="lead">The leaderboard counts within a season, and premium passes give 20 votes a day while theirs is on. A season cannot be changed once it is added.</p>
${section("Add a season", fieldsForm(request, { path: ADD, fields: FIELDS, word: "Add the season" }))}
${section("Seasons", list)}`;
      return { title: "Seasons", body };
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
    if (endsAt <= startsAt) throw badField("ends", "A season must end after it starts");
    return { name, startsAt, endsAt };
  };
  return {
    path: ADD,
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
    throw badField(
      field,
      `${what} must be a day, or a day and a time in UTC, such as 2026-11-20 18:00`,
    );
  }
  if (at < 0) throw badField(field, `${what} must not be before 1970`);
  return at;
}

function stateOf({ startsAt, endsAt }: Season, now: number): Html {
  if (now < startsAt) return badge("plain", "to come");
  return now < endsAt ? badge("good", "on") : badge("plain", "over");
}
