/**
 * The whole walk, measured: real sign-ins, 32 clients that star over HTTP, holdings read from the
 * mirror node for each star, `serve` and `work` as processes of their own, every message on the
 * local ledger. Prints stars/s and latencies of acceptance, and the time from acceptance to
 * `published`. Run by `npm run bench:walk`; it stops by itself.
 */
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import { newWallet, signIn } from "../support/service.ts";

const CLIENTS = 32;
const WALLETS = 400;
const TARGETS = [
  "token/0.0.9001",
  "event/meetup",
  "collection/0.0.8001",
  "event/mint",
  "project/dex",
];

const network = await startNetwork();
const settings = await network.webSettings();
const url = `http://127.0.0.1:${settings.PORT}`;
const web = startProcess("serve", settings);
const worker = startProcess("work", network.settings);
await until("the web process is up", () =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  ),
);

const tokens: string[] = [];
for (let n = 0; n < WALLETS; n += 1) {
  tokens.push(await signIn({ url }, await newWallet(network, { a: n % 3, b: n % 2 })));
}
const work = TARGETS.flatMap((target) => tokens.map((token) => ({ token, target })));
const latencies: number[] = [];
const startedAt = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: CLIENTS }, async () => {
    for (let each = work[next++]; each !== undefined; each = work[next++]) {
      const [type, id] = each.target.split("/");
      const sentAt = performance.now();
      const reply = await fetch(`${url}/voting/stars`, {
        method: "POST",
        headers: { authorization: `Bearer ${each.token}`, "content-type": "application/json" },
        body: JSON.stringify({ target: { type, id } }),
      });
      await reply.text();
      // A busy machine's Postgres may not answer in time: that star is left out, and said.
      if (reply.status === 503) continue;
      if (reply.status !== 201) throw new Error(`${each.target}: ${reply.status}`);
      latencies.push(performance.now() - sentAt);
    }
  }),
);
const seconds = (performance.now() - startedAt) / 1_000;
await until(
  "every star is published",
  async () => {
    const [row] =
      await network.sql`select count(*) as waiting from outbox where state <> 'published'`;
    return row?.waiting === 0;
  },
  120_000,
);
const drained = (performance.now() - startedAt) / 1_000;
const lags = await network.sql<{ lag: number }[]>`
  select published_at - at as lag from star join outbox on star_id = id order by 1`;

const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
latencies.sort((one, other) => one - other);
const stars = latencies.length;
const lag = lags.map((row) => Number(row.lag));
process.stdout.write(
  `${stars} stars (${work.length - stars} put off), ${CLIENTS} clients: ${(stars / seconds).toFixed(0)} stars/s, ` +
    `p50 ${at(latencies, 0.5)} ms, p99 ${at(latencies, 0.99)} ms\n` +
    `accepted to published: p50 ${at(lag, 0.5)} ms, p99 ${at(lag, 0.99)} ms; ` +
    `all on the ledger after ${drained.toFixed(1)} s (${(stars / drained).toFixed(0)} messages/s)\n`,
);
await Promise.all([web.stop(), worker.stop()]);
await network.close();
process.exit();
