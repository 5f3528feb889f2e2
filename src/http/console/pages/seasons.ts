import { withInstants } from "../../../../actors/day.ts";
import { grantPass, revokePass } from "../../../catalogue/premium.ts";
import { addSeason, listSeasons, type Season } from "../../../catalogue/seasons.ts";
import { badField } from "../../../errors.ts";
import { type ListedPass, passesOf } from "../../../reads/console-seasons.ts";
import type { Sql } from "../../../store/postgres.ts";
import { UUID } from "../../../uuid.ts";
import { ago, instantText } from "../amounts.ts";
import { askingButton, type Field, fieldsForm, filledIn, WALLET, walletIn } from "../forms.ts";
import { PER_PAGE, pageOf, walletLink, wholeNumber } from "../links.ts";
import { badge, type Html, html, options, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";

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
            "Passes",
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

/** Premium passes: who has 20 votes a day, in which season. */
export function premiumPage({ sql }: PagesDeps): Page {
  return {
    path: "/premium",
    nav: ["Manage", "Premium"],
    async show(request) {
      const { query, now, refused } = request;
      const seasons = [...(await listSeasons(sql))].reverse();
      const asked = refused?.form.get("season") ?? query.get("season");
      const season =
        seasons.find(({ id }) => id === asked) ??
        seasons.find(({ startsAt, endsAt }) => startsAt <= now && now < endsAt) ??
        seasons[0];
      if (season === undefined) return { title: "Premium passes", body: noSeason() };
      const after = wholeNumber(query, "after") ?? 0;
      const found = await passesOf(sql, { seasonId: season.id, after, limit: PER_PAGE + 1 });
      const path = `/ops/premium?season=${season.id}`;
      const { shown, more } = pageOf(found, ({ number }) => `${path}&after=${number}`, "Next");
      const passes = table({
        caption: `Passes of ${season.name}, by wallet`,
        rows: shown,
        columns: [
          ["Wallet", "whole", ({ wallet }) => walletLink(wallet)],
          ["Granted", "whole", ({ grantedAt }) => ago(grantedAt, now)],
          ["Take back", "action", (pass) => takeBack(request, pass)],
        ],
        empty: "No wallet has a pass for this season. Grant the first one above.",
      });
      const choices = seasons.map(({ id, name }) => [id, name] as const);
      const fields = [WALLET, { name: "season", label: "Season", value: season.id, choices }];
      const body = html`<p class="lead">A pass gives a wallet 20 votes a day instead of 5 while its season is on.</p>
${section("Grant a pass", fieldsForm(request, { path: "/premium/grant", fields, word: "Grant a pass" }))}
${section(`Passes of ${season.name}`, html`${seasonPicker(choices, season)}${passes}${more}`)}`;
      return { title: "Premium passes", body };
    },
    actions: [deciding(sql, "grant"), deciding(sql, "revoke")],
  };
}

function deciding(sql: Sql, verb: "grant" | "revoke"): Action {
  const read = (form: URLSearchParams) => ({
    wallet: walletIn(form),
    seasonId: filledIn(form, "season", { what: "A season", shape: UUID }),
  });
  return {
    path: `/premium/${verb}`,
    role: "admin",
    subject: (form) => read(form).wallet,
    async run({ form }) {
      const pass = read(form);
      const { wallet, seasonId } = await (verb === "grant" ? grantPass : revokePass)(sql, pass);
      return {
        notice:
          verb === "grant"
            ? `${wallet} has a pass: 20 votes a day while the season is on, from its next star on.`
            : `${wallet} has no pass any more, from its next star on; its stars stand.`,
        goTo: `/premium?season=${seasonId}`,
        details: { seasonId },
      };
    },
  };
}

function noSeason(): Html {
  return html`<p class="empty">A pass belongs to a season, and there is none yet.</p>
<p><a class="button" href="/ops/seasons">Add a season</a></p>`;
}

function takeBack(request: PageRequest, { wallet, seasonId }: ListedPass): Html {
  return askingButton(request, {
    path: "/premium/revoke",
    word: "Take back",
    label: `Take back the pass of ${wallet}`,
    question: `${wallet} then has 5 votes a day, from its next star on. The stars it gave stand.`,
    sure: "Take it back",
    fields: { wallet, season: seasonId },
  });
}

/** The list below is of one season: another is asked for by its name. */
function seasonPicker(choices: readonly (readonly [string, string])[], season: Season): Html {
  if (choices.length === 1) return html``;
  return html`<form class="row" method="get" action="/ops/premium"><div><label for="of-season">Season</label><select id="of-season" name="season">${options(choices, season.id)}</select></div><button>Show its passes</button></form>`;
}
