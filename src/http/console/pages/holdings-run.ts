import { TerminalError } from "../../../errors.ts";
import { walletOf } from "../../../journal/star-record.ts";
import type { LedgerNetwork } from "../../../ledger/entity-id.ts";
import {
  type CheckedMintRow,
  findCheck,
  type ListedCheck,
  mintsOfCheck,
  type ReleasedNft,
  releasesOfCheck,
} from "../../../reads/console-holdings.ts";
import type { Sql } from "../../../store/postgres.ts";
import { UUID } from "../forms.ts";
import { actorLink, onLedger, starLink } from "../links.ts";
import { ago, badge, facts, type Html, html, instant, number, section, table } from "../markup.ts";
import type { Page } from "../page.ts";
import { checkBadge } from "./holdings.ts";

export interface HoldingsRunDeps {
  readonly sql: Sql;
  readonly network: LedgerNetwork;
}

/** Of a run: a person reads no more; the rest is in `holdings-check`'s report. */
const RELEASES_SHOWN = 200;
const DEFERRED_SHOWN = 200;

/** One run of the check: what it removed on which evidence, and what it left open. */
export function holdingsRunPage(deps: HoldingsRunDeps): Page {
  return {
    path: "/holdings/runs/*",
    below: "/holdings",
    async show({ rest, now }) {
      const check = UUID.test(rest) ? await findCheck(deps.sql, rest) : null;
      if (check === null) throw new TerminalError("NOT_FOUND", "There is no run with this id.");
      const [mints, releases] = await Promise.all([
        mintsOfCheck(deps.sql, check.id),
        releasesOfCheck(deps.sql, check.id, RELEASES_SHOWN),
      ]);
      return {
        title: `Holdings check of ${check.day}`,
        body: html`${summary(check, now)}${byMint(mints)}${removed(releases, { check, network: deps.network })}${leftOpen(mints)}`,
      };
    },
  };
}

function summary(check: ListedCheck, now: number): Html {
  const { kind, startedAt, finishedAt, passes, nextTryAt, state } = check;
  return section(
    kind === "manual" ? "Run by hand" : "Daily run",
    facts([
      ["State", checkBadge(check)],
      ["Started", instant(startedAt)],
      ["Ended", finishedAt === null ? "not yet" : instant(finishedAt)],
      [
        "Rounds",
        html`${number(passes)} <span class="quiet">each tries again what was left open</span>`,
      ],
      ...(state === "running" && nextTryAt > now
        ? ([["Goes on", ago(nextTryAt, now)]] as const)
        : []),
      ["NFTs that stopped counting", number(check.removed)],
      ["NFTs found held", number(check.kept)],
      ["Parts left open", number(check.deferred)],
    ]),
  );
}

function byMint(mints: readonly CheckedMintRow[]): Html {
  return section(
    "By forever mint",
    table({
      caption: "What the run did, by mint",
      columns: [
        { label: "Forever mint", isWhole: true },
        { label: "Removed", isNumber: true },
        { label: "Weight", isNumber: true },
        { label: "Kept", isNumber: true },
        { label: "Left open", isNumber: true },
      ],
      rows: mints.map(({ event, removed: count, weight, kept, deferred }) => [
        actorLink(`forever-mint/${event}`, event),
        number(count),
        weight === 0 ? "0" : `−${number(weight)}`,
        number(kept),
        number(deferred.length),
      ]),
      empty: "No forever mint was looked at.",
    }),
  );
}

function removed(
  releases: readonly ReleasedNft[],
  { check, network }: { readonly check: ListedCheck; readonly network: LedgerNetwork },
): Html | string {
  if (releases.length === 0) return "";
  const list = table({
    caption: "NFTs that stopped counting, with the evidence",
    columns: [
      { label: "Mint", isWhole: true },
      { label: "NFT", isWhole: true, isTitle: true },
      { label: "Counted for", isWhole: true },
      { label: "By star", isWhole: true },
      { label: "Weight", isNumber: true },
      { label: "The ledger said", isText: true },
      { label: "Seen", isWhole: true },
    ],
    rows: releases.map((release) => {
      const wallet = walletOf(release.wallet);
      return [
        release.event,
        `${release.collection} ${number(release.serial)}`,
        onLedger(network, `account/${wallet}`, wallet),
        starLink(release.starId),
        release.weight === 0 ? "0" : `−${number(release.weight)}`,
        evidence(release),
        html`<span title="in the list of the whole collection ${new Date(release.listedAt).toISOString()}">${instant(release.readAt)}</span>`,
      ];
    }),
  });
  const hidden = check.removed - releases.length;
  return section(
    "Removed",
    html`${list}${hidden > 0 ? html`<p class="hint">And ${number(hidden)} more.</p>` : ""}`,
    html`<span class="hint">each seen twice: in the whole collection's list, and by itself</span>`,
  );
}

function evidence({ owner, deleted, spare }: ReleasedNft): string {
  const where = deleted
    ? "The NFT is deleted"
    : owner === null
      ? "Nobody holds it: burned or wiped"
      : `It is with ${owner}`;
  return spare === null ? where : `${where}; the +5 goes on with B ${number(spare)}`;
}

function leftOpen(mints: readonly CheckedMintRow[]): Html | string {
  const rows = mints.flatMap(({ event, deferred }) =>
    deferred.map(({ collection, attribution, wallet, reason }) => [
      event,
      attribution === null
        ? `all of collection ${collection}`
        : `${collection} ${number(attribution.serial)}`,
      attribution === null ? "–" : html`${wallet ?? ""} ${starLink(attribution.starId)}`,
      html`${badge("warn", "doubt")} ${reason}`,
    ]),
  );
  if (rows.length === 0) return "";
  return section(
    "Left open",
    html`${table({
      caption: "Parts left open, and why",
      columns: [
        { label: "Mint", isWhole: true },
        { label: "Part", isWhole: true },
        { label: "Counts for", isWhole: true },
        { label: "Why", isText: true },
      ],
      rows: rows.slice(0, DEFERRED_SHOWN),
    })}${rows.length > DEFERRED_SHOWN ? html`<p class="hint">And ${number(rows.length - DEFERRED_SHOWN)} more.</p>` : ""}`,
    html`<span class="hint">nothing was removed there</span>`,
  );
}
