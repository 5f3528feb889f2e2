import type { Verdict } from "../../upkeep/service-verdict.ts";
import { instantText } from "./amounts.ts";
import { alike, type Content, code, type Html, html, htmlDocument } from "./markup.ts";
import type { Page, PageRequest, ShownPage } from "./page.ts";

export interface FrameRequest extends Pick<PageRequest, "session" | "formToken" | "now"> {
  readonly page: Page;
  readonly shown: ShownPage;
  /** Whether the journal lacks stars that are on its topics. */
  readonly isBehind: boolean;
  /** What is wrong with the service; undefined where it cannot be read just now. */
  readonly verdict: Verdict | undefined;
  /** How the action before this page ended. */
  readonly notice?: { readonly text: string; readonly isFailure: boolean } | undefined;
}

/** A page's place in the navigation. */
interface Entry {
  readonly part: string;
  readonly word: string;
  readonly path: string;
}

/** What to do about a journal that went back in time. */
const BEHIND = html`<p class="notice bad" role="alert">The topics hold stars that this journal lacks, so no star is accepted.
See <code>starboard journal status</code>; then <code>starboard journal recover</code> brings them back, or
<code>starboard journal accept-loss --reason …</code> goes on without them.</p>
`;

/** A whole page for somebody who is signed in. */
export function framedPage(
  { pages, network }: { readonly pages: readonly Page[]; readonly network: string },
  request: FrameRequest,
): Html {
  const { shown, notice } = request;
  const entries = pages.flatMap(({ nav, path }) => {
    return nav === undefined ? [] : [{ part: nav[0], word: nav[1], path }];
  });
  return documentOf(
    shown.title,
    html`<header class="top">
  <a class="brand" href="/ops"><span aria-hidden="true">★</span> Starboard <span class="quiet">console</span></a>
  <span class="network ${network}" title="The ledger network of this service">${network}</span>
  <form class="search" method="get" action="/ops/search" role="search" aria-label="The whole console"><input name="q" type="search" maxlength="200" aria-label="Wallet, star, transaction, message or event" aria-keyshortcuts="/" placeholder="Search (press /)"></form>
  <form class="who" method="post" action="/ops/sign-out">
    <input type="hidden" name="token" value="${request.formToken}">
    <span class="name">${request.session.operator} <span class="quiet">${request.session.role}</span></span>
    <button class="link">Sign out</button>
  </form>
</header>
<nav class="pages" aria-label="Console">${alike(entries, ({ part }) => part).map((group) => groupList(group, request))}</nav>
<main id="main" tabindex="-1" data-now="${request.now}">
${request.isBehind ? BEHIND : ""}${banner(request.verdict)}${notice === undefined ? "" : html`<p class="notice${notice.isFailure ? " bad" : ""}" role="status">${notice.text}</p>`}
${wayBack(entries, request)}<h1>${shown.title}</h1>
${shown.body}
</main>`,
  );
}

/** What is wrong, on every page, and what to do; nothing where all is well. */
export function banner(verdict: Verdict | undefined): Content {
  const wrong = verdict?.checks.filter(({ ok }) => !ok) ?? [];
  if (wrong.length === 0) return "";
  return html`<div class="notice bad" role="alert" data-verdict>${wrong.map(
    ({ name, message, since, meanwhile, fix }) =>
      html`<p><strong>${name}</strong>: ${message}${since === null ? "" : html`, since ${instantText(Date.parse(since))}`}. ${meanwhile ?? ""} ${fix === null ? "" : html`<span>To do: ${withCode(fix)}.</span>`} <a href="/ops/alarms#${name}">Runbook</a></p>`,
  )}</div>
`;
}

/** A sentence whose commands stand between backticks. */
function withCode(text: string): Content {
  return text.split("`").map((part, index) => (index % 2 === 0 ? part : code(part)));
}

/** How many checks fail, beside the page that shows them all. */
export function failingBadge(verdict: Verdict | undefined): Content {
  const wrong = verdict?.checks.filter(({ ok }) => !ok).length ?? 0;
  if (wrong === 0) return "";
  return html` <span class="badge bad" title="Checks that fail">${wrong}</span>`;
}

function groupList(group: readonly [Entry, ...Entry[]], { page, verdict }: FrameRequest): Html {
  const current = page.below ?? page.path;
  const [{ part }] = group;
  const mark = html` aria-current="${page.below === undefined ? "page" : "true"}"`;
  return html`<div class="group"><p aria-hidden="true">${part}</p><ul aria-label="${part}">${group.map(
    ({ word, path }) =>
      html`<li><a href="/ops${path}"${path === current ? mark : ""}>${word}${path === "" ? failingBadge(verdict) : ""}</a></li>`,
  )}</ul></div>`;
}

/** Above the heading of a page that lies below another: the way to that one. */
function wayBack(entries: readonly Entry[], { page }: FrameRequest): Content {
  const above = entries.find(({ path }) => path === page.below);
  if (above === undefined) return "";
  return html`<p class="way-back"><a href="/ops${above.path}"><span aria-hidden="true">←</span> ${above.word}</a></p>
`;
}

/** A page for somebody who is not signed in: one sheet in the middle. */
export function barePage(title: string, body: Content): Html {
  return documentOf(
    title,
    html`<main id="main" class="bare" tabindex="-1">
<p class="brand"><span aria-hidden="true">★</span> Starboard <span class="quiet">console</span></p>
<div class="card"><h1>${title}</h1>
${body}</div>
</main>`,
  );
}

const FILES = {
  icon: "/ops/assets/icon.svg",
  style: "/ops/assets/console.css",
  script: "/ops/assets/console.js",
};

function documentOf(title: string, body: Html): Html {
  return htmlDocument({ title: `${title} · Starboard console`, files: FILES, body });
}
