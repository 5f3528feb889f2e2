/**
 * Goal: a forgery is found even where everything around it agrees. Method: as in
 * forgeries.test.ts, one small thing at a time, and the exact number of mismatches where one
 * check alone can see it.
 */
import * as assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import { openAuditMirror } from "../../src/audit/audit-mirror.ts";
import { type Judge, newAuditState } from "../../src/audit/audit-state.ts";
import { compareRankings, cutLists } from "../../src/audit/compare.ts";
import { judgeMessage } from "../../src/audit/judge-message.ts";
import { judgeStar } from "../../src/audit/judge-star.ts";
import { OwnershipBuilder } from "../../src/audit/ownership.ts";
import type { ExportEntry, ExportRelease, ExportStar } from "../../src/journal/export-format.ts";
import { silentLogger } from "../../src/log.ts";
import { type Auditing, auditWorld } from "./audit-world.ts";
import { serveWorld, writeExports } from "./serve-world.ts";
import { KEYS, makeWorld, PAYER, rechain, tell, UNPUBLISHED, type World } from "./world.ts";

const truth = () => makeWorld({ seed: 7, days: 5, starsPerDay: 60 });

function edit(
  world: World,
  fits: (star: ExportStar) => boolean,
  to: (star: ExportStar) => ExportStar,
) {
  const index = world.stars.findIndex(fits);
  const star = world.stars[index];
  assert.ok(star !== undefined, "the history holds no such star");
  world.stars[index] = to(star);
}

test("an NFT the wallet never held, in place of one it held", async () => {
  const world = truth();
  edit(
    world,
    ({ scope, counted }) => scope === "event-day" && counted?.collectionA.length === 1,
    (star) => {
      const other = 99;
      const held = { ...star.held, collectionA: [other] };
      const counted = { collectionA: [other], collectionB: star.counted?.collectionB ?? null };
      return star.held.collectionA.length === 1 ? { ...star, held, counted } : star;
    },
  );
  const { byKind } = await auditWorld(world, { withApi: false });
  assert.equal(byKind.holdings, 1, JSON.stringify(byKind));
});

test("a message dated years ahead refutes no ranking of the others", async () => {
  const world = truth();
  const { asset } = world.topics;
  const message = asset.messages.at(-1);
  assert.ok(message !== undefined);
  const ahead = Date.UTC(3000, 0, 1);
  message.text = message.text.replace(/"timestamp":\d+/, `"timestamp":${ahead}`);
  rechain(asset);
  const { mismatches } = await auditWorld(world, { withExports: false });
  // The season has ended by then: its board shows one star more of the wallet.
  const { wallet, target_type, target_id } = JSON.parse(message.text);
  // Just after midnight the star was of yesterday, and its own item has one more today.
  const ofItself = `totalVotes of ${target_type}/${target_id}`;
  assert.deepEqual(
    mismatches
      .map(({ kind, where }) => [kind, where ?? null])
      .filter(([, where]) => where !== ofItself),
    [
      ["wrong-day", null],
      ["ranking", `leaderboard stars of ${wallet}`],
    ],
  );
});

test("NFTs the wallet held, left out of an event's star", async () => {
  const world = truth();
  const { length } = world.stars;
  // The last such star: nothing that comes later depends on what it counted.
  const last = [...world.stars]
    .reverse()
    .find(
      ({ scope, counted, held }) =>
        scope === "event-day" &&
        counted?.collectionB === null &&
        counted.collectionA.length > 0 &&
        held.collectionB.length === 0,
    );
  edit(
    world,
    ({ id }) => id === last?.id,
    (star) => ({
      ...star,
      held: { ...star.held, collectionA: [] },
      counted: { collectionA: [], collectionB: null },
      breakdown: { base: 1, collectionA: 0, collectionB: 0 },
      votingPower: 1,
      weight: 1,
    }),
  );
  assert.equal(world.stars.length, length);
  const { mismatches } = await auditWorld(world, { withApi: false });
  const holdings = mismatches.filter(({ kind }) => kind === "holdings");
  assert.deepEqual(
    holdings.map(({ starId, found }) => [starId, found]),
    [[last?.id, "A []"]],
  );
  // A star cast while the NFTs were read may hold what came since.
  const now = () => Date.parse(last?.at ?? "");
  const { byKind } = await auditWorld(world, { withApi: false, now });
  assert.ok(!("holdings" in byKind), JSON.stringify(byKind));
});

