// timeout: 300 s
/**
 * Goal: text that comes from elsewhere stays text on every page, also where it is HTML. Method: marks
 * that would open an element, end an attribute or run are stored in every text that a page shows;
 * a headless Chromium, where there is one, then looks at each page for what became of them.
 */
import * as assert from "node:assert/strict";
import { type Service, send } from "../../support/service.ts";
import { allOf, type Filled, fillForBrowser } from "./browser-addresses.ts";
import { browserSuite, DESKTOP, EVIL, openSignedIn } from "./browser-place.ts";

/** Pages on which some text from elsewhere stands, by their names; the rest show none. */
const SHOWN = [
  ...["overview-again", "event-day", "forever-mint", "star", "publishing"],
  ...[
    "holdings-run",
    "catalogue",
    "catalogue-shown",
    "catalogue-projects",
    "catalogue-collections",
  ],
  ...["seasons", "premium", "xp", "keys", "operator-log", "holdings-now"],
];

const test = browserSuite<Filled>("/ops markup in a browser", async ({ service }) => {
  const filled = await fillForBrowser(service);
  await spoil(service, filled);
  return filled;
});

/** Stores the marks wherever a text is stored that others bring. */
async function spoil(service: Service, { star }: Filled): Promise<void> {
  const { sql } = service;
  await sql`update event set title = ${EVIL}, host = ${EVIL}, location = ${EVIL}, description = ${EVIL},
    url = 'javascript:alert(3)', image_url = 'javascript:alert(4)'`;
  await sql`update token set name = ${EVIL}, symbol = ${EVIL}, icon_url = 'javascript:alert(5)'`;
  await sql`update collection set name = ${EVIL}, approved_at = null`;
  await sql`update project set name = ${EVIL}, description = ${EVIL},
    website_url = 'javascript:alert(6)', approved_at = null`;
  await sql`update season set name = name || ${EVIL}`;
  await sql`update api_key set name = ${EVIL}`;
  await sql`update outbox set last_error = ${EVIL}`;
  await sql`insert into topic_reading (topic_id, sequence_number) values ('0.0.5005', 1)`;
  await sql`insert into publish_attempt (star_id, attempt, topic_id, payer, valid_start_ns, reserved_at,
      sends, sent_at, receipt_status)
    values (${star}, 1, '0.0.5005', '0.0.2', 1, 0, 1, 1, ${EVIL})`;
  await sql`update publishing_alarm set reason = ${EVIL}, subject = ${EVIL}, detail = ${EVIL}`;
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('foreign', '0.0.5005', 77, ${EVIL})`;
  await sql`insert into xp_credit (key, wallet, points, reason, at) values (${EVIL}, 7, 1, ${EVIL}, now_ms())`;
  await sql`insert into operator_log (action_id, phase, operator, session_id, action, subject, notice)
    values (gen_random_uuid(), 'done', ${EVIL}, gen_random_uuid(), ${EVIL}, ${EVIL}, ${EVIL})`;
  await sql`insert into service_process (id, role, version, host, pid, started_at, seen_at)
    values (gen_random_uuid(), 'web', ${EVIL}, ${EVIL}, 1, now_ms(), now_ms())`;
  await sql`insert into service_minute (minute, name, count)
    values ((now_ms() / 60000)::int, ${`refused ${EVIL}`}, 1), ((now_ms() / 60000)::int, ${`limited ${EVIL}`}, 1)`;
  const deferred = [{ collection: "A", serial: null, starId: null, wallet: EVIL, reason: EVIL }];
  await sql`update holdings_check_mint set deferred = ${sql.json(deferred)}`;
}

test("marks in any stored text show as text, on every page that shows it", async (place) => {
  const tab = await openSignedIn(place, DESKTOP, {
    operator: `Ada ${EVIL}`.slice(0, 60),
    path: "/holdings",
  });
  const { page } = tab;
  await page.locator('form[action="/ops/holdings/dry-run"]').getByRole("button").click();
  await page.locator('form[action="/ops/holdings/run"]').waitFor();
  const places = [
    ...allOf(place),
    ["catalogue-projects", "/catalogue?type=project"],
    ["catalogue-collections", "/catalogue?type=collection"],
    ["searched", `/actors?q=${encodeURIComponent(EVIL)}`],
    ["filtered", `/feed?event=${encodeURIComponent(EVIL)}`],
    ["stars-searched", `/stars?q=${encodeURIComponent(EVIL)}`],
    ["nowhere", `/${encodeURIComponent(EVIL)}`],
    // Its numbers are read anew two seconds after the last look.
    ["overview-again", ""],
  ] as const;
  const showing: string[] = [];
  for (const [name, path] of places) {
    await tab.visit(path);
    const found = (await page.evaluate(`({
      text: document.body.innerText
        + [...document.querySelectorAll("input, [title]")].map((one) => one.value || one.title).join(),
      planted: document.querySelectorAll("main img, main script:not([type='application/json'])").length,
      links: document.querySelectorAll('[href^="javascript:"], [src^="javascript:"]').length,
      handlers: [...document.querySelectorAll("*")].flatMap((one) => one.getAttributeNames())
        .filter((attribute) => attribute.startsWith("on")).length,
    })`)) as { text: string; planted: number; links: number; handlers: number };
    const { text, ...wrong } = found;
    assert.deepEqual(wrong, { planted: 0, links: 0, handlers: 0 }, name);
    if (text.replace(/Ada "'><script>[^\n]*/, "").includes("<script>alert(1)</script>")) {
      showing.push(name);
    }
    await tab.picture(`markup-${name}`);
  }
  const missing = SHOWN.filter((name) => !showing.includes(name));
  assert.deepEqual(missing, [], "the marks are seen there as text");
  // The browser itself reports the missing page.
  assert.deepEqual(
    tab.complaints.filter((complaint) => !complaint.includes("404")),
    [],
  );
  await tab.close();
});

test("what somebody typed at the sign-in comes back as text", async (place) => {
  const reply = await send(place.service, "POST /ops/sign-in", {
    headers: { origin: place.service.url, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ operator: EVIL, operatorToken: "wrong", next: EVIL }).toString(),
  });
  assert.equal(reply.status, 401);
  const page = await place.browser.newPage();
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.setContent(reply.text);
  assert.equal(await page.locator("[name=operator]").inputValue(), EVIL);
  assert.equal(await page.locator("img, main script").count(), 0);
  assert.deepEqual(dialogs, []);
  await page.close();
});
