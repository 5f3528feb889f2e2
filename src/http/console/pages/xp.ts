import { creditXp } from "../../../catalogue/credit-xp.ts";
import { isEntityId } from "../../../ledger/entity-id.ts";
import { type ListedCredit, lastCredits } from "../../../reads/console-seasons.ts";
import type { Sql } from "../../../store/postgres.ts";
import { actionForm, fieldOf, filledIn, flawIn } from "../forms.ts";
import { ago, type Html, html, number, section, table } from "../markup.ts";
import type { Action, Page, PageRequest } from "../page.ts";

const CREDIT = "/xp/credit";
const SHOWN = 50;

/** Points of the leaderboard that stars do not bring. */
export function xpPage({ sql }: { readonly sql: Sql }): Page {
  return {
    path: "/xp",
    nav: "XP",
    async show(request) {
      return { title: "XP credits", body: body(request, await lastCredits(sql, SHOWN)) };
    },
    actions: [crediting(sql)],
  };
}

function crediting(sql: Sql): Action {
  const read = (form: URLSearchParams) => {
    const wallet = filledIn(form, "wallet", { what: "A wallet" });
    if (!isEntityId(wallet)) throw flawIn("wallet", `${wallet} is no account id such as 0.0.1001`);
    const points = filledIn(form, "points", { what: "A number of points" });
    if (!/^[+-]?\d{1,9}$/.test(points) || Number(points) === 0) {
      throw flawIn("points", "Points are a whole number other than 0, of up to nine digits");
    }
    return {
      wallet,
      points: Number(points),
      reason: filledIn(form, "reason", { what: "A reason" }),
      id: filledIn(form, "id", { what: "An id", max: 255 }),
    };
  };
  return {
    path: CREDIT,
    name: "xp.credit",
    subject: (form) => read(form).wallet,
    async run({ form }) {
      const booked = await creditXp(sql, read(form));
      const { wallet, points, seasonId } = booked;
      return {
        notice: `${number(points)} points ${points > 0 ? "to" : "from"} ${wallet} are booked, ${seasonId === null ? "while no season is on: the leaderboard does not show them" : "in the season that is on"}.`,
        goTo: "/xp",
        details: { ...booked },
      };
    },
  };
}

function body(request: PageRequest, credits: readonly ListedCredit[]): Html {
  const form = actionForm(
    request,
    { path: CREDIT },
    html`${fieldOf(request, CREDIT, { name: "wallet", label: "Wallet", hint: "An account id, such as 0.0.1001" })}
${fieldOf(request, CREDIT, { name: "points", label: "Points", hint: "A whole number. Below 0, points of the season that is on are taken back." })}
${fieldOf(request, CREDIT, { name: "reason", label: "Reason", hint: "It stands in the ledger of points.", maxLength: 300 })}
${fieldOf(request, CREDIT, {
  name: "id",
  label: "Your name for this credit",
  hint: "It is booked once by this name, however often it is sent.",
  maxLength: 255,
})}
<button class="primary">Book the credit</button>`,
  );
  return html`<p class="lead">Stars earn points by themselves. What comes from elsewhere, and corrections, are booked here; a credit is never changed or removed.</p>
${section("Book a credit", form)}
${section(
  "Newest credits",
  table({
    caption: "The newest credits",
    columns: [
      { label: "Booked", isWhole: true },
      { label: "Wallet", isWhole: true },
      { label: "Points", isNumber: true },
      { label: "Reason", isText: true },
      { label: "Id", isWhole: true },
    ],
    rows: credits.map(({ id, wallet, points, reason, at }) => [
      ago(at, request.now),
      html`<span class="code">${wallet}</span>`,
      number(points),
      reason,
      html`<span class="code">${id}</span>`,
    ]),
    empty: "No credit was booked yet.",
  }),
)}`;
}