for (const [what, wanted, forge] of [
  [
    "a footer twice",
    /^nothing after the footer$/,
    (lines: string[]) => [...lines, lines.at(-1) ?? ""],
  ],
  [
    "other places on the topics",
    /^footer.sequences /,
    (lines: string[]) => {
      const places = { sequences: [{ topicId: "0.0.77", messages: 9, first: 1, last: 2 }] };
      return signed(lines.slice(0, -1), lines.at(-1), places);
    },
  ],
  [
    "a second header",
    /^one header$/,
    ([header = "", ...rest]: string[]) =>
      signed([header, header, ...rest.slice(0, -1)], rest.at(-1)),
  ],
  [
    "a final day that follows no day",
    /^final exactly where it follows a day$/,
    ([header = "", ...rest]: string[]) => {
      const unchained = JSON.stringify({ ...JSON.parse(header), previous: null });
      return signed([unchained, ...rest.slice(0, -1)], rest.at(-1), { chain: null });
    },
  ],
  [
    "a name that stands twice in a line",
    /^a line as the format writes it$/,
    ([header = "", star = "", ...rest]: string[]) => {
      const twice = star.replace('"weight":', '"weight":99,"weight":');
      return signed([header, twice, ...rest.slice(0, -1)], rest.at(-1));
    },
  ],
  [
    "a byte order mark",
    /^a readable export$/,
    ([header = "", ...rest]: string[]) =>
      signed([`\ufeff${header}`, ...rest.slice(0, -1)], rest.at(-1)),
  ],
  [
    "a star at the place of another",
    /^lines after star /,
    ([header = "", one = "", other = "", ...rest]: string[]) =>
      signed([header, other, one, ...rest.slice(0, -1)], rest.at(-1)),
  ],
] as const) {
  test(`${what} in an export`, async () => {
    const { mismatches } = await auditWorld(truth(), {
      withApi: false,
      onExports(folder) {
        const [, file = ""] = readdirSync(folder).sort();
        const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
        writeFileSync(join(folder, file), `${forge(lines).join("\n")}\n`);
      },
    });
    assert.ok(
      mismatches.some(({ kind, expected }) => kind === "export" && wanted.test(String(expected))),
    );
  });
}

/** Lines with a footer whose hash is right. */
function signed(lines: readonly string[], footer = "", change: object = {}): string[] {
  const sha256 = createHash("sha256")
    .update(`${lines.join("\n")}\n`)
    .digest("hex");
  return [...lines, JSON.stringify({ ...JSON.parse(footer), sha256, ...change })];
}

test("places of a wallet's day that do not rise with its instants", async () => {
  const world = truth();
  const second = world.stars.find(({ slot }) => slot === 2);
  const isFirst = ({ wallet, at, slot }: ExportStar) =>
    slot === 1 && wallet === second?.wallet && dayOf(Date.parse(at)) === second.at.slice(0, 10);
  edit(world, isFirst, (star) => ({ ...star, slot: 2 }));
  edit(
    world,
    ({ id }) => id === second?.id,
    (star) => ({ ...star, slot: 1 }),
  );
  const { byKind } = await auditWorld(world);
  assert.deepEqual(byKind, { allowance: 1 });
});

test("one character of a final export: its own hash and its own chain both say so", async () => {
  const { byKind, mismatches } = await auditWorld(truth(), {
    onExports(folder) {
      const [, name = ""] = readdirSync(folder).sort();
      const file = join(folder, name);
      writeFileSync(file, readFileSync(file, "utf8").replace('"xpPerStar":1', '"xpPerStar":2'));
    },
  });
  assert.deepEqual(byKind, { export: 2 });
  assert.match(String(mismatches[0]?.expected), /^footer\.sha256 /);
  assert.match(String(mismatches[1]?.expected), /^footer\.chain /);
});

test("a removal that takes another weight than the rules, and one of what is still held", async () => {
  const world = truth();
  const index = world.releases.findIndex(({ weight }) => weight === 1);
  const release = world.releases[index];
  assert.ok(release !== undefined);
  world.releases[index] = { ...release, weight: 0 };
  const light = await auditWorld(world, { withApi: false });
  assert.deepEqual(light.byKind, { removal: 1 });
  const other = truth();
  other.nfts["0.0.5001"]?.set(release.serial, [
    { at: 0, type: "TOKENMINT", sender: null, receiver: release.wallet },
  ]);
  const held = await auditWorld(other, { withApi: false });
  const found = held.mismatches.filter(({ kind }) => kind === "removal").map((each) => each.found);
  assert.ok(found.includes(`A ${release.serial} released`), String(found));
  // A check made while the NFTs were read may know what came since.
  const now = () => Date.parse(release.readAt);
  const since = await auditWorld(other, { withApi: false, now });
  assert.ok(!since.mismatches.some((each) => each.found === `A ${release.serial} released`));
});

