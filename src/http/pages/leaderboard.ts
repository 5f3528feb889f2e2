import { counted } from "../../counted.ts";
import { entityNumber } from "../../ledger/entity-id.ts";
import { readLeaderboard, readStanding, type Standing } from "../../reads/leaderboard.ts";
import { number } from "../console/amounts.ts";
import { html, table } from "../console/markup.ts";
import type { Page, Reading } from "./page.ts";
import { name, time } from "./text.ts";

const SHOWN_MAX = 100;

/** `/leaderboard`: the season, its dates, its entries, the visitor's own row. */
export function leaderboardPage({ sql, share }: Reading): Page {
  return {
    path: "/leaderboard",
    nav: "Leaderboard",
    async show({ visitor }) {
      const { season, scores, at } = await share("leaderboard", async (at) => ({
        ...(await readLeaderboard(sql, { limit: SHOWN_MAX, now: at })),
        at,
      }));
      if (season === null) {
        return {
          title: "Leaderboard",
          body: html`<h1>Leaderboard</h1><p class="empty">No season is on now.</p>`,
        };
      }
      const own =
        visitor === null
          ? null
          : await readStanding(sql, { account: entityNumber(visitor.wallet), now: at });
      const isOwn = (wallet: string): boolean => wallet === visitor?.wallet;
      return {
        title: `Leaderboard, ${season.name}`,
        body: html`<h1>Leaderboard</h1>
<p class="lead">${name(season.name)}, ${time(season.startsAt)} to ${time(season.endsAt)}. Each star brings points.</p>
${visitor === null ? "" : html`<p class="notice plain">${ownPlace(own)}</p>`}
<section class="card">${table({
          caption: "Wallets by points",
          rows: scores,
          columns: [
            ["Rank", "number", (_, index) => index + 1],
            [
              "Wallet",
              "whole title",
              ({ wallet }) => (isOwn(wallet) ? html`<strong>${wallet}, you</strong>` : wallet),
            ],
            ["Points", "number", ({ points }) => points],
            ["Stars", "number", ({ stars }) => stars],
            ["Weight", "number", ({ weight }) => weight],
          ],
          empty: "No wallet has points yet.",
        })}</section>`,
      };
    },
  };
}

function ownPlace(own: Standing | null): string {
  if (own === null) return "You have no points in this season yet.";
  const rank = own.rank === null ? "beyond rank 10,000" : `at rank ${number(own.rank)}`;
  return `You are ${rank} with ${counted(own.points, "point")}, ${counted(own.stars, "star")} and a weight of ${number(own.weight)}.`;
}
