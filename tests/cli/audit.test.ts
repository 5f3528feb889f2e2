/**
 * Goal: the audit command as an outsider calls it: an empty environment, an empty folder, flags
 * alone; refusals are one line and status 1. Method: a made-up history served by the test.
 */
import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import { type Served, serveWorld, writeExports } from "../audit/serve-world.ts";
import { A, B, makeWorld, TREASURY } from "../audit/world.ts";
import { starboard } from "../support/starboard.ts";

const folder = mkdtempSync(join(tmpdir(), "audit-cli-"));
const world = makeWorld({ seed: 2, days: 3, starsPerDay: 30 });
const served: Served = await serveWorld(world);
const IDS = ["--event-topic", "0.0.8001", "--asset-topic", "0.0.8002", "--collection-a", A];
const TOLD = [...IDS, "--collection-b", B, "--excluded", TREASURY];

const run = (...args: readonly string[]) => starboard(["audit", ...args], {}, folder);

test.after(async () => {
  await served.close();
  rmSync(folder, { recursive: true });
});

test("flags alone: topics and collections from flags, the keys from the topic, no exports", async () => {
  const told = await run("--mirror", served.url, ...TOLD, "--json");
  assert.equal(told.stderr, "");
  assert.equal(told.status, 0);
  const { ok, checked, mismatches } = told.json<{
    ok: boolean;
    checked: { messages: number };
    mismatches: unknown[];
  }>();
  assert.equal(ok, true);
  assert.equal(checked.messages, world.stars.length);
  assert.deepEqual(mismatches, []);
});

test("exports tell everything but the mirror node", async () => {
  const exports = join(folder, "exports");
  writeExports(world, exports);
  const told = await run("--mirror", served.url, "--export", exports);
  assert.equal(told.status, 0, told.stderr);
  assert.match(told.stdout, /^Everything that was checked holds\./);
  assert.match(told.stdout, new RegExp(`stars of exports +${world.stars.length}`));
});

test("the first mismatch is printed in full, and the status is 1", async () => {
  const [message] = world.topics.asset.messages;
  assert.ok(message !== undefined);
  const { hash } = message;
  message.hash = Buffer.alloc(48).toString("base64");
  const told = await run("--mirror", served.url, ...TOLD);
  message.hash = hash;
  assert.equal(told.status, 1);
  assert.match(told.stdout, /The first:\n {2}kind +chain\n {2}topic +0\.0\.8002\n {2}message +1\n/);
  assert.ok(told.stdout.includes(`expected ${hash}`));
  assert.ok(told.stdout.includes(message.text));
});

for (const [what, args, line] of [
  ["nothing", [], /EVENT_VOTES_TOPIC_ID is missing/],
  [
    "no mirror node there",
    ["--mirror", "http://127.0.0.2:9", ...TOLD],
    /^mirror node: .*ECONNREFUSED/,
  ],
  ["a mirror node that is no URL", ["--mirror", "nowhere", ...TOLD], /nowhere is not an http/],
  [
    "no such day",
    ["--mirror", "http://127.0.0.2:9", ...TOLD, "--day", "2026-02-30"],
    /--day must be/,
  ],
  [
    "an API without a key",
    ["--mirror", "http://127.0.0.2:9", ...TOLD, "--api", "http://127.0.0.2:9"],
    /--api needs --key/,
  ],
  [
    "no exports there",
    ["--mirror", "http://127.0.0.2:9", "--export", "nowhere"],
    /^exports cannot be read: /,
  ],
  [
    "an id that is none",
    ["--mirror", "http://127.0.0.2:9", ...TOLD, "--event-topic", "8001"],
    /--event-topic must be a ledger id/,
  ],
  [
    "hours that are none",
    ["--mirror", "http://127.0.0.2:9", ...TOLD, "--late-hours", "-1"],
    /--late-hours must be/,
  ],
  ["an option that is none", ["--mirrors", "x"], /there is no option --mirrors/],
] as const) {
  test(`refused in one line: ${what}`, async () => {
    const told = await run(...args);
    assert.equal(told.status, 1);
    assert.equal(told.stdout, "");
    assert.match(told.stderr, line);
    assert.equal(told.stderr.trim().split("\n").length, 1);
  });
}

test.run();