test("a removal that names another wallet as the NFT's new holder", async () => {
  const world = truth();
  const index = world.releases.findIndex(({ weight }) => weight === 1);
  const release = world.releases[index] as ExportRelease;
  const { serial, wallet, readAt } = release;
  const history = world.nfts["0.0.5001"]?.get(serial) ?? [];
  const owner = history.findLast(({ at }) => at <= Date.parse(readAt))?.receiver ?? "";
  const named = async (change: Partial<ExportRelease>): Promise<readonly unknown[]> => {
    world.releases[index] = { ...release, ...change };
    const { mismatches } = await auditWorld(world);
    return mismatches.map(({ kind, expected, found }) => [kind, expected, found]);
  };
  assert.deepEqual(await named({ owner }), []);
  const forged = [["removal", `its holder of ${readAt}`, `A ${serial} of 0.0.9`]];
  assert.deepEqual(await named({ owner: "0.0.9" }), forged);
  // A deleted collection names its last holders on.
  assert.deepEqual(await named({ owner: wallet, deleted: true }), []);
});

test("an NFT that is sold while the mirror node is asked about it is no forged removal", async () => {
  const world = truth();
  const index = world.releases.findIndex(({ weight }) => weight === 1);
  const release = world.releases[index] as ExportRelease;
  const { serial, wallet, readAt } = release;
  const read = Date.parse(readAt);
  const type = "CRYPTOTRANSFER";
  // An answer may take seconds, and the ledger's clock may be ahead of ours.
  world.nfts["0.0.5001"]?.set(serial, [
    { at: 0, type: "TOKENMINT", sender: null, receiver: wallet },
    { at: read + 6_000, type, sender: wallet, receiver: "0.0.9" },
    { at: read + 6_500, type, sender: "0.0.9", receiver: "0.0.900" },
  ]);
  const releasedAt = new Date(read + 3_000).toISOString();
  world.releases[index] = { ...release, owner: "0.0.9", releasedAt };
  const { mismatches } = await auditWorld(world, { withApi: false });
  const forged = [`A ${serial} released`, `A ${serial} of 0.0.9`];
  const found = mismatches.filter(({ where, found: seen }) => {
    return where === `event/${release.mint} ${wallet}` && forged.includes(String(seen));
  });
  assert.deepEqual(found, []);
});

test("a transaction id that is not its message's; a mirror node that leaves it out proves nothing", async () => {
  const world = truth();
  const [star] = world.stars;
  assert.ok(star !== undefined);
  const { runningHash, transactionId: own } = star.publication;
  const publish = (change: Partial<ExportStar["publication"]>) => {
    world.stars[0] = { ...star, publication: { ...star.publication, ...change } };
  };
  const said = async (auditing: Auditing = {}): Promise<readonly unknown[]> => {
    const { mismatches } = await auditWorld(world, auditing);
    return mismatches.map(({ kind, starId, found }) => [kind, starId, found]);
  };
  const found = "another time, running hash or transaction id";
  const transactionId = "0.0.7@1700000000.000000001";
  publish({ transactionId, runningHash: `${runningHash} ${own}` });
  assert.deepEqual(await said(), [["message-differs", star.id, found]]);
  publish({ transactionId });
  assert.deepEqual(await said(), [["message-differs", star.id, found]]);
  const onMirror: Auditing["onMirror"] = (mirror) => ({
    ...mirror,
    async topicMessages(topic, page) {
      const read = await mirror.topicMessages(topic, page);
      return { ...read, messages: read.messages.map((each) => ({ ...each, chunk: null })) };
    },
  });
  assert.deepEqual(await said({ onMirror }), []);
});

test("a star on a token that added less by its export than its power", async () => {
  const world = truth();
  edit(
    world,
    ({ target }) => target.type === "token",
    (star) => ({ ...star, weight: star.weight - 1, breakdown: { ...star.breakdown, base: 0 } }),
  );
  const { mismatches } = await auditWorld(world, { withApi: false });
  const star = world.stars.find(({ target }) => target.type === "token");
  assert.deepEqual(
    mismatches.map(({ kind, expected, found }) => [kind, expected, found]),
    [["export", `weight ${star?.votingPower}`, star?.weight]],
  );
});

test("a star in the export of another day", () => {
  const [star] = truth().stars as [ExportStar];
  const found = judgeStar(star, { day: "2001-01-01", keys: KEYS });
  assert.deepEqual(
    found.map(({ expected }) => expected),
    ["a star of 2001-01-01"],
  );
});

