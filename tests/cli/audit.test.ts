/**
 * Goal: the audit command as an outsider calls it: an empty environment, an empty folder, flags
 * alone; refusals are one line and status 1. Method: a made-up history served by the test.
 */
import * as assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import type { Mismatch } from "../../src/audit/report.ts";
import { type Served, serveWorld, writeExports } from "../audit/serve-world.ts";
import { A, B, makeWorld, rechain, TREASURY, type World } from "../audit/world.ts";
import { starboard } from "../support/starboard.ts";

const folder = mkdtempSync(join(tmpdir(), "audit-cli-"));
const world = makeWorld({ seed: 2, days: 3, starsPerDay: 30 });
const served: Served = await serveWorld(world);
const IDS = ["--event-topic", "0.0.8001", "--asset-topic", "0.0.8002", "--collection-a", A];
const FLAGS = [...IDS, "--collection-b", B, "--excluded", TREASURY];
/** The same with another value of one. */
const withFlag = (flag: string, value: string) => FLAGS.with(FLAGS.indexOf(flag) + 1, value);

const ROW = { rank: 1, totalVotes: 1, votes7d: 1, votes30d: 1 };

const run = (...args: readonly string[]) => starboard(["audit", ...args], {}, folder);

test.after(async () => {
  await served.close();
  rmSync(folder, { recursive: true });
});

test("flags alone: topics and collections from flags, the keys from the topic, no exports", async () => {
  const result = await run("--mirror", served.url, ...FLAGS, "--json");
  assert.equal(result.stderr, "");
  assert.equal(result.status, 0);
  const { ok, checked, mismatches } = result.json<{
    ok: boolean;
    checked: { messages: number };
    mismatches: unknown[];
  }>();
  assert.equal(ok, true);
  assert.equal(checked.messages, world.stars.length);
  assert.deepEqual(mismatches, []);
});

test("exports give every setting but the mirror node", async () => {
  const exports = join(folder, "exports");
  writeExports(world, exports);
  const result = await run("--mirror", served.url, "--export", exports);
  assert.equal(result.status, 0, result.stderr);
  assert.match(result.stdout, /^Everything that was checked holds\./);
  assert.match(result.stdout, new RegExp(`stars of exports +${world.stars.length}`));
});

test("exports that were kept are held against the API's list: a final day does not change", async () => {
  const [kept, live] = [join(folder, "kept"), join(folder, "live")];
  writeExports(world, kept);
  let listed = 0;
  let isOpen = false;
  const open = {
    final: false,
    stars: null,
    releases: null,
    sha256: null,
    chain: null,
    bytes: null,
  };
  const service = await serveWorld(world, {
    exports: live,
    onAnswer(path, body) {
      if (path !== "/exports") return body;
      const days = (body as { exports: object[] }).exports.slice(listed);
      return { exports: days.map((entry) => (isOpen ? { ...entry, ...open } : entry)) };
    },
  });
  const api = ["--api", service.url, "--key", "k", "--settle", "0", "--json"];
  const found = async (changed: Partial<World>, ...more: string[]) => {
    writeExports({ ...world, ...changed }, live);
    const result = await run("--mirror", served.url, "--export", kept, ...api, ...more);
    const { mismatches, known } = result.json<{
      mismatches: Mismatch[];
      known: { kind: string; day: string }[];
    }>();
    return {
      status: result.status,
      fields: mismatches.map(({ where, expected }) => `${where} ${String(expected).split(" ")[0]}`),
      known: known.map(({ kind, day }) => `${kind} ${day}`),
    };
  };
  assert.deepEqual(await found({}), { status: 0, fields: [], known: [] });
  const { firstDay } = world;
  const second = dayOf(startOfDay(firstDay) + DAY_MS);
  const excludedOn = new Map([[firstDay, [TREASURY, "0.0.4711"]]]);
  const changed = await found({ excludedOn });
  assert.deepEqual(changed, {
    status: 1,
    fields: [
      ...["sha256", "chain", "bytes"].map((each) => `${firstDay} ${each}`),
      `${second} sha256`,
      `${second} chain`,
    ],
    known: [],
  });
  // It may where stars came back, and so may days that follow it; both are said.
  const rejoined = { status: 0, fields: [], known: [`chain ${firstDay}`, `chain ${second}`] };
  assert.deepEqual(await found({ recovered: [firstDay] }), rejoined);
  // The day before, which is not judged, says why.
  const alone = await found({ recovered: [firstDay] }, "--day", second);
  assert.deepEqual(alone, { status: 0, fields: [], known: [`chain ${second}`] });
  assert.equal((await found({ excludedOn }, "--day", second)).status, 1);
  isOpen = true;
  assert.deepEqual(await found({}), rejoined);
  isOpen = false;
  listed = 1;
  const first = await found({});
  assert.deepEqual(first.fields, [`${firstDay} a`, `${second} previous`]);
  await service.close();
});

