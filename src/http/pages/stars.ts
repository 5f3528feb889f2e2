import { DAY_MS, type Day, dayOf, isDay, startOfDay } from "../../../actors/day.ts";
import { TerminalError } from "../../errors.ts";
import { dayOfStarId } from "../../journal/star-id.ts";
import { entityNumber } from "../../ledger/entity-id.ts";
import { itemNames } from "../../reads/directory-items.ts";
import {
  findReceipt,
  type Publication,
  readStarMessage,
  receiptsOfDay,
  type StarReceipt,
} from "../../reads/receipts.ts";
import { number } from "../console/amounts.ts";
import { type Content, code, facts, type Html, html, section, table } from "../console/markup.ts";
import { itemLink, nameIn } from "./items.ts";
import { found, type Page, type Reading } from "./page.ts";
import { dayText, time } from "./text.ts";

/** Where a star's message is: one step after the other. */
const STEPS: Readonly<Record<Publication["state"], string>> = {
  stored: "Stored",
  submitted: "Sent",
  published: "On the ledger",
};

/** `/stars`: the visitor's stars, day by day. */
export function starsPage({ sql }: Reading): Page {
  return {
    path: "/stars",
    nav: "My stars",
    async show({ query, now, visitor }) {
      const today = dayOf(now);
      const day = query.get("day") || today;
      if (!isDay(day)) {
        throw new TerminalError("INVALID_PARAMETER", "The day must be a date such as 2026-11-20.");
      }
      if (visitor === null) {
        return {
          title: "My stars",
          body: html`<h1>My stars</h1><p class="empty">Sign in to see the stars of your wallet.</p>`,
        };
      }
      const stars = await receiptsOfDay(sql, entityNumber(visitor.wallet), day);
      const names = await itemNames(
        sql,
        stars.map(({ target }) => target),
      );
      return {
        title: "My stars",
        body: html`<h1>My stars</h1>
<div class="stack" data-stars>${dayLinks(day, today)}
<section class="card">${table({
          caption: `Stars of ${day}`,
          rows: stars,
          columns: [
            ["Item", "text title", ({ target }) => itemLink(target, nameIn(names, target))],
            ["Given", "whole", ({ at }) => time(at)],
            ["Weight", "number", ({ weight }) => weight],
            ["Receipt", "whole", receiptLink],
          ],
          empty: "No star was given on this day.",
        })}</section></div>`,
      };
    },
  };
}

function receiptLink({ id, publication }: StarReceipt): Content {
  return html`<a href="/stars/${id}">${STEPS[publication.state]}<span class="unseen">: receipt</span></a>`;
}

function dayLinks(day: Day, today: Day): Content {
  const at = startOfDay(day);
  const link = (to: number, word: string, rel: string): Content =>
    html`<a class="button" rel="${rel}" href="/stars?day=${dayOf(to)}">${word}</a>`;
  return html`<nav class="pager" aria-label="Days">${isDay(dayOf(at - DAY_MS)) ? link(at - DAY_MS, "← Day before", "prev") : ""}<span>${day === today ? "Today, " : ""}${dayText(at)} by UTC</span>${day >= today ? "" : link(at + DAY_MS, "Day after →", "next")}</nav>`;
}

/** `/stars/{id}`: a receipt. It is public, as the ledger is. */
export function starPage({ sql, explorerUrl, mirrorNodeUrl }: Reading): Page {
  return {
    path: "/stars/:id",
    async show({ id: given }) {
      const id = given.toLowerCase();
      const day = dayOfStarId(id);
      const star = found(day === null ? null : await findReceipt(sql, id, day), "star");
      const [names, message] = await Promise.all([
        itemNames(sql, [star.target]),
        readStarMessage(sql, id),
      ]);
      const named = nameIn(names, star.target);
      return {
        title: `Star for ${named.name}`,
        body: html`<h1>Star for ${itemLink(star.target, named)}</h1>
${journey(star)}
${section("What it is", starFacts(star))}
${section("On the ledger", ledgerFacts(star.publication, { explorerUrl, mirrorNodeUrl }))}
${section("The message, byte for byte", proof(star, message ?? "", mirrorNodeUrl))}`,
        ...(mirrorNodeUrl !== null && { connect: [new URL(mirrorNodeUrl).origin] }),
      };
    },
  };
}

