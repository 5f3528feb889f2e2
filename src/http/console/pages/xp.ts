import { withInstants } from "../../../../actors/day.ts";
import { creditXp } from "../../../catalogue/credit-xp.ts";
import { badField } from "../../../errors.ts";
import { lastCredits } from "../../../reads/console-seasons.ts";
import type { Sql } from "../../../store/postgres.ts";
import { ago, number, signed } from "../amounts.ts";
import { fieldsForm, filledIn, WALLET, walletIn } from "../forms.ts";
import { walletLink } from "../links.ts";
import { html, section, table } from "../markup.ts";
import type { Action, Page, PagesDeps } from "../page.ts";

const CREDIT = "/xp/credit";
const FIELDS = [
  WALLET,
  {
    name: "points",
    label: "Points",
    hint: "A whole number; below 0 it takes points back.",
    maxLength: 10,
  },
  {
    name: "reason",
    label: "Reason",
    hint: "It stands in the list of credits for good.",
    maxLength: 300,
  },
  {
    name: "id",
    label: "Reference",
    hint: "Any text that names this credit alone, such as quest-7/0.0.1001. Sent twice with one reference, it is booked once.",
    maxLength: 255,
  },
];
const SHOWN = 50;
/** Characters shown of a reference; its title has all of them. */
const REFERENCE_SHOWN = 40;

/** Points of the leaderboard that stars do not bring. */
export function xpPage({ sql }: PagesDeps): Page {
  return {
    path: "/xp",
    nav: ["Manage", "XP"],
    async show(request) {
      const list = table({
        caption: "The newest credits",
        rows: await lastCredits(sql, SHOWN),
        columns: [
          ["Booked", "whole", ({ at }) => ago(at, request.now)],
          ["Wallet", "whole title", ({ wallet }) => walletLink(wallet)],
          ["Points", "number", ({ points }) => signed(points)],
          ["Reason", "text", ({ reason }) => reason],
          [
            "Reference",
            "text",
            ({ id }) => html`<span class="code" title="${id}">${shortened(id)}</span>`,
          ],
        ],
        empty: "No credit was booked yet. Book the first one above.",
      });
      const body = html`<p class="lead">Stars earn points by themselves. Points from elsewhere, and corrections, are credited here; a credit is never changed or removed.</p>
${section("Book a credit", fieldsForm(request, { path: CREDIT, fields: FIELDS, word: "Book the credit" }))}
${section("Newest credits", list)}`;
      return { title: "XP credits", body };
    },
    actions: [crediting(sql)],
  };
}

function crediting(sql: Sql): Action {
  const read = (form: URLSearchParams) => {
    const wallet = walletIn(form);
    const points = filledIn(form, "points", { what: "A number of points" });
    if (!/^[+-]?\d{1,9}$/.test(points) || Number(points) === 0) {
      throw badField("points", "Points are a whole number other than 0, of up to nine digits");
    }
    return {
      wallet,
      points: Number(points),
      reason: filledIn(form, "reason", { what: "A reason" }),
      id: filledIn(form, "id", { what: "A reference", max: 255 }),
    };
  };
  return {
    path: CREDIT,
    role: "admin",
    subject: (form) => read(form).wallet,
    reason: (form) => read(form).reason,
    async run({ form }) {
      const booked = await creditXp(sql, read(form));
      const { wallet, points, seasonId } = booked;
      return {
        notice: `${number(Math.abs(points))} points ${points > 0 ? "to" : "from"} ${wallet} are booked, ${seasonId === null ? "while no season is on: the leaderboard does not show them" : "in the season that is on"}.`,
        goTo: "/xp",
        details: withInstants(booked),
      };
    },
  };
}

function shortened(reference: string): string {
  return reference.length > REFERENCE_SHOWN ? `${reference.slice(0, REFERENCE_SHOWN)}…` : reference;
}
