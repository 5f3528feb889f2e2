// timeout: 120 s
/**
 * Goal: an outsider proves what the real service publishes, and refutes what is edited in its
 * database. Method: real `serve` and `work` processes on a ledger of the test; stars over HTTP;
 * then the audit command, run in an empty folder with an empty environment.
 */
import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import { cast, newWallet, send, signIn } from "../support/service.ts";
import { starboard } from "../support/starboard.ts";

const TARGETS = ["token/0.0.9001", "event/meetup", "event/mint", "project/dex"];

interface Report {
  readonly ok: boolean;
  readonly checked: Record<string, number>;
  readonly mismatches: readonly { kind: string; where?: string; expected: number; found: number }[];
  readonly unprovable: readonly string[];
  readonly topics: readonly { framings: { stream: number; plain: number } }[];
}

const network = await startNetwork();
const settings = await network.webSettings();
const url = `http://127.0.0.1:${settings.PORT}`;
const web = startProcess("serve", settings);
const worker = startProcess("work", network.settings);
const folder = mkdtempSync(join(tmpdir(), "audit-"));
let key = "";
const voters: { readonly wallet: string; readonly token: string }[] = [];

const audit = async (...more: readonly string[]) => {
  const args = ["audit", "--mirror", network.hedera.mirrorUrl, "--settle", "0", "--json", ...more];
  // Without this process' environment and files.
  const result = await starboard(args, {}, folder);
  assert.equal(result.stderr, "");
  return { status: result.status, ...result.json<Report>() };
};

const published = () =>
  until("every star is published", async () => {
    const [row] =
      await network.sql`select count(*) as waiting from outbox where state <> 'published'`;
    return row?.waiting === 0;
  });

test.before(async () => {
  await until("the web process is up", () =>
    fetch(`${url}/readyz`).then(
      (r) => r.ok,
      () => false,
    ),
  );
  const issued = await starboard(["keys", "issue", "--name", "auditor", "--json"], settings);
  key = issued.json<{ key: string }>().key;
  const day = 86_400_000;
  const [starts, ends] = [-day, day].map((ms) => new Date(Date.now() + ms).toISOString());
  const season = [
    "seasons",
    "add",
    "--name",
    "one",
    "--starts",
    starts ?? "",
    "--ends",
    ends ?? "",
  ];
  assert.equal((await starboard(season, settings)).status, 0);
  for (const [a, b] of [
    [3, 1],
    [0, 2],
    [1, 0],
  ] as const) {
    const wallet = await newWallet(network, { a, b });
    const token = await signIn({ url }, wallet);
    voters.push({ wallet: wallet.id, token });
    for (const target of TARGETS) assert.equal((await cast({ url }, token, target)).status, 201);
  }
  await published();
});

test.after(async () => {
  await Promise.all([web.kill(), worker.kill()]);
  await network.close();
  rmSync(folder, { recursive: true });
});

test("with nothing but two URLs and a key, every star and ranking is proved", async () => {
  const report = await audit("--api", `${url}/v1`, "--key", key);
  assert.equal(report.ok, true, JSON.stringify(report.mismatches));
  assert.equal(report.status, 0);
  assert.equal(report.checked.messages, 12);
  assert.equal(report.checked.exportedStars, 12);
  assert.deepEqual(report.unprovable, []);
  assert.ok((report.checked.rankings ?? 0) > 10);
  for (const { framings } of report.topics) assert.deepEqual(framings, { stream: 6, plain: 0 });
});

test("an NFT that changes hands counts for its holder, and what the daily check removed is proved", async () => {
  const [seller, , buyer] = voters;
  assert.ok(seller !== undefined && buyer !== undefined);
  await network.hedera.ledger.transfer(network.collectionA, 1, buyer.wallet);
  await network.hedera.ledger.transfer(network.collectionB, 1, buyer.wallet);
  const check = await starboard(["holdings-check", "run", "--json"], settings);
  assert.equal(check.status, 0, check.stderr);
  assert.equal(check.json<{ mints: { removed: unknown[] }[] }>().mints[0]?.removed.length, 2);
  assert.equal((await cast({ url }, buyer.token, "event/mint")).status, 201);
  await published();
  const report = await audit("--api", url, "--key", key);
  assert.equal(report.ok, true, JSON.stringify(report.mismatches));
  assert.deepEqual(report.unprovable, []);
  assert.equal(report.checked.messages, 13);
});

test("a counter edited in the database is refuted", async () => {
  await network.sql`update event_total set weight = weight + 3 where event_id = 'meetup'`;
  await network.sql`update item_day set weight = weight - 1 where target_id = '0.0.9001'`;
  // The web process refreshes what it caches.
  const { status } = await send({ url }, "GET /v1/events", {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(status, 200);
  const report = await audit("--api", url, "--key", key);
  assert.equal(report.ok, false);
  assert.equal(report.status, 1);
  const wrong = report.mismatches.map(({ kind, where, expected, found }) => [
    kind,
    where,
    found - expected,
  ]);
  assert.ok(
    wrong.some((each) => String(each) === "ranking,totalVotes of event/meetup,3"),
    String(wrong),
  );
  assert.ok(
    wrong.some((each) => String(each).startsWith("ranking,totalVotes of token/0.0.9001")),
    String(wrong),
  );
});

test.run();
