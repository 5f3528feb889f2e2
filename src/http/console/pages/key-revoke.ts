import { TerminalError } from "../../../errors.ts";
import { findKey } from "../../../keys/list-keys.ts";
import { actionForm, UUID } from "../forms.ts";
import { ago, facts, html, instant, section } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";

/** Asks before a key is revoked: nothing brings it back. */
export function keyRevokePage({ sql }: PagesDeps): Page {
  return {
    path: "/keys/revoke/*",
    below: "/keys",
    async show(request) {
      const { rest, now } = request;
      const key = UUID.test(rest) ? await findKey(sql, rest) : null;
      if (key === null) throw new TerminalError("NOT_FOUND", "There is no key with this id.");
      const { id, name, prefix, createdAt, lastUsedAt, revokedAt } = key;
      const known = facts([
        ["Owner", name],
        ["Starts with", html`<span class="code">${prefix}…</span>`],
        ["Created", instant(createdAt)],
        ["Last used", lastUsedAt === null ? "never" : ago(lastUsedAt, now)],
      ]);
      const question =
        revokedAt === null
          ? html`<p>From that moment every request with it is refused, in every process. A revoked key cannot be brought back; its owner would need a new one.</p>
${actionForm(
  request,
  { path: "/keys/revoke", kind: "row" },
  html`<input type="hidden" name="id" value="${id}"><button class="primary danger">Revoke this key</button><a class="button" href="/ops/keys">Keep it</a>`,
)}`
          : html`<p>It was revoked ${ago(revokedAt, now)}.</p><p><a class="button" href="/ops/keys">Back to the keys</a></p>`;
      return { title: "Revoke a key?", body: section(name, html`${known}${question}`) };
    },
  };
}
