import { dayOf } from "../../../../actors/day.ts";
import { rulesOn } from "../../../../actors/rules.ts";
import { fullBreakdown, weigh } from "../../../../actors/weight.ts";
import { TerminalError } from "../../../errors.ts";
import { dayOfStarId } from "../../../journal/star-id.ts";
import { entityId } from "../../../ledger/entity-id.ts";
import { claimsOnSerials, findStarStory, type StarStory } from "../../../reads/console-star.ts";
import { traceIdOf } from "../../../tracing.ts";
import { actorLink, copyable, onExplorer, starLink } from "../links.ts";
import { ago, facts, type Html, html, instant, number, section } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { kindWords } from "../words.ts";
import { publicationSection } from "./star-publication.ts";
import { serialsSection, shownNfts } from "./star-serials.ts";
import { weightParts } from "./star-words.ts";

/** One star: why it weighs what it weighs, and where its message is. */
export function starPage(deps: PagesDeps): Page {
  return {
    path: "/stars/*",
    below: "/stars",
    async show({ rest, now }) {
      const id = rest.toLowerCase();
      const day = dayOfStarId(id);
      const star = day === null ? null : await findStarStory(deps.sql, id, day);
      if (star === null) throw new TerminalError("NOT_FOUND", "There is no star with this id.");
      const claims = await claimsOnSerials(deps.sql, star, shownNfts(star));
      const { explorer } = deps;
      const wallet = entityId(star.wallet);
      const body = html`<div class="lead"><p>${copyable(star.id)}</p>
<p>by wallet ${onExplorer(explorer, `account/${wallet}`, wallet)}, ${ago(star.at, now)}: weight ${number(star.weight)} of a voting power of ${number(star.votingPower)}</p></div>
${star.conflictsWith === null ? "" : html`<p class="notice warn">It counts nowhere: a recovery set it aside, because it breaks a rule beside star ${starLink(star.conflictsWith)}, which was first on the ledger.</p>`}
<div class="pair">
${section("Why this weight", sum(star))}
${section("Star", castFacts(star))}
</div>
${star.conflictsWith === null ? serialsSection(star, claims) : ""}
${publicationSection(star, { explorer, now })}`;
      return { title: `Star on ${kindWords(star.type)} ${star.targetId}`, body };
    },
  };
}

/** When and by whom it was decided, and with what. */
function castFacts(star: StarStory): Html {
  const wallet = entityId(star.wallet);
  const walletActor = actorLink(
    `wallet-day/${wallet}/${star.day}`,
    `wallet ${wallet} on ${star.day}`,
  );
  return facts([
    ["Cast", instant(star.at)],
    [
      "Vote of the day",
      star.conflictsWith === null
        ? `number ${star.slot} of ${star.limit}${star.season === null ? "" : `, premium in ${star.season}`}`
        : "none",
    ],
    [
      "Decided by",
      html`${walletActor}${star.type === "event" ? html` and ${eventActor(star)}` : ""}`,
    ],
    ["Holdings read", html`${instant(star.holdingsReadAt)}${staleness(star)}, at a mirror node`],
    [
      "Held then",
      `${number(star.heldA.length)} of collection A, ${number(star.heldB.length)} of collection B`,
    ],
    ["Voting power", powerText(star)],
    ["Trace", star.traceparent === null ? null : copyable(traceIdOf(star.traceparent))],
  ]);
}

function eventActor({ isForeverMint, targetId: event, day }: StarStory): Html {
  return isForeverMint
    ? actorLink(`forever-mint/${event}`, `forever mint ${event}`)
    : actorLink(`event-day/${event}/${day}`, `event ${event} on ${day}`);
}

/** With what it adds up from, save where a recovery could not say which NFTs there were. */
function powerText({ votingPower, heldA, heldB, holdingsReadAt, day }: StarStory): string {
  const holdings = { collectionA: heldA, collectionB: heldB, readAt: holdingsReadAt };
  const full = fullBreakdown(holdings, rulesOn(day));
  if (weigh(full) !== votingPower) return number(votingPower);
  return `${number(votingPower)} = ${full.base} + ${number(full.collectionA)} + ${full.collectionB}`;
}

function staleness({ at, holdingsReadAt }: StarStory): string {
  const ms = at - holdingsReadAt;
  return ms >= 0 ? ` (${number(ms)} ms before)` : "";
}

function sum(star: StarStory): Html {
  const { weight, heldA, heldB, conflictsWith } = star;
  const parts = weightParts({ ...star, heldA: heldA.length, heldB: heldB.length });
  return html`<table class="sum"><tbody>${parts.map(
    ([value, of]) =>
      html`<tr><td class="number">${number(value)}</td><td class="text">${of}</td></tr>`,
  )}</tbody><tfoot><tr><td class="number"><strong>${number(weight)}</strong></td><td>${conflictsWith === null ? "is its weight: the counter rose by it" : "would be its weight: it counts nowhere"}</td></tr></tfoot></table>
<p class="hint">${ruleOf(star)}</p>`;
}

function ruleOf({ type, isForeverMint, at }: StarStory): string {
  if (type !== "event")
    return "Tokens, collections and projects get the full voting power of each star.";
  return isForeverMint
    ? "On a forever mint each NFT counts once, for as long as its wallet holds it, and each wallet once."
    : `For an event each NFT counts once per UTC day (${dayOf(at)}), whichever wallet brings it.`;
}
