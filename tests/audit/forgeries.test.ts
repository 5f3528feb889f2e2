/**
 * Goal: whatever is forged is found, and named. Method: a true history of five days, made by the
 * service's own machines, on a mirror node and an API of the test; one forgery each, as good as
 * its forger can make it. The true history itself passes.
 */
import * as assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import type { AuditMirror } from "../../src/audit/audit-mirror.ts";
import type { Conclusion } from "../../src/audit/conclude.ts";
import type { ExportStar } from "../../src/journal/export-format.ts";
import { MirrorError } from "../../src/ledger/mirror/error.ts";
import { type Auditing, auditWorld } from "./audit-world.ts";
import { writeExports } from "./serve-world.ts";
import { ITEMS, makeWorld, rechain, type Topic, tell, UNPUBLISHED, type World } from "./world.ts";

const forgery = suite("forgeries");
const truth = () => makeWorld({ seed: 7, days: 5, starsPerDay: 60 });

/** Audits a forged world: it must not pass, and the named kinds must be among the reasons. */
async function caught(
  world: World,
  kinds: readonly string[],
  auditing: Auditing = {},
): Promise<Conclusion> {
  const conclusion = await auditWorld(world, auditing);
  assert.equal(conclusion.ok, false);
  for (const kind of kinds) assert.ok(kind in conclusion.byKind, `${kind}: ${say(conclusion)}`);
  return conclusion;
}

function say({ byKind, mismatches }: Conclusion): string {
  return JSON.stringify({ byKind, first: mismatches[0] });
}

function middle(topic: Topic): number {
  return Math.floor(topic.messages.length / 2);
}

/** The star at a place among those that fit, and how to put another in its place. */
function replace(
  world: World,
  fits: (star: ExportStar) => boolean,
  by: (star: ExportStar) => ExportStar,
) {
  const index = world.stars.findIndex(fits);
  const star = world.stars[index];
  assert.ok(star !== undefined, "the history holds no such star");
  world.stars[index] = by(star);
  return star;
}

forgery("the true history passes, with exports and without", async () => {
  const world = truth();
  const withExports = await auditWorld(world);
  assert.equal(withExports.ok, true, say(withExports));
  assert.deepEqual(withExports.unprovable, []);
  // Five items by three counters, three events, twelve wallets by two.
  assert.equal(withExports.checked.rankings, 42);
  assert.equal(withExports.checked.exportedStars, world.stars.length);
  assert.ok(world.releases.length > 0);
  const without = await auditWorld(world, { withExports: false });
  assert.equal(without.ok, true, say(without));
  assert.ok(without.checked.rankings >= 9);
});

/** Takes the last star of its wallet's day out of the journal, and leaves its message on the ledger. */
function takeOut(world: World): ExportStar {
  const index = world.stars.findIndex(
    (star) =>
      star.scope === "none" &&
      !world.stars.some(
        ({ wallet, at, slot }) =>
          wallet === star.wallet && at.slice(0, 10) === star.at.slice(0, 10) && slot > star.slot,
      ),
  );
  const [star] = world.stars.splice(index, 1);
  assert.ok(star !== undefined);
  return star;
}

forgery(
  "a message that exports set apart is listed and counts nowhere; one of other bytes is not",
  async () => {
    const world = truth();
    const [conflict, lost] = [takeOut(world), takeOut(world)];
    const { id, wallet, at, target, topic, message, publication } = conflict;
    const conflictsWith = world.stars[0]?.id ?? "";
    const line = { id, wallet, at, target: { type: target.type, id: target.id } };
    const day = at.slice(0, 10);
    const set = (text: string) =>
      world.apart.set(day, [
        { kind: "conflict", ...line, conflictsWith, topic, message: text, publication },
      ]);
    set(message);
    const { topicId, sequenceNumber } = lost.publication;
    assert.ok(topicId !== null && sequenceNumber !== null);
    // The loss is accepted later than the star was cast.
    const acceptedOn = dayOf(Date.now());
    const acceptedAt = new Date().toISOString();
    const accepted = { kind: "lost", topicId, sequenceNumber, acceptedAt } as const;
    world.apart.set(acceptedOn, [...(world.apart.get(acceptedOn) ?? []), accepted]);
    const conclusion = await auditWorld(world);
    assert.equal(conclusion.ok, true, say(conclusion));
    assert.equal(conclusion.knownCount, 2);
    const place = {
      topic: conflict.publication.topicId,
      sequenceNumber: conflict.publication.sequenceNumber,
    };
    const byKind = Object.fromEntries(conclusion.known.map((matter) => [matter.kind, matter]));
    assert.deepEqual(byKind, {
      conflict: { kind: "conflict", ...place, day, starId: id, conflictsWith },
      lost: { kind: "lost", topic: topicId, sequenceNumber, day: acceptedOn },
    });
    set(message.replace("0.0.", "0.0.9"));
    await caught(world, ["no-star"]);
  },
);

