import type { StarAttempt, StarStory } from "../../../reads/console-star.ts";
import { copyable, onExplorer } from "../links.ts";
import {
  badge,
  type Content,
  duration,
  facts,
  type Html,
  html,
  instant,
  moment,
  number,
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

function receipt(star: StarStory, explorer: string | null): [string, Content][] {
  const { topicId, transactionId, sequenceNumber, consensusTimestamp, runningHash } = star;
  const known: [string, Content | null][] = [
    ["Topic", topicId === null ? null : onExplorer(explorer, `topic/${topicId}`, topicId)],
    ["Sequence number", sequenceNumber === null ? null : number(sequenceNumber)],
    ["Transaction", transactionId === null ? null : copyable(transactionId)],
    [
      "Consensus",
      consensusTimestamp === null
        ? null
        : html`${instant(Number(consensusTimestamp) * 1_000)}<br>${copyable(consensusTimestamp)}`,
    ],
    ["Running hash", runningHash === null ? null : copyable(runningHash)],
    [
      "Seen at a mirror node",
      star.publishedAt === null
        ? null
        : html`${instant(star.publishedAt)}, ${duration(star.publishedAt - star.at)} after the star`,
    ],
    ["Tries", star.tries === 0 ? null : number(star.tries)],
    ["Last trouble", star.lastError === null ? null : troubleWords(star.lastError)],
  ];
  const shown = known.filter((pair): pair is [string, Content] => pair[1] !== null);
  return shown.length === 0
    ? [["So far", "not handed to the ledger yet; a worker does that by itself"]]
    : shown;
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
    columns: [
      { label: "#", isNumber: true },
      { label: "Transaction", isWhole: true, isTitle: true },
      "Reserved",
      "Sent",
      { label: "Times sent", isNumber: true },
      "Receipt",
      { label: "What became of it", isText: true },
    ],
    rows: all.map((attempt) => [
      number(attempt.attempt),
      html`<span class="code">${attempt.transactionId}</span>`,
      moment(attempt.reservedAt, now),
      attempt.sentAt === null ? "–" : moment(attempt.sentAt, now),
      number(attempt.sends),
      attempt.receiptStatus === null
        ? "–"
        : html`<span class="code">${attempt.receiptStatus}</span>`,
      attempt.outcome === null
        ? "open"
        : html`${outcomeWords(attempt.outcome)}${attempt.evidence === null ? "" : html` <span class="quiet">(${attempt.evidence})</span>`}`,
    ]),
    empty: "None yet: the star waits for its turn.",
  });
}
