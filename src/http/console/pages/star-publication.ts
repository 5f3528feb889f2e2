import type { StarAttempt, StarStory } from "../../../reads/console-star.ts";
import { copyable, onExplorer } from "../links.ts";
import {
  badge,
  type Content,
  code,
  duration,
  type Fact,
  facts,
  type Html,
  html,
  instant,
  moment,
  number,
  quiet,
  section,
  table,
} from "../markup.ts";
import { troubleWords } from "../publishing-words.ts";
import { outcomeWords, publicationWords } from "../words.ts";

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
        html`${instant(Number(consensusTimestamp) * 1_000)}<br>${copyable(consensusTimestamp)}`,
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