/** Edits the header of a world's first export. */
function firstHeader(exports: string, edit: (header: string) => string): void {
  const file = join(exports, readdirSync(exports).sort()[0] ?? "");
  const [header = "", ...rest] = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, [edit(header), ...rest].join("\n"));
}

test("every export's header names topics, the newest not alone", async () => {
  const exports = join(folder, "topics");
  writeExports(world, exports);
  firstHeader(exports, (header) => header.replace("0.0.8001", "0.0.8009"));
  const args = ["audit", "--mirror", served.url, "--export", exports];
  // Where the service's own settings name today's topic, that of before is audited too.
  for (const settings of [{}, { EVENT_VOTES_TOPIC_ID: "0.0.8001" }]) {
    const result = await starboard([...args, "--json"], settings, folder);
    assert.equal(result.stderr, "");
    const { notes } = result.json<{ notes: string[] }>();
    assert.ok(notes.includes("topic 0.0.8009 has no messages there"), notes.join("\n"));
  }
});

test("stars that their export has on a topic which the mirror node does not know have no message", async () => {
  const exports = join(folder, "unknown-topic");
  writeExports(world, exports);
  const file = join(exports, readdirSync(exports).sort()[0] ?? "");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("0.0.8001", "0.0.8009"));
  const result = await run("--mirror", served.url, "--export", exports, "--json");
  const { mismatches } = result.json<{ mismatches: Mismatch[] }>();
  assert.ok(mismatches.some(({ kind, topic }) => kind === "no-message" && topic === "0.0.8009"));
});

test("the topics of the newest export must be there", async () => {
  const exports = join(folder, "mistaken");
  writeExports(world, exports);
  for (const name of readdirSync(exports)) {
    const file = join(exports, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("0.0.8001", "0.0.8009"));
  }
  const result = await run("--mirror", served.url, "--export", exports);
  assert.equal(result.stderr, "the mirror node knows no topic 0.0.8009\n");
});

test("a wallet that was excluded on an earlier day alone may show no NFTs in its messages of that day", async () => {
  const then = makeWorld({ seed: 2, days: 3, starsPerDay: 30 });
  const index = then.stars.findIndex(
    ({ scope, held }) => scope === "none" && held.collectionA.length > 0,
  );
  const star = then.stars[index];
  const { asset } = then.topics;
  const message = asset.messages.find(({ starId }) => starId === star?.id);
  assert.ok(star !== undefined && message !== undefined);
  message.text = message.text
    .replace(/"voting_power":\d+/, '"voting_power":1')
    .replace(/"alpha":\d+,"beta":\d+/, '"alpha":0,"beta":0');
  rechain(asset);
  const served = await serveWorld(then);
  const exports = join(folder, "excluded");
  writeExports(then, exports);
  const ofMessages = async () => {
    const result = await run("--mirror", served.url, "--export", exports, "--json");
    const { mismatches } = result.json<{ mismatches: Mismatch[] }>();
    return mismatches.filter(({ kind, starId }) => kind === "holdings" && starId === null);
  };
  assert.equal((await ofMessages()).length, 1);
  firstHeader(exports, (header) =>
    header.replace(`"${TREASURY}"`, `"${TREASURY}","${star.wallet}"`),
  );
  const found = await ofMessages();
  await served.close();
  assert.deepEqual(found, []);
});

test("the exports of an API are beside it, also below a path", async () => {
  for (const end of ["", "/v1/"]) {
    const api = ["--api", `${served.url}/star${end}`, "--key", "k", "--settle", "0"];
    await run("--mirror", served.url, ...FLAGS, ...api);
    const below = served.asked.filter((path) => path.startsWith("/star/"));
    served.asked.splice(0);
    assert.deepEqual(below, ["/star/exports", "/star/v1/tokens/top?limit=100"]);
  }
});

test("the first mismatch is printed in full, and the status is 1", async () => {
  const [message] = world.topics.asset.messages;
  assert.ok(message !== undefined);
  const { hash } = message;
  message.hash = Buffer.alloc(48).toString("base64");
  const result = await run("--mirror", served.url, ...FLAGS);
  const json = await run("--mirror", served.url, ...FLAGS, "--json");
  message.hash = hash;
  const [first] = json.json<{ mismatches: Record<string, unknown>[] }>().mismatches;
  assert.equal(first?.where, null, "a missing value is null, never an absent field");
  assert.ok("starId" in first);
  assert.equal(result.status, 1);
  assert.match(
    result.stdout,
    /The first:\n {2}kind +chain\n {2}topic +0\.0\.8002\n {2}message +1\n/,
  );
  assert.ok(result.stdout.includes(`expected ${hash}`));
  assert.ok(result.stdout.includes(message.text));
});

