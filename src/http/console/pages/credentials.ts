import { askingButton } from "../forms.ts";
import { ago, badge, type Column, type Html, html, quiet, section } from "../markup.ts";
import type { PageRequest, ShownPage } from "../page.ts";

/** What opens a door until it is revoked: a key, an operator's token. */
interface Credential {
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** The columns that all credentials have. @param given.revoking the button that revokes one */
export function credentialColumns<C extends Credential>(
  request: PageRequest,
  given: {
    readonly created: string;
    readonly revoking: (credential: C) => Parameters<typeof askingButton>[1];
  },
): Column<C>[] {
  const { now } = request;
  return [
    [
      "State",
      "whole",
      ({ revokedAt }) => (revokedAt === null ? badge("good", "works") : over(revokedAt, now)),
    ],
    [given.created, "whole", ({ createdAt }) => ago(createdAt, now)],
    [
      "Last used",
      "whole",
      ({ lastUsedAt }) => (lastUsedAt === null ? "never" : ago(lastUsedAt, now)),
    ],
    [
      "",
      "action",
      (one) => (one.revokedAt === null ? askingButton(request, given.revoking(one)) : ""),
    ],
  ];
}

function over(revokedAt: number, now: number): Html {
  return html`${badge("plain", "revoked")} ${quiet(ago(revokedAt, now))}`;
}

/**
 * The only page that ever shows a secret: it comes with the reply to the form and is stored nowhere.
 *
 * @param given.owner who is to have it
 * @param given.list the page to go back to, below `/ops`
 */
export function shownOnce(given: {
  readonly title: string;
  readonly secret: string;
  readonly owner: string;
  readonly list: "keys" | "operators";
}): ShownPage {
  const { title, secret, owner, list } = given;
  return {
    title,
    body: section(
      "This is the only time it is shown",
      html`<p>Copy it now and send it to ${owner} safely. Only a hash of it is stored, so it cannot be looked up later.</p>
<code class="secret">${secret}</code>
<p class="hint">Do not reload this page: that would send the form again.</p>
<p><a class="button" href="/ops/${list}">I have copied it: back to the ${list}</a></p>`,
    ),
  };
}
