/**
 * Goal: over a whole season the leaderboard says what the voters did. Method: two real web
 * processes, votes through both at once; the season ends in the middle of the day, the next one
 * begins later; both processes are asked, and the scores are held against the ledger.
 */
import * as assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "uvu";
import { addSeason } from "../../src/catalogue/seasons.ts";
import { issueKey } from "../../src/keys/api-keys.ts";
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import { cast, newWallet, type Reply, send, signIn } from "../support/service.ts";
import { foldedScores, scores } from "../support/xp.ts";

const XP_PER_STAR = 3;
const WALLETS = 6;
const BEFORE = ["token/0.0.9001", "event/meetup", "event/mint"];
const BETWEEN = ["project/dex"];
const AFTER = ["collection/0.0.8001"];
/** Each process follows Postgres' clock, and errs by less: stars so far from an edge are on their side of it. */
const CLOCKS_DIFFER_MS = 200;

test("two processes, a season that ends mid-day, and the next: points are stars × XP_PER_STAR", async () => {
  const network = await startNetwork();
  const { sql } = network;
  const webs = await Promise.all(
    [1, 2].map(async () => {
      const settings = { ...(await network.webSettings()), XP_PER_STAR: String(XP_PER_STAR) };
      return { url: `http://127.0.0.1:${settings.PORT}`, child: startProcess("serve", settings) };
    }),
  );
  for (const { url } of webs) {
    const isUp = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until("a web process is up", isUp);
  }
  const web = (n: number) => webs[n % webs.length] as (typeof webs)[number];
  const { key: apiKey } = await issueKey(sql, "test");
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const now = row?.now ?? 0;
  await addSeason(sql, { name: "first", startsAt: now - 1_000, endsAt: now + 3_600_000 });

  const tokens: string[] = [];
  for (let n = 0; n < WALLETS; n += 1) {
    // The more NFTs, the heavier: weight must not find its way into the points.
    tokens.push(await signIn(web(n), await newWallet(network, { a: n })));
  }
  /** Each target by each wallet, asked of both processes at once: one of the two is accepted. */
  const vote = (targets: readonly string[]) =>
    Promise.all(
      tokens.map(async (token, n) => {
        for (const target of targets) {
          const twin = { "Idempotency-Key": `${n}/${target}` };
          const replies = await Promise.all(webs.map((each) => cast(each, token, target, twin)));
          for (const reply of replies) assert.equal(reply.status, 201, reply.text);
        }
      }),
    );
  const board = async (n: number): Promise<Reply["body"]> =>
    (await send(web(n), "GET /v1/leaderboard", { token: apiKey })).body;

  await vote(BEFORE);
  for (const n of [0, 1]) {
    const { season, leaderboard } = await board(n);
    assert.equal(season.name, "first");
    assert.equal(leaderboard.length, WALLETS);
    for (const { points, stars } of leaderboard) {
      assert.deepEqual([points, stars], [BEFORE.length * XP_PER_STAR, BEFORE.length]);
    }
  }

  await delay(CLOCKS_DIFFER_MS);
  await sql`update season set ends_at = now_ms()`;
  await delay(CLOCKS_DIFFER_MS);
  await vote(BETWEEN);
  for (const n of [0, 1]) assert.deepEqual(await board(n), { season: null, leaderboard: [] });

  await delay(CLOCKS_DIFFER_MS);
  const [later] = await sql<{ now: number }[]>`select now_ms() as now`;
  await addSeason(sql, { name: "second", startsAt: later?.now ?? 0, endsAt: now + 3_600_000 });
  await delay(CLOCKS_DIFFER_MS);
  await vote(AFTER);
  for (const n of [0, 1]) {
    const { season, leaderboard } = await board(n);
    assert.equal(season.name, "second");
    assert.deepEqual(
      leaderboard.map(({ points }: { points: number }) => points),
      Array(WALLETS).fill(AFTER.length * XP_PER_STAR),
    );
  }

  const all = await scores(sql);
  assert.deepEqual(await foldedScores(sql), all);
  assert.ok(all.every(({ points, stars }) => points === stars * XP_PER_STAR));
  const [ledger] = await sql`
    select count(*) as stars, sum(xp) as points from star`;
  const accepted = WALLETS * (BEFORE.length + BETWEEN.length + AFTER.length);
  assert.deepEqual({ ...ledger }, { stars: accepted, points: accepted * XP_PER_STAR });
  for (const { child } of webs) assert.equal(await child.stop(), 0, child.log());
  await network.close();
});

test.run();
