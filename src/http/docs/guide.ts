/**
 * The page's first part, for readers who have no key yet; it needs no JavaScript. An id here is a
 * global name in a browser: one called `exports` would be taken for a module by Swagger UI.
 */
export function guide(publicUrl: string): string {
  const url = publicUrl.replace(/\/+$/, "");
  const bearer = '-H "Authorization: Bearer $STARBOARD_API_KEY"';
  return `
<p>Read what wallets have given stars to, give stars yourself, and check every one of them. All of it is
JSON over HTTP; times are UTC.</p>
<nav aria-label="On this page"><a href="#key">A key</a><a href="#paging">Paging</a><a href="#limits">Limits</a>
<a href="#errors">Errors</a><a href="#voting">Voting</a><a href="#day-exports">Exports</a><a href="#data-api">Each operation</a></nav>

<h2 id="key">A key</h2>
<p>The data under <code>/v1</code> needs an API key. Keys are issued by hand, one per person or project: ask the
people who run this service. On a machine of your own, <code>npm start</code> prints one, and
<code>npx starboard keys issue --name "A research group"</code> makes another. A key is shown once.</p>
${sample("export STARBOARD_API_KEY=starboard_live_…", "text")}
${sample(`curl ${bearer} "${url}/v1/tokens/top?limit=3"`)}
<p>The directory and the OpenAPI document need none:</p>
${sample(`curl "${url}/v1"`)}

<h2 id="paging">Paging</h2>
<p>Events and projects come in pages: <code>limit</code> from 1 to 100, and <code>offset</code>. Each page says
<code>total</code> and <code>hasMore</code>; stop when <code>hasMore</code> is <code>false</code>.</p>
${sample(`curl ${bearer} "${url}/v1/events?status=all&limit=2&offset=2"`)}

<h2 id="limits">Limits</h2>
<ul>
<li>100 requests per client in any 60 seconds, unless this service sets another number. A client is an address;
an IPv6 client is its /64. Every reply says in <code>RateLimit</code> what is left, and a 429 says in
<code>Retry-After</code> how long to wait.</li>
<li>Every reply has an <code>ETag</code>. Send it as <code>If-None-Match</code>: what has not changed costs a 304.</li>
<li>A wallet has 5 stars a day, 20 with a premium pass, until 00:00 UTC.</li>
</ul>

<h2 id="errors">Errors</h2>
<p>An error is <code>{"error","code"}</code>: a text for people, and a stable code. These are the codes of
<code>/v1</code>; each operation of voting names its own, below.</p>
<table>
<thead><tr><th>Status</th><th>Code</th><th>When</th></tr></thead>
<tbody>
<tr><td>400</td><td><code>INVALID_PARAMETER</code></td><td>A value that is not allowed; <code>parameter</code> and <code>allowed</code> say which and what is.</td></tr>
<tr><td>401</td><td><code>MISSING_API_KEY</code>, <code>INVALID_API_KEY</code>, <code>REVOKED_API_KEY</code></td><td>No key, an unknown key, a revoked key.</td></tr>
<tr><td>404</td><td><code>NOT_FOUND</code></td><td>No such path or record.</td></tr>
<tr><td>405</td><td>none</td><td>Another method than GET.</td></tr>
<tr><td>429</td><td>none</td><td>Too many requests.</td></tr>
<tr><td>408, 431</td><td><code>REQUEST_TIMEOUT</code>, <code>HEADERS_TOO_LARGE</code></td><td>The request takes too long to arrive; its headers are more than 16 KiB.</td></tr>
<tr><td>500, 503</td><td><code>INTERNAL</code>, <code>UNAVAILABLE</code></td><td>Our fault; 503 says when to try again.</td></tr>
</tbody>
</table>

<h2 id="voting">Voting</h2>
<p>A wallet asks for a text, signs it (<code>hedera_signMessage</code> or <code>personal_sign</code>), trades the
signature for a session, and casts stars. No API key is needed.</p>
${sample(`curl "${url}/voting/config"`)}
${sample(`curl "${url}/voting/items?type=token&limit=3"`)}
${sample(`curl -H 'Content-Type: application/json' -d '{"wallet":"0.0.1005"}' "${url}/voting/challenges"`)}
<p><code>POST /voting/sessions</code> takes <code>{"challengeId","scheme","signature"}</code> and gives a
<code>token</code>. <code>POST /voting/stars</code> takes it as <code>Authorization: Bearer</code>, with
<code>{"target":{"type":"token","id":"0.0.700001"}}</code>; with an <code>Idempotency-Key</code> it may be sent as
often as you like. The counters change with each star:</p>
${sample(`curl --no-buffer "${url}/voting/live"`)}

<h2 id="day-exports">Exports</h2>
<p>The journal of each UTC day, a line of JSON per star, for auditors; no key. A day that is over
becomes final: its bytes no longer change, its hash is in the list, and a chain of hashes links all days.
<code>npx starboard audit</code> compares exports, rankings and the public topics.</p>
${sample(`curl "${url}/exports"`)}
${sample(`day=$(curl -s "${url}/exports" | grep -o '[0-9]\\{4\\}-[0-9][0-9]-[0-9][0-9]' | head -n 1)
curl --compressed "${url}/exports/$day"`)}
`;
}

/** What can be pasted into a shell is `sh`; a test runs each. */
function sample(text: string, kind: "sh" | "text" = "sh"): string {
  return `<pre tabindex="0"><code class="${kind}">${escaped(text)}</code></pre>`;
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
