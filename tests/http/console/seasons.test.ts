/**
 * Goal: seasons, passes and credits are made at the console as by the commands, each once, and a
 * bad field is named with the form as it was. Method: the pages over HTTP, a real web process.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { type Reply, type Service, startService } from "../../support/service.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";
import { logOf } from "./operator-log.ts";

interface Context {
  service: Service;
  operator: Visitor;
}

const test = suite<Context>("/ops/seasons, premium, xp");
const AUTUMN = { name: "Autumn", starts: "2026-10-01", ends: "2099-01-01 12:30" };

test.before(async (context) => {
  const service = await startService(CONSOLE);
  Object.assign(context, { service, operator: await signInOperator(service, "Ada") });
});
test.after(({ service }) => service.close());

const seasonId = async ({ sql }: Service): Promise<string> =>
  String((await sql`select id from season where name = 'Autumn'`)[0]?.id);

test("a season is added once and in UTC; one that overlaps is refused at its field", async ({
  service,
  operator,
}) => {
  assert.equal((await operator.post("/ops/seasons/add", AUTUMN)).status, 303);
  const [season] = await service.sql`select starts_at, ends_at from season where name = 'Autumn'`;
  assert.deepEqual(season, {
    starts_at: Date.UTC(2026, 9, 1),
    ends_at: Date.UTC(2099, 0, 1, 12, 30),
  });
  const [added] = await logOf(service.sql, "seasons.add");
  assert.deepEqual(added?.details, {
    ...{ id: await seasonId(service), name: "Autumn" },
    ...{ startsAt: "2026-10-01T00:00:00.000Z", endsAt: "2099-01-01T12:30:00.000Z" },
  });
  const again = await operator.post("/ops/seasons/add", { ...AUTUMN, name: "Twice" });
  assert.equal(again.status, 400);
  assert.match(again.text, /id="field-starts-flaw">This season overlaps another one\./);
  assert.match(again.text, /value="Twice"/);
  const [failed] = await logOf(service.sql, "seasons.add");
  assert.deepEqual([failed?.phase, failed?.operator], ["failed", "environment (Ada)"]);
  const form = "The start must be a day, or a day and a time in UTC, such as 2026-11-20 18:00.";
  for (const [field, value, flaw] of [
    ["starts", "2026-02-31", form],
    ["starts", "yesterday", form],
    ["starts", "1969-12-31", "The start must not be before 1970."],
    ["ends", "2026-09-01", "A season must end after it starts."],
    ["name", " ", "A name is needed."],
    ["name", "a\tb", "A name has up to 300 characters, all of them printable."],
  ] as const) {
    const reply = await operator.post("/ops/seasons/add", { ...AUTUMN, [field]: value });
    assert.equal(reply.status, 400, value);
    assert.match(reply.text, new RegExp(`id="field-${field}"[^>]*aria-invalid="true"`), value);
    assert.ok(reply.text.includes(`id="field-${field}-flaw">${flaw}<`), value);
  }
});

test("a pass is granted, listed and taken back", async ({ service, operator }) => {
  const later = { name: "Later", starts: "2099-02-01", ends: "2099-03-01" };
  await operator.post("/ops/seasons/add", later);
  const { text: seasons } = await operator.get("/ops/seasons");
  assert.match(seasons, />Later<[\s\S]*?>to come<[\s\S]*?>Autumn<[\s\S]*?>on</);
  const fields = { wallet: "0.0.1001", season: await seasonId(service) };
  const noticeOf = async (reply: Reply): Promise<string> => {
    const { text } = await operator.get(reply.headers.get("location") ?? "");
    return /role="status">([^<]*)</.exec(text)?.[1] ?? "";
  };
  const granted = await operator.post("/ops/premium/grant", fields);
  assert.match(await noticeOf(granted), /^0\.0\.1001 has a pass: 20 votes a day/);
  // Of the season that is on; of another one where its address asks.
  const { text } = await operator.get("/ops/premium");
  assert.match(text, /<h2>Passes of Autumn<[\s\S]*0\.0\.1001<\/a>/);
  assert.match(text, /<details class="ask">[\s\S]*"wallet" value="0\.0\.1001">/);
  const hidden = `value="0.0.1001"><input type="hidden" name="season" value="${fields.season}">`;
  assert.ok(text.includes(hidden));
  const other = /href="(\/ops\/premium[^"]+)" aria-label="Premium passes of Later"/.exec(
    seasons,
  )?.[1];
  assert.match(
    (await operator.get(other ?? "")).text,
    /<h2>Passes of Later<[\s\S]*No wallet has a pass/,
  );
  assert.equal((await service.sql`select from premium_pass where wallet = 1001`).length, 1);
  const taken = await operator.post("/ops/premium/revoke", fields);
  assert.match(await noticeOf(taken), /^0\.0\.1001 has no pass any more/);
  assert.equal((await service.sql`select from premium_pass`).length, 0);
  for (const action of ["premium.grant", "premium.revoke"]) {
    const [last, first] = await logOf(service.sql, action);
    assert.deepEqual([first?.phase, last?.phase, last?.subject], ["started", "done", "0.0.1001"]);
  }
  const gone = await operator.post("/ops/premium/revoke", fields);
  assert.equal(gone.status, 404);
  const bad = await operator.post("/ops/premium/grant", { ...fields, wallet: "0.0.01" });
  assert.match(bad.text, /id="field-wallet-flaw">0\.0\.01 is no account id such as 0\.0\.1001\./);
});

test("many passes are turned over page by page in the order of account numbers, each once", async ({
  service,
  operator,
}) => {
  await service.sql`
    insert into premium_pass (wallet, season_id, granted_at)
    select n, ${await seasonId(service)}, 0 from generate_series(60, 1059, 8) n`;
  const wallets: number[] = [];
  for (let path: string | undefined = "/ops/premium"; path !== undefined; ) {
    const { text } = await operator.get(path);
    wallets.push(
      ...[...text.matchAll(/href="\/ops\/wallets\/0\.0\.(\d+)"/g)].map(([, wallet]) =>
        Number(wallet),
      ),
    );
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  assert.deepEqual(
    wallets,
    Array.from({ length: 125 }, (_, n) => 60 + n * 8),
  );
  await service.sql`delete from premium_pass`;
});

test("points are booked once by their name, also when the form is sent twice", async ({
  service,
  operator,
}) => {
  const fields = { wallet: "0.0.1001", points: "250", reason: "Quest 7", id: "quest-7" };
  const booked = await operator.post("/ops/xp/credit", fields);
  const { text } = await operator.get(booked.headers.get("location") ?? "");
  assert.match(text, />250 points to 0\.0\.1001 are booked, in the season that is on\.</);
  assert.equal((await operator.post("/ops/xp/credit", fields)).status, 303);
  const rows = await service.sql`select wallet, points, reason from xp_credit`;
  assert.deepEqual([...rows], [{ wallet: 1001, points: 250, reason: "Quest 7" }]);
  const [done] = await logOf(service.sql, "xp.credit");
  assert.deepEqual([done?.phase, done?.subject], ["done", "0.0.1001"]);
  const other = await operator.post("/ops/xp/credit", { ...fields, points: "251" });
  assert.equal(other.status, 422);
  assert.match(other.text, /The id quest-7 is of another credit/);
  assert.match(other.text, /value="251"/);
  for (const points of ["0", "1234567890"]) {
    const bad = await operator.post("/ops/xp/credit", { ...fields, points });
    assert.match(bad.text, /id="field-points"[^>]*aria-invalid="true"/);
  }
  const back = await operator.post("/ops/xp/credit", { ...fields, points: "-50", id: "back" });
  const { text: said } = await operator.get(back.headers.get("location") ?? "");
  assert.match(said, />50 points from 0\.0\.1001 are booked, /);
  await service.sql`update season set ends_at = starts_at + 1 where name = 'Autumn'`;
  const late = await operator.post("/ops/xp/credit", { ...fields, id: "late" });
  const { text: apart } = await operator.get(late.headers.get("location") ?? "");
  assert.match(apart, /are booked, while no season is on: the leaderboard does not show them\.</);
});

test.run();