test("an event that nobody starred, and that has votes all the same", async () => {
  const world = truth();
  const nobody = { type: "event", id: "nobody", eventKind: "OTHER", ledgerId: null } as const;
  world.edits.set("event/nobody", 3);
  const { mismatches } = await auditWorld({ ...world, items: [...world.items, nobody] });
  assert.deepEqual(
    mismatches.map(({ where, expected, found }) => [where, expected, found]),
    [["totalVotes of event/nobody", 0, 3]],
  );
});

test("a message of no star, with the account that paid for it", async () => {
  const world = truth();
  const [star] = world.stars.splice(0, 1);
  const { mismatches } = await auditWorld(world, { withApi: false });
  const noStar = mismatches.filter(({ kind }) => kind === "no-star");
  assert.deepEqual(
    noStar.map(({ sequenceNumber, found }) => [sequenceNumber, found]),
    [[star?.publication.sequenceNumber, `none; ${PAYER} paid for the message`]],
  );
});

test("a removal that stands in an export twice, or before the stars", async () => {
  const world = truth();
  const [release] = world.releases;
  assert.ok(release !== undefined);
  world.releases.unshift(release);
  const { byKind, mismatches } = await auditWorld(world, { withApi: false });
  assert.deepEqual(byKind, { export: 1 });
  assert.match(String(mismatches[0]?.expected), /^lines after release /);
  const onExports = (folder: string): void => {
    const file = join(folder, `${release.releasedAt.slice(0, 10)}.ndjson`);
    const [header = "", ...rest] = readFileSync(file, "utf8").trimEnd().split("\n");
    const isRelease = (line: string) => line.includes('"kind":"release"');
    const body = [...rest.filter(isRelease), ...rest.filter((line) => !isRelease(line))];
    writeFileSync(file, `${[header, ...body].join("\n")}\n`);
  };
  const moved = await auditWorld(truth(), { withApi: false, onExports });
  assert.ok(
    moved.mismatches.some(
      ({ expected, found }) =>
        /^lines after release /.test(`${expected}`) && /^star /.test(`${found}`),
    ),
  );
});

test("a loss, and a conflict, that stand in the export of another day", async () => {
  const world = truth();
  const { firstDay, topics } = world;
  const [star] = world.stars.slice(-1) as [ExportStar];
  const { id, wallet, at, target, topic, message, publication } = star;
  const lost = { kind: "lost", topicId: topics.asset.id, sequenceNumber: 9_999 } as const;
  const conflict = { kind: "conflict", id, wallet, at } as const;
  const named = { target: { type: target.type, id: target.id }, conflictsWith: id };
  world.apart.set(firstDay, [
    { ...conflict, ...named, topic, message, publication },
    { ...lost, acceptedAt: at },
  ]);
  const { mismatches } = await auditWorld(world, { withApi: false });
  assert.deepEqual(
    mismatches.flatMap(({ kind, expected, found }) =>
      kind === "export" ? [[expected, found]] : [],
    ),
    [
      [`conflict on ${firstDay}`, at],
      [`lost on ${firstDay}`, at],
    ],
  );
});

/** What the list of exports says, forged; the exports themselves are true. */
const listing = (forge: (list: ExportEntry[]) => readonly ExportEntry[]): Auditing => ({
  isServed: true,
  onAnswer: (path, body) =>
    path === "/exports" ? { exports: forge((body as { exports: ExportEntry[] }).exports) } : body,
});

for (const field of ["stars", "releases", "sha256", "chain", "bytes"] as const)
  test(`another ${field} of a day in the list of exports than in the export`, async () => {
    const wrong = field === "sha256" || field === "chain" ? "7".repeat(64) : 9_999;
    const forged = listing((list) => list.with(1, { ...(list[1] as ExportEntry), [field]: wrong }));
    const { byKind, mismatches } = await auditWorld(truth(), forged);
    assert.deepEqual(byKind, { export: 1 });
    assert.equal(mismatches[0]?.found, String(wrong));
    assert.match(String(mismatches[0]?.expected), new RegExp(`^${field} in the list `));
  });

test("a list of exports that says final what is not, or leaves a day before a final one open", async () => {
  const today = listing((list) => {
    const [open, final] = [list.at(-1), list.at(-2)] as [ExportEntry, ExportEntry];
    return list.with(-1, { ...final, day: open.day });
  });
  const early = await auditWorld(truth(), today);
  assert.ok(early.mismatches.some(({ expected }) => expected === "final in the list false"));
  const second = listing((list) => {
    const [open, final] = [list.at(-1), list[1]] as [ExportEntry, ExportEntry];
    return list.with(1, { ...open, day: final.day });
  });
  const { mismatches } = await auditWorld(truth(), second);
  assert.deepEqual(
    mismatches.map(({ kind, expected }) => [kind, expected]),
    [["export", "final in the list after a day that is not false"]],
  );
});