forgery("1 changed weight: holdings and power of a star on a token, chain and all", async () => {
  const world = truth();
  const { asset } = world.topics;
  const message = asset.messages[middle(asset)];
  assert.ok(message !== undefined);
  message.text = message.text
    .replace(/"voting_power":(\d+)/, (_, power) => `"voting_power":${Number(power) + 40}`)
    .replace(/"alpha":(\d+)/, (_, count) => `"alpha":${Number(count) + 40}`);
  rechain(asset);
  const alone = await caught(world, ["holdings"], { withExports: false, withApi: false });
  const [first] = alone.mismatches;
  assert.equal(first?.sequenceNumber, message.sequence);
  assert.equal(first?.message, message.text);
  await caught(world, ["holdings", "message-differs"]);
});

forgery("a mirror node that goes away while an export is judged ends the audit", async () => {
  const world = truth();
  const { asset } = world.topics;
  const message = asset.messages[middle(asset)];
  assert.ok(message !== undefined);
  message.text = message.text.replace("0.0.", "0.0.9");
  rechain(asset);
  const gone = new MirrorError("network", "it is away");
  let asked = 0;
  const onMirror = (mirror: AuditMirror): AuditMirror => ({
    ...mirror,
    topicMessages(topic, page) {
      // The text of a message that differs from its export is read again.
      if (topic !== asset.id || page.afterSequence !== message.sequence - 1)
        return mirror.topicMessages(topic, page);
      asked += 1;
      return Promise.reject(gone);
    },
  });
  await assert.rejects(auditWorld(world, { onMirror }), gone);
  assert.equal(asked, 1);
});

forgery("1b changed weight: power that its own holdings do not give", async () => {
  const world = truth();
  const { asset } = world.topics;
  const message = asset.messages.filter(({ text }) => text.includes('"token"')).at(-1);
  assert.ok(message !== undefined);
  message.text = message.text.replace(
    /"voting_power":(\d+)/,
    (_, n) => `"voting_power":${Number(n) + 1}`,
  );
  rechain(asset);
  await caught(world, ["voting-power", "ranking"], { withExports: false });
});

forgery("2 dropped message: left out, and left out with a chain made anew", async () => {
  const world = truth();
  const { event } = world.topics;
  event.messages.splice(middle(event), 1);
  await caught(world, ["gap"], { withExports: false });
  event.messages.forEach((message, index) => {
    message.sequence = index + 1;
  });
  rechain(event);
  await caught(world, ["no-message"]);
});

forgery("2b a star without a message, which its export dates into the future", async () => {
  const world = truth();
  const { event } = world.topics;
  const [gone] = event.messages.splice(middle(event), 1);
  event.messages.forEach((message, index) => {
    message.sequence = index + 1;
  });
  rechain(event);
  tell(world, event);
  const isGone = ({ id }: ExportStar) => id === gone?.starId;
  replace(world, isGone, (star) => {
    const place = { sequenceNumber: 9_999, consensusTimestamp: "9999999999.000000000" };
    return { ...star, publication: { ...star.publication, ...place } };
  });
  await caught(world, ["wrong-day"], { withApi: false });
});

forgery("2c a star without a message, of a day that is never called final", async () => {
  const world = truth();
  const { event } = world.topics;
  const [gone] = event.messages.splice(middle(event), 1);
  event.messages.forEach((message, index) => {
    message.sequence = index + 1;
  });
  rechain(event);
  tell(world, event);
  const star = world.stars.find(({ id }) => id === gone?.starId);
  assert.ok(star !== undefined);
  const isGone = ({ id }: ExportStar) => id === star.id;
  replace(world, isGone, (each) => ({ ...each, publication: UNPUBLISHED }));
  const onExports = (folder: string) => {
    rmSync(folder, { recursive: true });
    writeExports(world, folder, Date.parse(star.at));
  };
  const given = { withApi: false, isLive: true, onExports } as const;
  const { byKind } = await caught(world, ["no-message"], given);
  assert.deepEqual(byKind, { "no-message": 1 });
  // A message may come so much later.
  const lateMs = Date.now() - Date.parse(star.at) + 60_000;
  const inTime = await auditWorld(world, { ...given, lateMs });
  assert.equal(inTime.ok, true, say(inTime));
});

forgery("3 reordered messages", async () => {
  const world = truth();
  const { asset } = world.topics;
  const at = middle(asset);
  const [one, other] = [asset.messages[at], asset.messages[at + 1]];
  assert.ok(one !== undefined && other !== undefined);
  [one.text, other.text] = [other.text, one.text];
  await caught(world, ["chain"], { withExports: false, withApi: false });
  rechain(asset);
  await caught(world, ["message-differs"]);
});

