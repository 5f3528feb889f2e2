import { grantPass, revokePass } from "../../../catalogue/premium.ts";
import { listSeasons, type Season } from "../../../catalogue/seasons.ts";
import { type ListedPass, passesOf } from "../../../reads/console-seasons.ts";
import type { Sql } from "../../../store/postgres.ts";
import { UUID } from "../../../uuid.ts";
import { askingButton, fieldsForm, filledIn, WALLET, walletIn } from "../forms.ts";
import { walletLink } from "../links.ts";
import { ago, type Html, html, options, section, table } from "../markup.ts";
import type { Action, Page, PageRequest, PagesDeps } from "../page.ts";
import { PER_PAGE, pageOf, wholeNumber } from "../paging.ts";

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