test("a list of exports that names a day twice, or not in order, is none", async () => {
  for (const forge of [
    (list: ExportEntry[]) => [{ ...(list[0] as ExportEntry), bytes: 1 }, ...list],
    (list: ExportEntry[]) => list.toReversed(),
  ])
    await assert.rejects(auditWorld(truth(), listing(forge)), /: not a list of exports$/);
});

test("days with stars that the list of exports leaves out", async () => {
  const { firstDay } = truth();
  const wheres = async (forge: Parameters<typeof listing>[0]) => {
    const { mismatches } = await auditWorld(truth(), { ...listing(forge), withApi: false });
    return mismatches.map(({ kind, where, found }) => [kind, where, found].join(" "));
  };
  const first = await wheres((list) => list.slice(1));
  assert.ok(first.includes(`export ${firstDay} no export of this day`), String(first));
  // The day that is then the first follows one of before.
  assert.equal(first.length, 2, String(first));
  const last = await wheres((list) => list.slice(0, -2));
  assert.ok(
    last.every((each) => each.endsWith("no export of this day")),
    String(last),
  );
  assert.ok(last.length > 0);
});

test("an NFT that stands twice among those an event's star counts", async () => {
  const world = truth();
  const isLast = world.stars.findLast(
    ({ scope, counted }) => scope === "event-day" && (counted?.collectionA.length ?? 0) > 0,
  );
  const [serial = 0] = isLast?.counted?.collectionA ?? [];
  edit(
    world,
    ({ id }) => id === isLast?.id,
    (star) => ({
      ...star,
      held: { ...star.held, collectionA: [serial, ...star.held.collectionA] },
      counted: {
        collectionA: [serial, ...(star.counted?.collectionA ?? [])],
        collectionB: star.counted?.collectionB ?? null,
      },
      breakdown: { ...star.breakdown, collectionA: star.breakdown.collectionA + 1 },
      votingPower: star.votingPower + 1,
      weight: star.weight + 1,
    }),
  );
  const { mismatches } = await auditWorld(world);
  assert.ok(mismatches.some(({ found }) => /^line \d+: counted\.collectionA$/.test(String(found))));
});

test("a removal whose evidence is of later, of another day, or of long ago", async () => {
  const { releases } = truth();
  const index = releases.findIndex(({ weight }) => weight === 1);
  const { releasedAt = "" } = releases[index] ?? {};
  const moved = (ms: number) => new Date(Date.parse(releasedAt) + ms).toISOString();
  for (const change of [
    { readAt: "2999-01-01T00:00:00.000Z" },
    { listedAt: "2999-01-01T00:00:00.000Z" },
    { listedAt: moved(-2 * DAY_MS) },
    // At that time nobody held it.
    { readAt: "1970-01-02T00:00:00.000Z", owner: null },
  ]) {
    const world = truth();
    world.releases[index] = { ...(world.releases[index] as ExportRelease), ...change };
    const { mismatches } = await auditWorld(world);
    assert.deepEqual(
      mismatches.map(({ kind, expected }) => [kind, expected]),
      [["removal", `evidence of ${releasedAt.slice(0, 10)}, then the release`]],
    );
  }
});

test("a +5 that ends although its wallet held another collection B NFT to carry it on", async () => {
  const world = makeWorld({ seed: 2, days: 5, starsPerDay: 60 });
  const index = world.releases.findLastIndex(({ spare }) => spare !== null);
  const release = world.releases[index] as ExportRelease;
  const spares = async (of: World): Promise<readonly unknown[]> => {
    const { mismatches } = await auditWorld(of);
    return mismatches.map(({ found }) => found).filter((found) => /^spares /.test(String(found)));
  };
  world.releases[index] = { ...release, heldB: [], spare: null, weight: 5 };
  assert.deepEqual(await spares(world), ["spares from B []"]);
  // The holdings of an excluded wallet are not read where a star's reading is the evidence.
  assert.deepEqual(await spares({ ...world, excluded: [release.wallet] }), []);
  // Nor may one carry it on that the wallet did not hold.
  world.releases[index] = { ...release, heldB: [99], spare: 99 };
  assert.deepEqual(await spares(world), ["spares from B [99]"]);
});

test("a star that an export gives to another project than its message names", async () => {
  const world = truth();
  const of = ({ target }: ExportStar) => target.id === "bridge";
  edit(world, of, (star) => ({ ...star, target: { ...star.target, id: "wallet" } }));
  const { mismatches } = await auditWorld(world, { withApi: false });
  assert.deepEqual(
    mismatches.map(({ kind, found }) => [kind, /"target_id":"(\w+)"/.exec(String(found))?.[1]]),
    [["export", "bridge"]],
  );
});