forgery("4 doubled message", async () => {
  const world = truth();
  const { asset } = world.topics;
  const twin = asset.messages[middle(asset)];
  assert.ok(twin !== undefined);
  asset.messages.splice(middle(asset) + 1, 0, {
    ...twin,
    consensus: laterBy(twin.consensus),
    starId: "",
  });
  asset.messages.forEach((message, index) => {
    message.sequence = index + 1;
  });
  rechain(asset);
  tell(world, asset);
  await caught(world, ["duplicate"], { withExports: false, withApi: false });
  await caught(world, ["duplicate", "no-star"]);
});

forgery("5 wrong day: a star dated a day back", async () => {
  const world = truth();
  const { asset } = world.topics;
  const message = asset.messages[asset.messages.length - 1];
  assert.ok(message !== undefined);
  message.text = message.text.replace(
    /"timestamp":(\d+)/,
    (_, at) => `"timestamp":${Number(at) - DAY_MS}`,
  );
  rechain(asset);
  await caught(world, ["wrong-day"], { withExports: false, withApi: false });
});

forgery("6 sixth star of a wallet's day, stored and published like any other", async () => {
  const world = truth();
  const fifth = world.stars.find(
    ({ slot, at }) => slot === 5 && dayOf(Date.parse(at)) !== dayOf(Date.now()),
  );
  assert.ok(fifth !== undefined, "somebody has five stars");
  addStar(world, { ...fifth, slot: 6, at: later(fifth.at, 60_000) });
  await caught(world, ["allowance"]);
});

for (const wallet of ["0.0.99999", "0.0.999999999999"])
  forgery(`7 unknown wallet ${wallet}`, async () => {
    const world = truth();
    const star = world.stars.find(({ scope }) => scope === "none");
    assert.ok(star !== undefined);
    const nothing = { collectionA: [], collectionB: [], readAt: star.at };
    addStar(world, {
      ...star,
      wallet,
      slot: 1,
      held: nothing,
      votingPower: 1,
      weight: 1,
      breakdown: { base: 1, collectionA: 0, collectionB: 0 },
    });
    const found = await caught(world, ["unknown-wallet"]);
    assert.equal(found.mismatchCount, 1, say(found));
  });

forgery("8 NFT counted twice on one event's day", async () => {
  const world = truth();
  // Of an event's day the second star with an NFT: it counts its first NFT a second time.
  let spent: ExportStar | undefined;
  const twice = (star: ExportStar): boolean => {
    if (star.scope !== "event-day") return false;
    const first = world.stars.find(
      (other) =>
        other.seq < star.seq &&
        other.target.id === star.target.id &&
        dayOf(Date.parse(other.at)) === dayOf(Date.parse(star.at)) &&
        (other.counted?.collectionA.length ?? 0) > 0,
    );
    spent = first;
    return first !== undefined;
  };
  replace(world, twice, (star) => {
    const serial = spent?.counted?.collectionA[0] ?? 0;
    const counted = {
      collectionA: [serial, ...(star.counted?.collectionA ?? [])],
      collectionB: star.counted?.collectionB ?? null,
    };
    const breakdown = { ...star.breakdown, collectionA: star.breakdown.collectionA + 1 };
    return { ...star, counted, breakdown, weight: star.weight + 1 };
  });
  await caught(world, ["counted-twice", "ranking"]);
});

forgery("9 removal skipped: what a wallet no longer holds goes on counting", async () => {
  const world = truth();
  world.releases.length = 0;
  const found = await caught(world, ["removal"]);
  const removal = found.mismatches.find(({ kind }) => kind === "removal");
  assert.match(String(removal?.found), /still counts for 0\.0\.\d+/);
});

forgery("10 ranking edited in the database", async () => {
  for (const item of ["token/0.0.7102", "project/wallet", "event/meetup", "event/mint"]) {
    const world = truth();
    world.edits.set(item, 1);
    const found = await caught(world, ["ranking"]);
    assert.equal(found.mismatchCount, item.startsWith("token") ? found.mismatchCount : 1);
    assert.equal(found.mismatches[0]?.where, `totalVotes of ${item}`);
    assert.equal(Number(found.mismatches[0]?.found) - Number(found.mismatches[0]?.expected), 1);
  }
});

forgery("10b leaderboard edited in the database", async () => {
  const world = truth();
  const [star] = world.stars.slice(-1);
  assert.ok(star !== undefined);
  world.edits.set(`leaderboard/${star.wallet}`, 2);
  const found = await caught(world, ["ranking"]);
  assert.deepEqual(
    found.mismatches.map(({ where }) => where),
    [`leaderboard weight of ${star.wallet}`],
  );
});