/** Stored → sent → on the ledger; the page's script moves the mark. */
function journey({ id, publication }: StarReceipt): Html {
  const steps = Object.entries(STEPS);
  const reached = steps.findIndex(([state]) => state === publication.state);
  return html`<ol class="journey" data-journey="${id}" data-state="${publication.state}">${steps.map(
    ([state, word], index) =>
      html`<li data-step="${state}"${index <= reached ? html` class="reached"` : ""}${index === reached ? html` aria-current="step"` : ""}>${word}</li>`,
  )}</ol>`;
}

function starFacts(star: StarReceipt): Html {
  const { breakdown, holdings } = star;
  return facts([
    ["Wallet", code(star.wallet)],
    ["Given", time(star.at)],
    [
      "Weight",
      `${number(star.weight)}: base ${breakdown.base}, A ${breakdown.collectionA}, B ${breakdown.collectionB}`,
    ],
    ["Voting power", number(star.votingPower)],
    [
      "Held then",
      `${number(holdings.collectionA)} of collection A, ${number(holdings.collectionB)} of collection B`,
    ],
  ]);
}

/** Each value is known sooner or later; the script fills in what is still to come. */
function ledgerFacts(
  publication: Publication,
  { explorerUrl, mirrorNodeUrl }: Pick<Reading, "explorerUrl" | "mirrorNodeUrl">,
): Html {
  const { topicId, sequenceNumber, transactionId, consensusTimestamp, runningHash } = publication;
  const shown = (field: keyof Publication, value: Content): Content =>
    html`<span class="code" data-publication="${field}">${value ?? "not yet"}</span>`;
  return html`${facts([
    ["Topic", shown("topicId", topicId)],
    ["Number", shown("sequenceNumber", sequenceNumber === null ? null : String(sequenceNumber))],
    ["Transaction", shown("transactionId", transactionId)],
    ["Consensus at", shown("consensusTimestamp", consensusTimestamp)],
    ["Running hash", shown("runningHash", runningHash)],
  ])}
${mirrorLink(mirrorNodeUrl, publication)}
${explorerLink(explorerUrl, publication)}`;
}

/** Its address is known with the place on the topic; until then the script keeps it hidden. */
function mirrorLink(mirrorNodeUrl: string | null, publication: Publication): Content {
  if (mirrorNodeUrl === null) return "";
  const { topicId, sequenceNumber } = publication;
  const topics = `${mirrorNodeUrl}/api/v1/topics/`;
  const url = `${topics}${topicId ?? ""}/messages/${sequenceNumber ?? ""}`;
  return html`<p class="explorer"><a data-mirror-row="${topics}" href="${url}"${sequenceNumber === null ? html` hidden` : ""} rel="noopener noreferrer external">See the mirror node’s row</a></p>`;
}

/** Its address is known with the consensus timestamp; until then the script keeps it hidden. */
function explorerLink(explorerUrl: string | null, { consensusTimestamp }: Publication): Content {
  if (explorerUrl === null) return "";
  const url = `${explorerUrl}/transaction/${consensusTimestamp ?? ""}`;
  return html`<p class="explorer"><a data-explorer="${explorerUrl}" href="${url}"${consensusTimestamp === null ? html` hidden` : ""} rel="noopener noreferrer external">See it in the explorer</a></p>`;
}

function proof(star: StarReceipt, message: string, mirrorNodeUrl: string | null): Html {
  const text = html`<pre class="message" data-message>${message}</pre>`;
  if (mirrorNodeUrl === null) return text;
  return html`${text}
<p class="lead">Your browser can ask the mirror node for this row itself and compare both.</p>
<p><button type="button" data-compare="${star.id}" data-mirror="${mirrorNodeUrl}" disabled>Compare with the ledger</button></p>
<div class="outcome" role="status" data-outcome></div>`;
}