test("names that others gave make no lines of their own", async () => {
  const holds = "Everything that was checked holds.";
  const forger = await serveWorld(world, {
    onAnswer: (path, body) =>
      path === "/v1/tokens/top" ? { tokens: [{ ...ROW, id: `\n\n${holds}\n` }] } : body,
  });
  const api = ["--api", forger.url, "--key", "k", "--settle", "0"];
  const result = await run("--mirror", served.url, ...FLAGS, ...api);
  await forger.close();
  assert.equal(result.status, 1);
  assert.ok(result.stdout.includes(`token/ ${holds}`), result.stdout);
  assert.ok(!result.stdout.split("\n").includes(holds));
});

for (const [what, args, line] of [
  ["nothing", [], /EVENT_VOTES_TOPIC_ID is missing/],
  [
    "a topic that is none",
    ["--mirror", served.url, ...withFlag("--event-topic", "0.0.8009")],
    /^the mirror node knows no topic 0\.0\.8009$/m,
  ],
  [
    "a collection that is none",
    ["--mirror", served.url, ...withFlag("--collection-b", "0.0.5009")],
    /^the mirror node knows no NFT collection 0\.0\.5009$/m,
  ],
  [
    "no mirror node there",
    ["--mirror", "http://127.0.0.2:9", ...FLAGS],
    /^mirror node: .*ECONNREFUSED/,
  ],
  [
    "mirror nodes that no comma parts",
    ["--mirror", "http://a.example;http://b.example", ...FLAGS],
    /b\.example is not one URL: commas part a list/,
  ],
  ["a mirror node that is no URL", ["--mirror", "nowhere", ...FLAGS], /nowhere is not an http/],
  [
    "no such day",
    ["--mirror", "http://127.0.0.2:9", ...FLAGS, "--day", "2026-02-30"],
    /--day must be/,
  ],
  [
    "an API without a key",
    ["--mirror", "http://127.0.0.2:9", ...FLAGS, "--api", "http://127.0.0.2:9"],
    /--api needs --key/,
  ],
  [
    "a key without an API, whose rankings would not be read",
    ["--mirror", "http://127.0.0.2:9", ...FLAGS, "--key", "k"],
    /--key needs --api/,
  ],
  [
    "no exports there",
    ["--mirror", "http://127.0.0.2:9", "--export", "nowhere"],
    /^exports cannot be read: /,
  ],
  [
    "no exports of an API whose settings they would give",
    ["--mirror", served.url, "--api", `${served.url}/none`, "--key", "k"],
    /^EVENT_VOTES_TOPIC_ID is missing; .*; exports cannot be read: \/none\/exports: HTTP 404/,
  ],
  [
    "an invalid id",
    ["--mirror", "http://127.0.0.2:9", ...withFlag("--event-topic", "8001")],
    /--event-topic must be a ledger id/,
  ],
  ...(["--event-topic", "--asset-topic"] as const).map(
    (flag) =>
      [
        `an empty ${flag}`,
        ["--mirror", served.url, ...withFlag(flag, "")],
        new RegExp(`^${flag} names no topic`),
      ] as const,
  ),
  ...["api", "key", "export", "key-a", "key-b"].map(
    (flag) =>
      [
        `an empty --${flag}`,
        ["--mirror", served.url, ...FLAGS, `--${flag}`, ""],
        new RegExp(`^--${flag} is empty$`, "m"),
      ] as const,
  ),
  [
    "one topic for both",
    ["--mirror", served.url, ...withFlag("--asset-topic", "0.0.8002,0.0.8001")],
    /^--event-topic and --asset-topic name 0\.0\.8001 twice$/m,
  ],
  [
    "one collection for both",
    ["--mirror", served.url, ...withFlag("--collection-b", A)],
    /^--collection-a and --collection-b name \S+ twice$/m,
  ],
  [
    "one key for both collections",
    ["--mirror", served.url, ...FLAGS, "--key-a", "beta"],
    /^--key-a and --key-b name beta twice$/m,
  ],
  [
    "invalid hours",
    ["--mirror", "http://127.0.0.2:9", ...FLAGS, "--late-hours", "-1"],
    /--late-hours must be/,
  ],
  [
    "an empty --state",
    ["--mirror", served.url, ...FLAGS, "--state", ""],
    /^--state names no file$/m,
  ],
  [
    "a --state that could not be written in the end",
    ["--mirror", "http://127.0.0.2:9", ...FLAGS, "--state", join(folder, "nowhere", "state")],
    /^--state: there is no folder \S+\/nowhere$/m,
  ],
  ["an unknown option", ["--mirrors", "x"], /there is no option --mirrors/],
] as const) {
  test(`refused in one line: ${what}`, async () => {
    const result = await run(...args);
    assert.equal(result.status, 1);
    assert.equal(result.stdout, "");
    assert.match(result.stderr, line);
    assert.equal(result.stderr.trim().split("\n").length, 1);
  });
}

test.run();