test("a project's ledger id that an export gives to another project from some star on", async () => {
  const world = truth();
  const last = world.stars.findLast(({ target }) => target.id === "wallet");
  const of = ({ id }: ExportStar) => id === last?.id;
  edit(world, of, (star) => ({ ...star, target: { ...star.target, id: "bridge" } }));
  const { mismatches } = await auditWorld(world, { withApi: false });
  assert.deepEqual(
    mismatches.map(({ kind, starId, expected, found }) => [kind, starId, expected, found]),
    [["export", last?.id, "project/wallet", "project/bridge"]],
  );
});

test("a second star of a day for a project, under its other name", async () => {
  const world = truth();
  const { asset } = world.topics;
  const isAgain = (one: ExportStar) =>
    one.scope === "none" &&
    one.target.id !== "wallet" &&
    world.stars.some(
      ({ wallet, at, target }) =>
        wallet === one.wallet && at.slice(0, 10) === one.at.slice(0, 10) && target.id === "wallet",
    );
  edit(world, isAgain, (star) => {
    const text = star.message
      .replace(/"target_id":"[^"]+"/, '"target_id":"wallet"')
      .replace(/"target_type":"\w+"/, '"target_type":"project"');
    const message = asset.messages.find(({ starId }) => starId === star.id);
    assert.ok(message !== undefined);
    message.text = text;
    return { ...star, message: text, target: { ...star.target, type: "project", id: "wallet" } };
  });
  rechain(asset);
  tell(world, asset);
  const { byKind } = await auditWorld(world);
  assert.deepEqual(byKind, { "once-per-day": 1 });
});

test("a second star of a day for an event, as if it were a forever mint", async () => {
  const world = truth();
  const { event } = world.topics;
  const message = event.messages.find(({ text }) => text.includes("HACKATHON"));
  assert.ok(message !== undefined);
  const at = Number(/"timestamp":(\d+)/.exec(message.text)?.[1]);
  const text = message.text.replace("HACKATHON", "FOREVER_MINT").replace(`${at}`, `${at + 1}`);
  const [seconds, nanos] = message.consensus.split(".");
  const consensus = `${seconds}.${String(Number(nanos) + 1).padStart(9, "0")}`;
  const place = event.messages.indexOf(message) + 1;
  event.messages.splice(place, 0, { ...message, text, consensus, starId: "" });
  event.messages.forEach((each, index) => {
    each.sequence = index + 1;
  });
  rechain(event);
  const { byKind } = await auditWorld(world, { withApi: false, withExports: false });
  assert.deepEqual(byKind, { "event-type": 1 });
});

test("a star whose message an export places on a topic that is not audited proves no total", async () => {
  const world = truth();
  const of = ({ scope }: ExportStar) => scope === "event-day";
  const star = world.stars.find(of);
  edit(world, of, (one) => ({
    ...one,
    publication: { ...one.publication, topicId: "0.0.8009" },
  }));
  const { unprovable } = await auditWorld(world);
  const doubt = "messages on 0.0.8009: that topic is not audited";
  assert.ok(unprovable.includes(`totalVotes of event/${star?.target.id}: ${doubt}`));
  const weights = "weights on the leaderboard: those of some events are not proved";
  assert.deepEqual(
    unprovable.filter((line) => line === weights),
    [weights],
  );
  // Nor does one that waits since before the late hours, where its messages go to such a topic.
  const { topics, stars } = truth();
  const waiting = stars.map((each) => ({ ...each, publication: UNPUBLISHED }));
  const onExports = (folder: string) => {
    rmSync(folder, { recursive: true });
    writeExports({ ...truth(), stars: waiting }, folder, startOfDay(world.firstDay) + 1);
  };
  const onAsset = { event: [], asset: [topics.asset.id] };
  const half = await auditWorld(truth(), { withApi: false, onExports, topics: onAsset });
  assert.deepEqual(half.mismatches, []);
  assert.ok(half.unprovable.includes(`messages on ${topics.event.id}: that topic is not audited`));
});

test("a mirror node that has more messages than it gives", async () => {
  const world = truth();
  const served = await serveWorld(world);
  const mirror = openAuditMirror({
    urls: [served.url],
    log: silentLogger,
    requestsPerSecond: Number.POSITIVE_INFINITY,
  });
  const last = world.topics.event.messages.length;
  const topicMessages: typeof mirror.topicMessages = async (topic, from) => {
    const page = await mirror.topicMessages(topic, from);
    if (from.newestFirst || topic !== world.topics.event.id) return page;
    return { ...page, messages: page.messages.filter(({ sequenceNumber }) => sequenceNumber < 60) };
  };
  const conclusion = await auditWorld(world, {
    mirror: { ...mirror, topicMessages },
    withExports: false,
    withApi: false,
  });
  await served.close();
  const gaps = conclusion.mismatches.map(({ kind, expected, found }) => [kind, expected, found]);
  assert.deepEqual(gaps, [["gap", last, 59]]);
});

