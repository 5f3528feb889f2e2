import { dayOfStarId } from "../../journal/star-id.ts";
import { itemNames } from "../../reads/directory-items.ts";
import {
  findReceipt,
  type Publication,
  readStarMessage,
  type StarReceipt,
} from "../../reads/receipts.ts";
import { type Content, code, facts, type Html, html, number, section } from "../console/markup.ts";
import { itemLink, nameIn } from "./items.ts";
import type { Page } from "./page.ts";
import { found, type Reading } from "./reading.ts";
import { time } from "./text.ts";

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

const STEPS: readonly (readonly [Publication["state"], string])[] = [
  ["stored", "Stored"],
  ["submitted", "Sent"],
  ["published", "On the ledger"],
];

/** Stored → sent → on the ledger; the page's script moves the mark. */
function journey({ id, publication }: StarReceipt): Html {
  const reached = STEPS.findIndex(([state]) => state === publication.state);
  return html`<ol class="journey" data-journey="${id}" data-state="${publication.state}">${STEPS.map(
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