forgery("11 export edited: a weight in a file, and a file out of another history", async () => {
  const edit = (folder: string): void => {
    const [, name = ""] = readdirSync(folder).sort();
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/"slot":1,/, '"slot":2,'));
  };
  await caught(truth(), ["export"], { onExports: edit });
  const swap = (folder: string): void => {
    const [first = "", second = ""] = readdirSync(folder).sort();
    writeFileSync(join(folder, second), readFileSync(join(folder, first)));
  };
  await caught(truth(), ["export"], { onExports: swap });
});

forgery("12 running hash edited: one link, reported once", async () => {
  const world = truth();
  const { event } = world.topics;
  const message = event.messages[middle(event)];
  assert.ok(message !== undefined);
  message.hash = Buffer.alloc(48, 7).toString("base64");
  const found = await caught(world, ["chain"], { withExports: false, withApi: false });
  // The next link was made upon the true hash.
  assert.deepEqual(
    found.mismatches.map(({ kind, sequenceNumber }) => [kind, sequenceNumber]),
    [
      ["chain", message.sequence],
      ["chain", message.sequence + 1],
    ],
  );
});

forgery("13 foreign message: no star of ours, and none by a space", async () => {
  const world = truth();
  const { event } = world.topics;
  const message = event.messages[middle(event)];
  assert.ok(message !== undefined);
  message.text = message.text.replace('"version":1', '"version": 1');
  rechain(event);
  await caught(world, ["foreign"], { withExports: false, withApi: false });
});

forgery("14 hidden end: a mirror node that leaves the newest messages out", async () => {
  const world = truth();
  const { event } = world.topics;
  event.messages.splice(-3);
  await caught(world, ["no-message"]);
  await caught(world, ["ranking"], { withExports: false });
});

forgery("15 removal of what a wallet still holds", async () => {
  const world = truth();
  const release = world.releases.find(({ collection }) => collection === "A");
  assert.ok(release !== undefined);
  // As if the NFT had never been given away.
  world.nfts["0.0.5001"]?.set(release.serial, [
    { at: 0, type: "TOKENMINT", sender: null, receiver: release.wallet },
  ]);
  await caught(world, ["removal"]);
});

/** Stores and publishes one more star, on an item its wallet has not starred that day. */
function addStar(world: World, given: ExportStar): void {
  const day = dayOf(Date.parse(given.at));
  const target = ITEMS.find(
    ({ type, id }) =>
      type !== "event" &&
      type !== "project" &&
      !world.stars.some(
        (star) =>
          star.wallet === given.wallet &&
          star.target.id === id &&
          dayOf(Date.parse(star.at)) === day,
      ),
  );
  assert.ok(target !== undefined);
  const at = Date.parse(given.at);
  const { collectionA, collectionB } = given.held;
  const bonus = collectionB.length > 0 ? 5 : 0;
  const text = JSON.stringify({
    type: "asset_vote",
    version: 1,
    wallet: given.wallet,
    target_id: target.id,
    target_type: target.type,
    vote: "up",
    voting_power: given.votingPower,
    holdings: { alpha: collectionA.length, beta: collectionB.length },
    timestamp: at,
  });
  const id = "018f3f6e-0000-7000-8000-999999999999";
  const last = Math.max(
    ...world.stars.filter((star) => dayOf(Date.parse(star.at)) <= day).map(({ seq }) => seq),
  );
  const star: ExportStar = {
    ...given,
    id,
    seq: last,
    mintOrder: null,
    scope: "none",
    counted: null,
    topic: "asset",
    message: text,
    target: { type: target.type, id: target.id, eventType: null },
    weight: given.votingPower,
    breakdown: { base: 1, collectionA: collectionA.length, collectionB: bonus },
  };
  world.stars.splice(world.stars.findIndex(({ seq }) => seq === last) + 1, 0, star);
  for (const [index, each] of world.stars.entries())
    world.stars[index] = { ...each, seq: index + 1 };
  const { asset } = world.topics;
  const consensus = `${Math.floor(at / 1_000) + 2}.${"5".padStart(9, "0")}`;
  asset.messages.push({ sequence: 0, consensus, text, hash: "", starId: id });
  asset.messages.sort((one, other) => (one.consensus < other.consensus ? -1 : 1));
  asset.messages.forEach((message, index) => {
    message.sequence = index + 1;
  });
  rechain(asset);
  tell(world, asset);
}

function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}

function laterBy(consensus: string): string {
  const [seconds = "0", nanos = "0"] = consensus.split(".");
  return `${seconds}.${String(Number(nanos) + 1).padStart(9, "0")}`;
}

forgery.run();