test("stars within a minute of a transfer leave an event's total unproved, and the audit says so", async () => {
  const { unprovable } = await auditWorld(truth(), { withExports: false });
  assert.ok(unprovable.some((line) => line.includes("an NFT moved within a minute of a star")));
});

test("a ranking in the wrong order", () => {
  const row = (rank: number, id: string, totalVotes: number) => {
    return { rank, id, totalVotes, votes7d: 0, votes30d: 0 };
  };
  const reading = { from: 0, until: 0, ends: null };
  const rankings = {
    tokens: [row(1, "0.0.20", 0), row(2, "0.0.9", 0)],
    collections: [row(1, "0.0.9", 0), row(2, "0.0.20", 0)],
    projects: [],
    events: [],
    leaderboard: null,
    reading,
    clocksDifferMs: 0,
  };
  const { mismatches } = compareRankings(newAuditState([]), rankings, reading);
  assert.deepEqual(
    mismatches.map(({ kind, where }) => [kind, where]),
    [["order-of-ranking", "tokens/top"]],
  );
  const collections = [row(1, "0.0.9", 0), row(1, "0.0.20", 0)];
  const shared = compareRankings(
    newAuditState([]),
    { ...rankings, tokens: [], collections },
    reading,
  );
  assert.deepEqual(
    shared.mismatches.map(({ kind, where, found }) => [kind, where, found]),
    [["order-of-ranking", "collections/top", 1]],
  );
});

/** One answer of the API, forged. */
const answering = (of: string, forge: (body: Answer) => object): Auditing => ({
  onAnswer: (path, body) => (path === of ? forge(body as Answer) : body),
});
type Answer = Record<string, { readonly id: string; readonly rank: number }[]>;

test("a wallet that a leaderboard lists twice, with other points", async () => {
  const twice = answering("/v1/leaderboard", ({ leaderboard = [], ...rest }) => {
    const rows = [{ ...leaderboard[3], points: 9_999 }, ...leaderboard];
    return { ...rest, leaderboard: rows.map((row, index) => ({ ...row, rank: index + 1 })) };
  });
  const { mismatches } = await auditWorld(truth(), twice);
  assert.deepEqual(
    mismatches.map(({ kind, where, found }) => [kind, where, found]),
    [["order-of-ranking", "leaderboard", "at 5 too"]],
  );
});

test("a leaderboard of a season that is over, or to come", async () => {
  for (const year of ["1999", "2999"]) {
    const [startsAt, endsAt] = [`${year}-01-01T00:00:00.000Z`, `${year}-02-01T00:00:00.000Z`];
    const other = answering("/v1/leaderboard", ({ season }) => {
      return { season: { ...season, startsAt, endsAt }, leaderboard: [] };
    });
    const { mismatches } = await auditWorld(truth(), other);
    assert.deepEqual(
      mismatches.map(({ kind, where, found }) => [kind, where, found]),
      [["ranking", "season of the leaderboard", `${startsAt} to ${endsAt}`]],
    );
  }
});

test("an event that the API calls no forever mint, and its messages one", async () => {
  const forged = answering("/v1/events", ({ events = [], ...rest }) => ({
    ...rest,
    events: events.map((event) => ({ ...event, isForeverMint: false })),
  }));
  const { mismatches } = await auditWorld(truth(), forged);
  assert.deepEqual(
    mismatches.map(({ kind, where }) => [kind, where]),
    [["event-type", "isForeverMint of event/mint"]],
  );
});

test("a list that ends before its total, or goes on behind it, is no answer of the API", async () => {
  const short = answering("/v1/events", ({ events = [], ...rest }) => {
    return { ...rest, events: events.slice(0, 1) };
  });
  await assert.rejects(
    auditWorld(truth(), short),
    /^Error: \/events: hasMore is false after 1 records of 3$/,
  );
  const long = answering("/v1/ecosystem", (body) => ({ ...body, hasMore: true }));
  await assert.rejects(
    auditWorld(truth(), long),
    /^Error: \/ecosystem: hasMore is true after 2 records of 2$/,
  );
});

