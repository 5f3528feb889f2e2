/**
 * Goal: no page of the console goes unmeasured. Method: the bench's addresses held against the
 * table of pages and the routes of the operators' API, also with a page that is not measured.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { Page } from "../../src/http/console/page.ts";
import { opsApi } from "../../src/http/ops/api.ts";
import { PAGES } from "../http/console/table-of-pages.ts";
import { type Landmarks, leftOut } from "./console-addresses.ts";

const test = suite("the console's bench");

const LANDMARKS: Landmarks = {
  today: "2026-11-20",
  star: { id: "s", wallet: 1, day: "2026-11-20" },
  ...{
    starOfMint: "s",
    starOfWhale: "s",
    starWaiting: "s",
    eager: 1,
    checkBefore: 1,
    waiting: "s",
  },
  ...{ middle: { starOfEvent: "s", seq: 1, entry: 1 }, check: "c", key: "k", season: "s" },
};
/** Registering the routes asks for their guards; no request comes. */
const DEPS = { access: { guard: () => () => undefined } } as unknown as Parameters<
  typeof opsApi
>[0];
const API = opsApi(DEPS);

test("it asks for every page of the table and every route of the API", () => {
  assert.deepEqual(leftOut(PAGES, API, LANDMARKS), []);
});

test("a page that it does not time fails, and so does a path without a page", () => {
  const added: Page = { path: "/new", show: () => Promise.reject(new Error("never shown")) };
  const without = PAGES.filter(({ path }) => path !== "/log");
  assert.deepEqual(leftOut([...without, added], API, LANDMARKS), ["/new", "/log"]);
  const api = opsApi(DEPS);
  api.get("/new", (c) => c.text(""));
  assert.deepEqual(leftOut(PAGES, api, LANDMARKS), ["/api/new"]);
});

test.run();
