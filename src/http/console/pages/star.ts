import { dayOf } from "../../../../actors/day.ts";
import { rulesOn } from "../../../../actors/rules.ts";
import { fullBreakdown, weigh } from "../../../../actors/weight.ts";
import { TerminalError } from "../../../errors.ts";
import { dayOfStarId } from "../../../journal/star-id.ts";
import { entityId } from "../../../ledger/entity-id.ts";
import { msOf } from "../../../ledger/transaction-id.ts";
import {
  claimsOnSerials,
  findStarStory,
  type StarAttempt,
  type StarStory,
} from "../../../reads/console-star.ts";
import { traceIdOf } from "../../../tracing.ts";
import { ago, duration, instant, moment, number } from "../amounts.ts";
import { actorLink, copyable, onExplorer, starLink } from "../links.ts";
import {
  badge,
  type Content,
  code,
  type Fact,
  facts,
  type Html,
  html,
  quiet,
  section,
  table,
} from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { kindWords, outcomeWords, publicationWords, troubleWords, weightParts } from "../words.ts";
import { serialsSection, shownNfts } from "./star-serials.ts";

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

/** The message as it stands on the ledger, its receipt, and every attempt to get it there. */
export function publicationSection(
  star: StarStory,
  { explorer, now }: { readonly explorer: string | null; readonly now: number },
): Html {
  return html`<div class="pair">
${section(
  "Message",
  html`<pre class="message" tabindex="0" role="region" aria-label="The message, exactly as it is published">${pretty(star.message)}</pre>
<p class="hint">Published as one line, ${number(Buffer.byteLength(star.message))} bytes; broken here to be read.</p>`,
)}
${section("Receipt", html`${facts(receipt(star, explorer))}${explorerLink(star, explorer)}`, badge(star.state === "published" ? "good" : "warn", publicationWords(star.state)))}
</div>
${section("Attempts to publish it", attempts(star.attempts, now))}`;
}

/** Broken into lines for reading; what is published is the text itself. */
function pretty(message: string): string {
  try {
    return JSON.stringify(JSON.parse(message), null, 2);
  } catch {
    return message;
  }
}

function receipt(star: StarStory, explorer: string | null): readonly Fact[] {
  const { topicId, transactionId, sequenceNumber, consensusTimestamp, runningHash } = star;
  const { at, publishedAt } = star;
  const known: readonly Fact[] = [
    ["Topic", topicId && onExplorer(explorer, `topic/${topicId}`, topicId)],
    ["Sequence number", sequenceNumber === null ? null : number(sequenceNumber)],
    ["Transaction", transactionId && copyable(transactionId)],
    [
      "Consensus",
      consensusTimestamp &&
        html`${instant(msOf(consensusTimestamp))}<br>${copyable(consensusTimestamp)}`,
    ],
    ["Running hash", runningHash && copyable(runningHash)],
    [
      "Seen at a mirror node",
      publishedAt && html`${instant(publishedAt)}, ${duration(publishedAt - at)} after the star`,
    ],
    ["Tries", star.tries === 0 ? null : number(star.tries)],
    ["Last trouble", star.lastError && troubleWords(star.lastError)],
  ];
  return known.every(([, content]) => content === null)
    ? [["So far", "not handed to the ledger yet; a worker does that by itself"]]
    : known;
}

function explorerLink({ consensusTimestamp }: StarStory, explorer: string | null): Content {
  if (consensusTimestamp === null) return null;
  if (explorer === null) {
    return html`<p class="hint">This ledger has no explorer (EXPLORER_URL).</p>`;
  }
  const url = `${explorer}/transaction/${consensusTimestamp}`;
  return html`<p><a class="button" href="${url}" rel="noopener noreferrer external">See it on the explorer</a></p>`;
}

function attempts(all: readonly StarAttempt[], now: number): Html {
  return table({
    caption: "Transaction ids of this star",
    rows: all,
    columns: [
      ["#", "number", ({ attempt }) => attempt],
      ["Transaction", "whole title", ({ transactionId }) => code(transactionId)],
      ["Reserved", "plain", ({ reservedAt }) => moment(reservedAt, now)],
      [
        "Sent",
        "plain",
        ({ sentAt, sends }) =>
          sentAt &&
          html`${moment(sentAt, now)}${sends > 1 ? quiet(` ${number(sends)} times`) : ""}`,
      ],
      ["Receipt", "plain", ({ receiptStatus }) => receiptStatus && code(receiptStatus)],
      ["What became of it", "text", outcome],
    ],
    empty: "None yet: the star waits for its turn.",
  });
}

function outcome({ outcome, evidence }: StarAttempt): Content {
  if (outcome === null) return "open";
  const why = evidence === null ? "" : html` ${quiet(`(${evidence})`)}`;
  return html`${outcomeWords(outcome)}${why}`;
}