test("starred items that the lists leave out are named: their approval is not public", async () => {
  const world = truth();
  const named = async (items: World["items"]) => {
    const { ok, unprovable } = await auditWorld({ ...world, items });
    assert.equal(ok, true);
    return unprovable;
  };
  const why = "in no list though starred, as where approval is withdrawn";
  const items = world.items.filter(({ id }) => id !== "0.0.7102" && id !== "hack");
  assert.deepEqual(await named(items), [`${why}: event/hack, token/0.0.7102`]);
  const first = "collection/0.0.7201, event/hack, event/meetup, event/mint, project/bridge";
  assert.deepEqual(await named([]), [`${why}: ${first}, … 8 in all`]);
});

test("replies that are dated into another day are noted", async () => {
  for (const ms of [DAY_MS, -DAY_MS]) {
    const { notes } = await auditWorld(truth(), { dated: () => new Date(Date.now() + ms) });
    assert.equal(notes.length, 1);
    assert.match(String(notes), /^the API's clock, .* is 86[34]\d\d s from this one$/);
  }
  assert.deepEqual((await auditWorld(truth())).notes, []);
});

test("a leaderboard that ends with its page says nothing of the wallets below", () => {
  const row = { wallet: "0.0.1", points: 1, stars: 1, weight: 1 };
  const entries = Array.from({ length: 100 }, (_, index) => ({ ...row, rank: index + 1 }));
  const season = { id: "season", startsAt: 0, endsAt: 1 };
  const reading = { from: 0, until: 0 };
  const lists = {
    tokens: [],
    collections: [],
    projects: [],
    events: [],
    reading,
    clocksDifferMs: 0,
  };
  assert.deepEqual(cutLists({ ...lists, leaderboard: { season, entries } }), [
    "wallets below place 100: the API does not list them",
  ]);
});

test("a pass outside the dates of its season is named: an operator may have moved them since", async () => {
  // The season of the leaderboard begins with the second day.
  for (const isOn of [true, false]) {
    const world = truth();
    const fits = ({ at }: ExportStar) => at.startsWith(world.firstDay) !== isOn;
    const seasonId = "018f3f6e-0000-7000-8000-00000000beef";
    edit(world, fits, (star) => ({ ...star, limit: 20, seasonId }));
    const forged = answering("/v1/leaderboard", ({ season, ...rest }) => {
      return { ...rest, season: { ...season, id: seasonId } };
    });
    const { byKind, unprovable } = await auditWorld(world, forged);
    assert.deepEqual(byKind, {});
    const why = "the leaderboard's season was not on, unless its dates were moved since";
    assert.deepEqual(unprovable, isOn ? [] : [`passes on ${world.firstDay}: ${why}`]);
  }
});

test("a star that an export gives to the other topic", async () => {
  const world = truth();
  edit(
    world,
    ({ topic }) => topic === "event",
    (star) => ({ ...star, topic: "asset" }),
  );
  const { mismatches } = await auditWorld(world, { withApi: false });
  assert.deepEqual(
    mismatches.map(({ kind, expected, found }) => [kind, expected, found]),
    [["export", "topic event", "asset"]],
  );
});

test("a message in more than one piece, or on the other topic, is foreign", () => {
  const emptyOwnership = new OwnershipBuilder();
  const judge: Judge = {
    // A message is judged without asking anything more.
    mirror: {} as Judge["mirror"],
    collections: { a: "0.0.1", b: "0.0.2" },
    exports: null,
    ownedAt: 0,
    kinds: new Map([
      ["0.0.8001", "event_vote"],
      ["0.0.8002", "asset_vote"],
    ]),
    keys: KEYS,
    ownerships: { A: emptyOwnership, B: emptyOwnership },
    excluded: new Set(),
    reading: { from: 0, until: 0, ends: null },
    day: null,
    lateMs: 0,
    stateFile: null,
    known: new Map(),
  };
  const text = `{"type":"event_vote","version":1,"wallet":"0.0.1","event_id":"a","event_type":"OTHER","vote":"up","timestamp":1000}`;
  const kindsOf = (topicId: string, total: number): readonly string[] => {
    const state = newAuditState([]);
    judgeMessage(judge, state, {
      topicId,
      sequenceNumber: 1,
      consensusTimestamp: "1.000000000",
      bytes: Buffer.from(text),
      payer: "0.0.2",
      runningHash: "",
      runningHashVersion: 3,
      chunk: { transactionId: "0.0.2@1.000000000", number: 1, total },
    });
    return Object.keys(state.findings.byKind);
  };
  assert.deepEqual(kindsOf("0.0.8001", 1), []);
  assert.deepEqual(kindsOf("0.0.8001", 2), ["foreign"]);
  assert.deepEqual(kindsOf("0.0.8002", 1), ["foreign"]);
});

test.run();
