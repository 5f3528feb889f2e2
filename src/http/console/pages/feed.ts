import { dayOf } from "../../../../actors/day.ts";
import { TerminalError } from "../../../errors.ts";
import { isEntityId } from "../../../ledger/entity-id.ts";
import { ago, number } from "../amounts.ts";
import type { Decision, DecisionFilter } from "../decisions.ts";
import { textOf } from "../links.ts";
import { stream } from "../live.ts";
import { badge, type Html, html, section } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { targetName } from "../words.ts";

/** Decisions as they are made, accepted and refused. */
export function feedPage({ feed }: PagesDeps): Page {
  return {
    path: "/feed",
    nav: ["Watch", "Live"],
    async show({ query, now }) {
      const filter = readFilter(query);
      const { wallet = "", event = "" } = filter;
      const isAll = wallet === "" && event === "";
      const decisions = await feed.newest(filter, now);
      const newest = decisions[0]?.at ?? now;
      const asked = new URLSearchParams({ wallet, event, since: String(newest) });
      const body = html`<form class="row" method="get" action="/ops/feed">
<div class="grow"><label for="wallet">Wallet</label><input id="wallet" name="wallet" value="${wallet}" placeholder="all wallets, or one such as 0.0.1001" inputmode="decimal"></div>
<div class="grow"><label for="event">Event</label><input id="event" name="event" value="${event}" placeholder="all events, or one's id"></div>
<button>Filter</button>${isAll ? "" : html`<a class="button" href="/ops/feed">Show all</a>`}
</form>
${section(
  "Newest of the last 24 hours",
  html`<ol class="feed" data-live-feed="/ops/live/decisions?${asked}">${decisions.map((decision) => entry(decision, now))}</ol>
${decisions.length === 0 ? html`<p class="empty" data-empty>Nothing${isAll ? "" : " that fits"} was decided in the last 24 hours. Leave this page open: decisions show here as they are made.</p>` : ""}`,
  html`<span class="hint" data-live-state role="status"><noscript>As of when this page was loaded</noscript></span>`,
)}
<p class="hint">Accepted stars come from the journal: all of them are here. Only the newest refusals are kept, so do not count them.</p>`;
      return { title: "Live decisions", body };
    },
  };
}

/** Looks back this far at each beat: a star may be stored some seconds after its instant. */
const OVERLAP_MS = 5_000;
/** People read no more in a second; of the rest only the number is sent. */
const BEAT_MAX = 50;
/** What one stream remembers of what it sent, so that nothing is sent twice. */
const REMEMBERED_MS = 30_000;

/**
 * The same as a stream. Its events carry their instant as id: a page that comes back with it gets
 * what was decided since, and five seconds more; it knows by the decisions' own ids what it has.
 */
export function liveDecisionsPage({ feed, clock, isDraining }: PagesDeps): Page {
  return {
    path: "/live/decisions",
    isQuiet: true,
    async show(request) {
      const { query, context } = request;
      const filter = readFilter(query);
      const sent = new Map<string, number>();
      let isFirst = true;
      let from = resumeAt(context.req.header("last-event-id") ?? query.get("since")) ?? clock.now();
      return stream(request, isDraining, async (out) => {
        const at = clock.now();
        const found = await feed.since(filter, from - OVERLAP_MS, at);
        const fresh = found.filter(({ id }) => !sent.has(id));
        for (const { id } of fresh) sent.set(id, at);
        // What came before the first beat is sent whole; later, more than this is not readable.
        const shown = isFirst ? fresh : fresh.slice(-BEAT_MAX);
        const leftOut = fresh.length - shown.length;
        if (leftOut > 0) await out.writeSSE({ event: "left-out", data: String(leftOut) });
        for (const decision of shown) {
          const data = { ...decision, html: String(await entry(decision, at)) };
          const id = String(decision.at);
          await out.writeSSE({ event: "decision", id, data: JSON.stringify(data) });
        }
        isFirst = false;
        from = at;
        for (const [id, sentAt] of sent) if (at - sentAt > REMEMBERED_MS) sent.delete(id);
      });
    },
  };
}

function resumeAt(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function readFilter(query: URLSearchParams): DecisionFilter {
  const wallet = textOf(query, "wallet");
  const event = textOf(query, "event");
  if (wallet !== "" && !isEntityId(wallet)) {
    throw new TerminalError("INVALID_REQUEST", "A wallet is an account such as 0.0.1001.");
  }
  return { wallet: wallet || undefined, event: event || undefined };
}

function entry(decision: Decision, now: number): Html {
  const { id, at, isAccepted, wallet, target, why, weight } = decision;
  const what = targetName(target);
  return html`<li data-id="${id}" data-at="${at}">${badge(isAccepted ? "good" : "warn", isAccepted ? "accepted" : "refused")}
<span class="what"><a href="/ops/actors/wallet-day/${wallet}/${dayOf(at)}">${wallet}</a> on ${
    isAccepted ? html`<a href="/ops/stars/${id}">${what}</a>` : what
  }</span>
<span class="why hint">${weight === null ? "" : html`<strong>${number(weight)}</strong> = `}${why}</span>
${ago(at, now)}</li>`;
}
