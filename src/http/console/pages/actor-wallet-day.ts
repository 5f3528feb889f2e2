import { voteLimit } from "../../../../actors/allowance.ts";
import { endOfDay, startOfDay } from "../../../../actors/day.ts";
import type { WalletDayContext } from "../../../../actors/wallet-day.ts";
import { counted } from "../../../counted.ts";
import { type ActorName, formatActorName } from "../../../hosting/actor-name.ts";
import { type ShownActor, showActor } from "../../../hosting/show-actor.ts";
import { type WalletDayStep, walkWalletDay } from "../../../journal/wallet-day-history.ts";
import { entityNumber } from "../../../ledger/entity-id.ts";
import { type ListedStar, listStars } from "../../../reads/list-stars.ts";
import { duration, instant, moment, number } from "../amounts.ts";
import { type RefusalGroup, refusalsOf } from "../decisions.ts";
import { onExplorer, starLink, wholeNumber } from "../links.ts";
import { badge, type Fact, facts, type Html, html, section, table } from "../markup.ts";
import type { PageRequest, PagesDeps } from "../page.ts";
import { kindWords, refusalWords, stateWords, targetName, weightWords } from "../words.ts";
import { type ActorView, afterLink, pastState } from "./actor-past.ts";

type WalletDayName = Extract<ActorName, { type: "wallet-day" }>;

/** More stars than any pass allows on a day. */
const STARS_MAX = 100;

/** A wallet's day in words: what is left of its votes, what it starred. */
export async function walletDayActor(
  deps: PagesDeps,
  name: WalletDayName,
  request: PageRequest,
): Promise<ActorView> {
  const { now } = request;
  const { sql, resting, explorer } = deps;
  const wallet = entityNumber(name.wallet);
  const at = startOfDay(name.day);
  const [shown, steps, stars, refusals] = await Promise.all([
    showActor(sql, resting, name),
    walkWalletDay(sql, name),
    listStars(sql, { wallet, between: [at, at], limit: STARS_MAX }),
    refusalsOf(deps.refusals, name.wallet),
  ]);
  const refused = refusals.filter(({ day }) => day === name.day);
  const starred = steps.map((step, index) => ({
    ...step,
    count: index + 1,
    star: stars.find((star) => star.id === step.starId),
  }));
  const used = shown.version;
  const isOver = now >= endOfDay(name.day);
  const free = voteLimit(name.day, null);
  // Under the pass in force now; of a day that is over, the limit of its last star.
  const limit = isOver ? (steps.at(-1)?.limit ?? free) : limitOf(shown);
  const context = html`<p class="votes"><strong>${used} of ${limit}</strong> votes used${
    isOver ? ", and the day is over" : html`, ${Math.max(0, limit - used)} left`
  }</p>
<progress value="${Math.min(used, limit)}" max="${limit}" aria-label="Votes used"></progress>
${facts([
  ["Wallet", onExplorer(explorer, `account/${name.wallet}`, name.wallet)],
  ["UTC day", name.day],
  ["Items starred", starredWords(steps)],
  [
    "Allowance",
    limit === free
      ? `free: ${free} votes a day`
      : `premium: ${limit} votes a day while the season is on`,
  ],
  [
    "Resets",
    isOver ? "it was over at 00:00 UTC" : `at 00:00 UTC, in ${duration(endOfDay(name.day) - now)}`,
  ],
  [
    "See also",
    html`<a href="/ops/feed?wallet=${name.wallet}">its decisions, live</a>, <a href="/ops/wallets/${name.wallet}">the wallet across its days</a>`,
  ],
])}`;
  return {
    title: `Wallet ${name.wallet} on ${name.day}`,
    state: shown.state,
    version: shown.version,
    source: SOURCE_WORDS[shown.source],
    context,
    more: null,
    history: history(name, starred, now),
    below: refused.length === 0 ? null : section("Recent refusals", refusalTable(refused, now)),
    past: past(name, steps, request),
  };
}

