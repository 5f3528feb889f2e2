import { grantPass, revokePass } from "../../../catalogue/premium.ts";
import { listSeasons, type Season } from "../../../catalogue/seasons.ts";
import { isEntityId } from "../../../ledger/entity-id.ts";
import { type ListedPass, passesOf } from "../../../reads/console-seasons.ts";
import type { Sql } from "../../../store/postgres.ts";
import { actionForm, askingButton, fieldOf, filledIn, flawIn, UUID } from "../forms.ts";
import { ago, type Html, html, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";
import { older, wholeNumber } from "../paging.ts";

const GRANT = "/premium/grant";
const PER_PAGE = 50;

/** Premium passes: who has 20 votes a day, in which season. */
export function premiumPage({ sql }: PagesDeps): Page {
  return {
    path: "/premium",
    nav: "Premium",
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
      return { title: "Premium passes", body: body(request, { seasons, season, found }) };
    },
    actions: [deciding(sql, "grant"), deciding(sql, "revoke")],
  };
}

function deciding(sql: Sql, verb: "grant" | "revoke"): Action {
  const read = (form: URLSearchParams) => {
    const wallet = filledIn(form, "wallet", { what: "A wallet" });
    if (!isEntityId(wallet)) throw flawIn("wallet", `${wallet} is no account id such as 0.0.1001`);
    return { wallet, seasonId: filledIn(form, "season", { what: "A season", form: UUID }) };
  };
  return {
    path: `/premium/${verb}`,
    name: `premium.${verb}`,
    role: "admin",
    subject: (form) => read(form).wallet,
    async run({ form }) {
      const name = read(form);
      const { wallet, seasonId } = await (verb === "grant" ? grantPass : revokePass)(sql, name);
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

function body(
  request: PageRequest,
  given: {
    readonly seasons: readonly Season[];
    readonly season: Season;
    readonly found: readonly ListedPass[];
  },
): Html {
  const { seasons, season, found } = given;
  const passes = found.slice(0, PER_PAGE);
  const last = found.length > PER_PAGE ? passes.at(-1)?.number : undefined;
  const form = actionForm(
    request,
    { path: GRANT, kind: "fields" },
    html`${fieldOf(request, GRANT, {
      name: "wallet",
      label: "Wallet",
      hint: "An account id, such as 0.0.1001.",
      maxLength: 60,
    })}
${fieldOf(request, GRANT, {
  name: "season",
  label: "Season",
  value: season.id,
  choices: choicesOf(seasons),
})}
<button class="primary">Grant a pass</button>`,
  );
  const rows = passes.map(({ wallet, grantedAt, seasonId }) => [
    html`<a class="code" href="/ops/wallets/${wallet}">${wallet}</a>`,
    ago(grantedAt, request.now),
    askingButton(request, {
      path: "/premium/revoke",
      word: "Take back",
      label: `Take back the pass of ${wallet}`,
      question: `${wallet} then has 5 votes a day, from its next star on. The stars it gave stand.`,
      sure: "Take it back",
      fields: { wallet, season: seasonId },
    }),
  ]);
  const next = last === undefined ? null : `/ops/premium?season=${season.id}&after=${last}`;
  return html`<p class="lead">A pass gives a wallet 20 votes a day instead of 5 while its season is on.</p>
${section("Grant a pass", form)}
${section(
  `Passes of ${season.name}`,
  html`${seasonPicker(seasons, season)}${table({
    caption: `Passes of ${season.name}, by wallet`,
    columns: [
      { label: "Wallet", isWhole: true },
      { label: "Granted", isWhole: true },
      { label: "", isAction: true },
    ],
    rows,
    empty: "No wallet has a pass for this season. Grant the first one above.",
  })}${older(next, "Next")}`,
)}`;
}

/** The list below is of one season: another is asked for by its name. */
function seasonPicker(seasons: readonly Season[], season: Season): Html {
  if (seasons.length === 1) return html``;
  return html`<form class="row" method="get" action="/ops/premium"><div><label for="of-season">Season</label><select id="of-season" name="season">${choicesOf(
    seasons,
  ).map(
    ([id, name]) =>
      html`<option value="${id}"${id === season.id ? html` selected` : ""}>${name}</option>`,
  )}</select></div><button>Show its passes</button></form>`;
}

function choicesOf(seasons: readonly Season[]): readonly (readonly [string, string])[] {
  return seasons.map(({ id, name }) => [id, name] as const);
}
