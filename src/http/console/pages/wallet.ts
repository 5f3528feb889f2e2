import { dayOf } from "../../../../actors/day.ts";
import { counted } from "../../../counted.ts";
import { TerminalError } from "../../../errors.ts";
import { type ListedActor, listActors } from "../../../hosting/list-actors.ts";
import { entityNumber, isEntityId } from "../../../ledger/entity-id.ts";
import { readWalletRecords } from "../../../reads/console-wallet.ts";
import { readStanding, type Standing } from "../../../reads/leaderboard.ts";
import { listStars } from "../../../reads/list-stars.ts";
import { ago, moment, number, signed } from "../amounts.ts";
import { refusalsOf } from "../decisions.ts";
import { actorLink, onExplorer, starLink } from "../links.ts";
import { badge, type Content, facts, type Html, html, section, table } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { refusalWords, targetName } from "../words.ts";

const DAYS_SHOWN = 14;
const LINES_SHOWN = 100;

/** A wallet across its days: what it did, what it has, and what it was refused. */
export function walletPage(deps: PagesDeps): Page {
  return {
    path: "/wallets/*",
    below: "/actors",
    async show({ rest: wallet, now }) {
      if (!isEntityId(wallet)) throw new TerminalError("NOT_FOUND", "This names no wallet.");
      const known = await readKnown(deps, wallet, now);
      const { days, stars } = known;
      const allDays = html`<a href="/ops/actors?q=${wallet}">All its days</a>`;
      const allStars = html`<a href="/ops/stars?q=${wallet}">All its stars</a>`;
      const body = html`${section("Now", summary(known))}
${section("Time line", html`${timeLine(known)}<p class="hint">Refusals are here as far as they are kept, alike ones of a day as one line.</p>`, stars.length < LINES_SHOWN ? null : allStars)}
${section("Days", dayTable(days, now), days.length < DAYS_SHOWN ? null : allDays)}`;
      return { title: `Wallet ${wallet}`, body };
    },
  };
}

type Known = Awaited<ReturnType<typeof readKnown>>;

async function readKnown({ sql, refusals, explorer }: PagesDeps, wallet: string, now: number) {
  const account = entityNumber(wallet);
  const [days, stars, records, standing, refused] = await Promise.all([
    listActors(sql, { type: "wallet-day", q: wallet, limit: DAYS_SHOWN }),
    listStars(sql, { wallet: account, limit: LINES_SHOWN }),
    readWalletRecords(sql, account, { now, limit: LINES_SHOWN }),
    readStanding(sql, { account, now }),
    refusalsOf(refusals, wallet),
  ]);
  return { wallet, now, explorer, days, stars, records, standing, refused };
}

function summary({ wallet, now, explorer, days, records, standing }: Known): Html {
  const ofToday = `wallet-day/${wallet}/${dayOf(now)}`;
  const today = days.find(({ id }) => id === ofToday);
  const { passes, credits, sessions } = records;
  const [newest] = sessions;
  const none = "none";
  return facts([
    ["Account", onExplorer(explorer, `account/${wallet}`, wallet)],
    ["Today", actorLink(ofToday, counted(today?.version ?? 0, "star"))],
    ["Rank", standing === null ? "no points in a season that is on" : standingWords(standing)],
    [
      "Passes",
      passes.length === 0
        ? none
        : passes.map(({ season, seasonId }, index) => [
            index === 0 ? "" : ", ",
            passLink(seasonId, season),
          ]),
    ],
    [
      "XP credits",
      credits[0] === undefined ? none : html`<a href="/ops/xp">${number(credits[0].total)}</a>`,
    ],
    [
      "Voting sessions",
      newest === undefined
        ? none
        : html`${number(sessions.length)} open, the newest from ${ago(newest, now)}`,
    ],
    ["See also", html`<a href="/ops/feed?wallet=${wallet}">its decisions, live</a>`],
  ]);
}

function standingWords({ rank, points, stars }: Standing): string {
  const place = rank === null ? "far down" : number(rank);
  return `${place}, with ${counted(points, "point")} from ${counted(stars, "star")} and credits`;
}

type Line = readonly [at: number, what: Content, outcome: Content];

function timeLine(known: Known): Html {
  const lines = linesOf(known).sort(([one], [other]) => other - one);
  return table({
    caption: "What this wallet did and was given, newest first",
    rows: lines.slice(0, LINES_SHOWN),
    columns: [
      ["When", "whole", ([at]) => moment(at, known.now)],
      ["What", "text title", ([, what]) => what],
      ["Outcome", "text", ([, , outcome]) => outcome],
    ],
    empty: "Nothing is known of this wallet: it has no star, pass, credit or open session.",
  });
}

function linesOf({ stars, records, refused }: Known): Line[] {
  return [
    ...stars.map(
      ({ id, at, type, targetId, weight }): Line => [
        at,
        html`star on ${targetName(`${type}/${targetId}`)}`,
        html`${badge("good", "accepted")} weight ${number(weight)}, ${starLink(id)}`,
      ],
    ),
    ...refused.map(
      ({ at, target, code, count }): Line => [
        at,
        html`star on ${targetName(target)}`,
        html`${badge("warn", "refused")} ${refusalWords(code)}${count === 1 ? "" : `, ${number(count)} times that day`}`,
      ],
    ),
    ...records.passes.map(
      ({ grantedAt, season, seasonId }): Line => [
        grantedAt,
        "premium pass granted",
        passLink(seasonId, season),
      ],
    ),
    ...records.credits.map(
      ({ at, points, reason }): Line => [at, `${signed(points)} XP booked`, reason],
    ),
    ...records.sessions.map((at): Line => [at, "signed in", "still open"]),
  ];
}

function passLink(seasonId: string, season: string): Html {
  return html`<a href="/ops/premium?season=${seasonId}">${season}</a>`;
}

function dayTable(days: readonly ListedActor[], now: number): Html {
  return table({
    caption: "Days on which it starred, newest first",
    rows: days,
    columns: [
      ["Day", "whole", ({ id }) => actorLink(id, id.slice(id.lastIndexOf("/") + 1))],
      ["Stars", "number", ({ version }) => version],
      ["Last star", "whole", ({ lastAt }) => ago(lastAt, now)],
    ],
    empty: "It has starred nothing yet.",
  });
}