function refusalTable(refused: readonly RefusalGroup[], now: number): Html {
  return table({
    caption: "Refused stars of this wallet, alike ones counted, newest first",
    rows: refused,
    columns: [
      ["Why", "text title", ({ code }) => refusalWords(code)],
      ["Item", "plain", ({ target }) => html`star on ${targetName(target)}`],
      ["Times", "number", ({ count }) => count],
      ["Last", "whole", ({ at }) => moment(at, now, true)],
    ],
  });
}

const SOURCE_WORDS: Readonly<Record<ShownActor["source"], string>> = {
  memory: "live: in this process' memory",
  snapshot: "live: restored from its snapshot in Redis",
  journal: "stored: read from the journal",
};

function limitOf({ context }: ShownActor): number {
  return (context as WalletDayContext).limit;
}

/** `14 events, 2 tokens`. */
function starredWords(steps: readonly WalletDayStep[]): string {
  const kinds = steps.map(({ target }) => target.split("/")[0] ?? "");
  const counts = [...new Set(kinds)].map((kind) => {
    return counted(kinds.filter((other) => other === kind).length, kindWords(kind));
  });
  return counts.length === 0 ? "none yet" : counts.join(", ");
}

interface Starred extends WalletDayStep {
  readonly count: number;
  readonly star: ListedStar | undefined;
}

function history(name: WalletDayName, starred: readonly Starred[], now: number): Html {
  return html`${table({
    caption: "Accepted stars of the day, in order",
    rows: starred.toReversed(),
    columns: [
      ["#", "number", ({ count }) => count],
      ["When", "plain", ({ at }) => moment(at, now, true)],
      ["Event", "plain title", ({ target }) => html`star on ${targetName(target)}`],
      ["Decision", "plain", () => badge("good", "accepted")],
      ["Why this weight", "text", ({ star }) => (star === undefined ? "" : weightWords(star))],
      ["Weight", "number", ({ star }) => (star === undefined ? "" : number(star.weight))],
      [
        "State after it",
        "whole",
        ({ count, state, limit }) =>
          afterLink(formatActorName(name), count, `${state.value}, ${count} of ${limit}`),
      ],
      ["Star", "whole", ({ starId }) => starLink(starId)],
    ],
    empty: "No star yet. The first one shows here as soon as it is accepted.",
  })}
<p class="hint">A refused star changes nothing and is not in the journal. The newest refusals are on the <a href="/ops/feed?wallet=${name.wallet}">live page</a>.</p>`;
}

function past(
  name: WalletDayName,
  steps: readonly WalletDayStep[],
  { query }: PageRequest,
): ActorView["past"] {
  const asked = wholeNumber(query, "at");
  if (asked === undefined) return null;
  const step = Math.min(asked, steps.length);
  const taken = steps.slice(0, step);
  const last = taken.at(-1);
  const state = last?.state.value ?? "open";
  const content = html`<p>${badge("plain", state)} ${stateWords(state)} · ${last === undefined ? "no vote used" : `${step} of ${last.limit} votes used`}</p>
${last === undefined ? "" : facts(changesBy(last, { step, before: taken.at(-2) }))}`;
  return {
    state,
    section: pastState(formatActorName(name), { step, last: steps.length }, content),
  };
}

function changesBy(
  { target, at, limit, state }: WalletDayStep,
  { step, before }: { readonly step: number; readonly before: WalletDayStep | undefined },
): readonly Fact[] {
  const from = before?.state.value ?? "open";
  return [
    ["Decided", instant(at)],
    ["Added", targetName(target)],
    ["Votes used", `${step - 1} → ${step}`],
    ["State", from === state.value ? `${from}, as before` : `${from} → ${state.value}`],
    [
      "Votes a day",
      before === undefined || before.limit === limit ? null : `${before.limit} → ${limit}`,
    ],
  ];
}
