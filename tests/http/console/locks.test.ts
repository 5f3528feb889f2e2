/**
 * Goal: an operator at the console holds up no voter. Method: every page while another
 * connection has locked every table so that only plain reads pass, and again while plain reads of
 * the journal must wait, which a page gives up.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { Sql } from "../../../src/store/postgres.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { allOf, fillForBrowser } from "./browser-addresses.ts";
import { CONSOLE, signInOperator, TOKEN, type Visitor } from "./browser-session.ts";
import { readStream } from "./event-stream.ts";
import { STREAMS } from "./table-of-pages.ts";

interface Context {
  service: Service;
  operator: Visitor;
  paths: string[];
}

const test = suite<Context>("/ops locks");
/** What processes write of themselves, looked at or not; and use of a session, once a minute. */
const WRITTEN_ANYWAY = ["service_process", "service_minute", "operator_session"];

test.before(async (context) => {
  const service = await startService(CONSOLE);
  const filled = await fillForBrowser(service);
  const operator = await signInOperator(service);
  const pages = allOf(filled).filter(([name]) => name !== "search");
  const paths = pages.map(([, path]) => `/ops${path}`);
  Object.assign(context, { service, operator, paths });
});
test.after(({ service }) => service.close());

/** Holds a lock while `look` runs. */
async function whileLocked(
  sql: Sql,
  { tables, mode }: { readonly tables: readonly string[]; readonly mode: string },
  look: () => Promise<void>,
): Promise<void> {
  await sql.begin(async (held) => {
    await held`select pg_advisory_xact_lock(hashtext('hold_seasons'))`;
    await held.unsafe(`lock table ${tables.join(", ")} in ${mode} mode`);
    await look();
  });
}

test("every page answers while nothing but plain reads may pass", async ({
  service,
  operator,
  paths,
}) => {
  const { sql } = service;
  const found = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`;
  const tables = found.map(({ name }) => name).filter((name) => !WRITTEN_ANYWAY.includes(name));
  assert.ok(tables.includes("star") && tables.includes("outbox"));
  await whileLocked(sql, { tables, mode: "exclusive" }, async () => {
    for (const path of paths) {
      const { status, text } = await operator.get(path);
      assert.equal(status, 200, path);
      assert.doesNotMatch(text, /<th (?![^>]*aria-label="[^"])[^>]*><\/th>/, path);
    }
    for (const path of STREAMS) {
      const url = `${service.url}/ops${path}?since=${Date.now() - 60_000}`;
      const events = await readStream(url, operator, ({ length }) => length >= 2);
      assert.ok(events.length >= 2, path);
    }
    for (const path of paths.filter((each) => /^\/ops\/(actors(\/|$)|publishing)/.test(each))) {
      const [api = ""] = path.replace("/ops/", "/ops/api/").split("?");
      assert.equal((await send(service, `GET ${api}`, { token: TOKEN })).status, 200, api);
    }
  });
});

test("a page that would wait for the journal is given up, and stars go on as soon as they may", async ({
  service,
  operator,
}) => {
  const voter = await signIn(service, await newWallet(service));
  await whileLocked(service.sql, { tables: ["star"], mode: "access exclusive" }, async () => {
    for (const path of ["/ops/stars", "/ops/actors", "/ops/feed"]) {
      assert.equal((await operator.get(path)).status, 503, path);
    }
  });
  const { body } = await cast(service, voter, "token/0.0.9001");
  assert.equal(body.allowance.used, 1);
  const waiting = await service.sql`
    select query from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  assert.deepEqual([...waiting], []);
  const shown = await operator.get("/ops/stars");
  assert.equal(shown.status, 200);
});

test.run();
