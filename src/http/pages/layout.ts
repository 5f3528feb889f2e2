import { type Content, type Html, html, htmlDocument } from "../console/markup.ts";
import { NOTICES } from "../v1/notices.ts";
import type { ShownPage, Visitor } from "./page.ts";
import { plainName, time } from "./text.ts";
import { nextMidnight, timeLeft, votesLeft } from "./words.ts";

export interface Site {
  /** `SITE_NAME` */
  readonly name: string;
  /** `mainnet`, `local`: where the stars are written. */
  readonly network: string;
  /** The words of the navigation and where they lead. */
  readonly entries: readonly { readonly nav: string; readonly path: string }[];
  readonly assets: { readonly style: string; readonly script: string };
}

/** What is known of the request that a page answers. */
export interface Asked {
  /** The path, by which its word in the navigation is marked. */
  readonly path: string;
  readonly now: number;
  /** Null for somebody who is not signed in; absent where that could not be read. */
  readonly visitor?: Visitor | null;
  /** It says what went wrong: its script does not read it again. */
  readonly isError?: boolean;
}

/** A whole page. */
export function documentOf(
  site: Site,
  shown: Pick<ShownPage, "title" | "body">,
  asked: Asked,
): Html {
  const title = plainName(shown.title);
  const { now, path, visitor, isError = false } = asked;
  return htmlDocument({
    title: title === "" ? site.name : `${title} · ${site.name}`,
    files: { icon: "/assets/icon.svg", ...site.assets },
    attributes: html` data-now="${now}" data-wallet="${visitor?.wallet ?? ""}"${isError ? html` data-error` : ""}`,
    body: html`<header class="top">
<a class="brand" href="/"><span aria-hidden="true">★</span> ${site.name}</a>
${account(asked)}
<nav aria-label="Directory"><ul>${site.entries.map((entry) => navEntry(entry, path))}</ul></nav>
</header>
<main id="main" tabindex="-1">
<noscript><p class="notice warn">Everything here can be read without JavaScript. Giving a star needs it.</p></noscript>
${shown.body}
</main>
<footer>${NOTICES.slice(1).map((notice) => html`<p>${notice}</p>`)}
<p>Stars are written to the <strong>${site.network}</strong> ledger. <a href="/docs">API</a> · <a href="/exports">Exports</a></p>
</footer>
<p class="said" role="status" data-said></p>`,
  });
}

function navEntry({ nav, path }: Site["entries"][number], current: string): Html {
  const isHere = current === path || current.startsWith(`${path}/`);
  const mark = isHere ? html` aria-current="${current === path ? "page" : "true"}"` : "";
  return html`<li><a href="${path}"${mark}>${nav}</a></li>`;
}

/** The wallet, its votes, and when there are new ones. */
function account({ visitor, now }: Asked): Html {
  const resetsAt = visitor?.allowance.resetsAt ?? nextMidnight(now);
  return html`<div class="account"><p class="who">${visitor === undefined ? null : who(visitor)}</p>
<p class="reset quiet">New votes in <span data-countdown>${timeLeft(resetsAt - now)}</span>, at 00:00 UTC<span class="local" data-local></span></p></div>`;
}

function who(visitor: Visitor | null): Html {
  if (visitor === null) return html`<button type="button" data-sign-in disabled>Sign in</button>`;
  return html`<a href="/stars" class="wallet">${visitor.wallet}</a> <strong data-votes>${votesLeft(visitor.allowance)}</strong> <span data-premium>${premium(visitor)}</span> <button type="button" class="link" data-sign-out disabled>Sign out</button>`;
}

function premium({ premiumUntil }: Visitor): Content {
  if (premiumUntil === null) return null;
  return html`<span class="badge good">Premium until ${time(premiumUntil)}</span>`;
}
