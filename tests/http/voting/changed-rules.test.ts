/**
 * Goal: a rule changes at 00:00 UTC and nothing that is recorded changes with it. Method: stars under
 * rules 1; then a version after the newest holds from the next day, with another bonus and another
 * limit, and the database's clock goes there. And where machine and journal disagree, the first star
 * says so.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { endOfDay } from "../../../actors/day.ts";
import { RULES, type Rules, rulesOn, rulesVersions } from "../../../actors/rules.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";

const test = suite<{ service: Service }>("changed rules");
const OPERATOR = "operator-token-of-this-test";
test.before(async (context) => {
  context.service = await startService({ OPERATOR_TOKEN: OPERATOR });
});
test.after((context) => {
  // Files of this process that follow are about the product's own versions.
  (rulesVersions as Rules[]).splice(RULES);
  return context.service.close();
});

const ops = (service: Service, path: string) =>
  send(service, `GET ${path}`, { headers: { authorization: `Bearer ${OPERATOR}` } });

/** The lines of a day's export. */
async function exportedStars(service: Service, day: string) {
  const response = await fetch(`${service.url}/exports/${day}`);
  const lines = (await response.text()).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "star");
}

test("a star that the journal hands back for no reason is an error at once, and counted", async ({
  service,
}) => {
  const wallet = await newWallet(service);
  const token = await signIn(service, wallet);
  await service.sql.unsafe(`
    create sequence tries;
    create function lose_it() returns trigger language plpgsql security definer as
      $$ begin perform nextval('tries'); return null; end $$;
    create trigger lose_it before insert on star for each row execute function lose_it()`);
  const refused = await cast(service, token, "token/0.0.9001");
  const [tries] = await service.sql`select last_value from tries`;
  await service.sql.unsafe("drop trigger lose_it on star");
  assert.deepEqual([refused.status, refused.body.code, tries?.last_value], [500, "INTERNAL", 1]);
  const metrics = await ops(service, "/metrics");
  assert.ok(metrics.text.includes("\nstarboard_contradictions_total 1\n"));
  assert.equal((await cast(service, token, "token/0.0.9001")).status, 201);
});

test("recorded stars fold, are shown and exported under their rules; votes go on under the new ones (A24 machine-upgrade, P18)", async ({
  service,
}) => {
  const ann = await newWallet(service, { a: 2, b: 1 });
  const bob = await newWallet(service, { b: 1 });
  let token = await signIn(service, ann);
  const targets = ["event/mint", "event/meetup", "token/0.0.9001", "project/dex", "event/hack"];
  for (const target of targets) assert.equal((await cast(service, token, target)).status, 201);
  const spent = await cast(service, token, "project/wiki");
  assert.deepEqual([spent.status, spent.body.limit], [429, 5]);

  const [before] = await service.sql<{ day: string }[]>`select utc_day(now_ms()) as day`;
  const day = before?.day ?? "";
  // The list is readonly to the product alone: a version of its own is what this test is about.
  (rulesVersions as Rules[]).push({
    ...rulesOn(day),
    version: RULES + 1,
    from: new Date(endOfDay(day)).toISOString().slice(0, 10),
    flatBonus: 7,
    freeVotes: 3,
  });
  await service.sql.unsafe(`
    create or replace function now_ms() returns bigint language sql volatile as $$
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + 86400000 $$`);

  // Its session ended with the day, and the service learns the new time on the way.
  assert.equal((await cast(service, token, "project/wiki")).status, 401);
  token = await signIn(service, bob);
  const star = await cast(service, token, "event/mint");
  assert.deepEqual(star.body.star.breakdown, { base: 1, collectionA: 0, collectionB: 7 });
  assert.equal(star.body.star.votingPower, 8);
  for (const target of ["token/0.0.9001", "token/0.0.9002"]) await cast(service, token, target);
  const refused = await cast(service, token, "token/0.0.9003");
  assert.deepEqual([refused.status, refused.body.limit, refused.body.used], [429, 3, 3]);
  token = await signIn(service, ann);
  assert.equal((await cast(service, token, "event/mint")).body.star.weight, 0);

  const shown = await ops(service, `/ops/api/actors/wallet-day/${ann.id}/${day}`);
  assert.deepEqual([shown.status, shown.body.state, shown.body.version], [200, "spent", 5]);
  const mint = await ops(service, "/ops/api/actors/forever-mint/mint");
  assert.equal(mint.body.context.weight, 1 + 2 + 5 + (1 + 7));
  const rules = async (of: string) => (await exportedStars(service, of)).map((line) => line.rules);
  const next = rulesVersions.at(-1)?.from ?? "";
  assert.deepEqual(await rules(day), [1, 1, 1, 1, 1, 1]);
  assert.deepEqual(await rules(next), Array(4).fill(RULES + 1));
});

test("replay decides each star again under its own rules (A26 replay, P8)", async ({ service }) => {
  const { replayActor } = await import("../../../src/hosting/replay-actor.ts");
  const mint = await replayActor(service.sql, {}, { type: "forever-mint", event: "mint" });
  assert.deepEqual([mint.equal, mint.differences, mint.rules], [true, [], [1, RULES + 1]]);
  const [before] = rulesVersions;
  const next = rulesVersions.at(-1);
  const day = new Date(Date.parse(`${next?.from}T00:00:00Z`) - 1).toISOString().slice(0, 10);
  const meetup = { type: "event-day", event: "meetup", day } as const;
  const event = await replayActor(service.sql, {}, meetup);
  assert.deepEqual([event.equal, event.rules], [true, [before?.version]]);
});

test("a rule changed for a recorded day is reported, and its stars still fold", async ({
  service,
}) => {
  const { replayActor } = await import("../../../src/hosting/replay-actor.ts");
  const versions = rulesVersions as Rules[];
  const first = versions[0] as Rules;
  versions[0] = { ...first, flatBonus: 6 };
  const mint = await replayActor(service.sql, {}, { type: "forever-mint", event: "mint" });
  versions[0] = first;
  assert.equal(mint.equal, false);
  assert.match(mint.differences[0] ?? "", /recorded weight 8 .* under rules 1, decided weight 9/);
  assert.equal((mint.replayed.context as { weight: number }).weight, 16);
});

test.run();
