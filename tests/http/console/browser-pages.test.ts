// timeout: 300 s
/**
 * Goal: every page works in a browser under its own policy, on a phone and on a desktop, in light
 * and dark, and keeps no barrier. Method: a headless Chromium, where there is one, visits every
 * page of the table through a proxy address that leads nowhere; with `PICTURES=1` its pictures
 * are kept in `test-output/console`.
 */
import * as assert from "node:assert/strict";
import { barriersOn, sidewaysOf } from "../../support/browser.ts";
import { until } from "../../support/processes.ts";
import { allOf, type Filled, fillForBrowser } from "./browser-addresses.ts";
import { browserSuite, DESKTOP, openSignedIn, PHONE } from "./browser-place.ts";
import { FILES, PAGES, STREAMS } from "./table-of-pages.ts";

const test = browserSuite<Filled>("/ops pages in a browser", ({ service }) =>
  fillForBrowser(service),
);

test("no page of the table is left out here", async (place) => {
  const visited = [...Object.keys(place.addresses), ...STREAMS, ...FILES].sort();
  assert.deepEqual(visited, PAGES.map(({ path }) => path).sort());
});

test("a season whose name is one long word makes no page wider than a phone", async (place) => {
  const { sql } = place.service;
  const tab = await openSignedIn(place, PHONE, { path: "/keys" });
  await sql`update season set name = repeat('Longname', 37) where name = 'Autumn'`;
  await tab.visit("/premium");
  assert.equal(await sidewaysOf(tab.page), 0);
  await sql`update season set name = 'Autumn' where name like 'Longname%'`;
  await tab.close();
});

for (const look of [PHONE, DESKTOP]) {
  test(`every page, ${look.width} px wide in ${look.colorScheme}: no complaint, no barrier, no sideways scrolling`, async (place) => {
    const tab = await openSignedIn(place, look, { path: "/keys" });
    const { page, complaints } = tab;
    const opened = new Set<string>();
    page.on("request", (request) => opened.add(new URL(request.url()).pathname));
    const streamsAreOpen = () => STREAMS.every((path) => opened.has(`/ops${path}`));
    const wrong: string[] = [];
    for (const [name, path] of allOf(place)) {
      assert.equal(await tab.visit(path), 200, name);
      if (name === "overview") await page.locator("[data-chart] canvas").first().waitFor();
      // On a busy machine its script comes long after the page.
      if (name === "live") await until("its streams are open", streamsAreOpen);
      await tab.picture(name);
      if (path.startsWith("/raw/")) continue;
      const sideways = await sidewaysOf(page);
      if (sideways !== 0) wrong.push(`${name} is ${sideways} px wider than the screen`);
      wrong.push(...(await barriersOn(page)).map((barrier) => `${name}: ${barrier}`));
    }
    assert.deepEqual([...wrong, ...complaints], []);
    await tab.close();
  });
}
