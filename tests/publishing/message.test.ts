import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "uvu";
import type { EventKind, TargetRecord } from "../../actors/content.ts";
import { type MessageStar, parseStarMessage, starMessage } from "../../src/publishing/message.ts";

const keys = { a: "hashpunks", b: "hbar_flats" };
const event = (eventKind: EventKind): TargetRecord => ({
  type: "event",
  id: "summer-drop_01",
  eventKind,
  ledgerId: null,
});
const asset = (type: "token" | "collection" | "project", id: string, ledgerId: string | null) => ({
  type,
  id,
  eventKind: null,
  ledgerId,
});
const star = (target: TargetRecord): MessageStar => ({
  wallet: "0.0.1001",
  at: 1_795_161_600_123,
  target,
  votingPower: 8,
  holdings: { collectionA: [3, 14], collectionB: [7] },
});

test("docs/verifying.md shows a message of each type", () => {
  const page = readFileSync(new URL("../../docs/verifying.md", import.meta.url), "utf8");
  const shown = page.split("\n").filter((line) => line.startsWith('{"type":'));
  const named = { a: "collection_a", b: "collection_b" };
  assert.deepEqual(
    shown.map((line) => parseStarMessage(Buffer.from(line), named)?.type),
    ["event_vote", "asset_vote"],
  );
});

test("a text dated beyond the year 9999 is no star message", () => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
  const text = starMessage({ ...star(event("OTHER")), at: last }, keys);
  assert.equal(parseStarMessage(Buffer.from(text), keys)?.timestamp, last);
  for (const at of [last + 1, Number.MAX_SAFE_INTEGER]) {
    const later = text.replace(String(last), String(at));
    assert.equal(parseStarMessage(Buffer.from(later), keys), undefined);
  }
});

const kinds: readonly EventKind[] = [
  "MINT_EVENT",
  "FOREVER_MINT",
  "ECOSYSTEM_MEETUP",
  "HACKATHON",
  "OTHER",
];
for (const kind of kinds) {
  test(`the event star message of ${kind}, byte for byte`, () => {
    assert.equal(
      starMessage(star(event(kind)), keys),
      `{"type":"event_vote","version":1,"wallet":"0.0.1001","event_id":"summer-drop_01","event_type":"${kind}","vote":"up","timestamp":1795161600123}`,
    );
  });
}

const assets: readonly (readonly [string, TargetRecord, string, string])[] = [
  ["a token", asset("token", "0.0.731861", null), "0.0.731861", "token"],
  ["an NFT collection", asset("collection", "0.0.4970613", null), "0.0.4970613", "collection"],
  ["a project with a ledger id", asset("project", "saucerswap", "0.0.1234"), "0.0.1234", "project"],
  ["a project without one", asset("project", "saucerswap", null), "saucerswap", "project"],
];
for (const [name, target, id, type] of assets) {
  test(`the asset star message of ${name}, byte for byte`, () => {
    assert.equal(
      starMessage(star(target), keys),
      `{"type":"asset_vote","version":1,"wallet":"0.0.1001","target_id":"${id}","target_type":"${type}","vote":"up","voting_power":8,"holdings":{"hashpunks":2,"hbar_flats":1},"timestamp":1795161600123}`,
    );
  });
}

test("collection A stands before collection B even when their keys are numbers", () => {
  const text = starMessage(star(asset("token", "0.0.9", null)), { a: "20", b: "3" });
  assert.match(text, /"holdings":\{"20":2,"3":1\}/);
});

const letters = "ABCXYZabcxyz0189_-".split("");
const recordId = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 64 });
const ledgerId = fc.integer({ min: 1, max: 999_999_999_999 }).map((number) => `0.0.${number}`);
const collectionKey = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/);
const serials = (count: number) => Array.from({ length: count }, (_, serial) => serial + 1);
const anyStar = fc.record({
  wallet: ledgerId,
  at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  target: fc.oneof(
    fc.record({
      type: fc.constant("event" as const),
      id: recordId,
      eventKind: fc.constantFrom(...kinds),
      ledgerId: fc.constant(null),
    }),
    fc.record({
      type: fc.constantFrom("token" as const, "collection" as const),
      id: ledgerId,
      eventKind: fc.constant(null),
      ledgerId: fc.constant(null),
    }),
    fc.record({
      type: fc.constant("project" as const),
      id: recordId,
      eventKind: fc.constant(null),
      ledgerId: fc.option(ledgerId),
    }),
  ),
  votingPower: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  holdings: fc.record({
    collectionA: fc.nat({ max: 10_000 }).map(serials),
    collectionB: fc.nat({ max: 10_000 }).map(serials),
  }),
});
const anyKeys = fc
  .tuple(collectionKey, collectionKey)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({ a, b }));

test("every star the catalogue allows fits into one chunk, in ASCII, and is read back as it was", () => {
  fc.assert(
    fc.property(anyStar, anyKeys, (anyone, anyKey) => {
      const text = starMessage(anyone, anyKey);
      assert.ok(Buffer.byteLength(text) <= 512, `${text.length} bytes`);
      assert.match(text, /^[\x20-\x7e]+$/);
      const message = parseStarMessage(Buffer.from(text), anyKey);
      assert.equal(message?.wallet, anyone.wallet);
      assert.equal(message?.timestamp, anyone.at);
      if (message?.type !== "asset_vote") return;
      assert.equal(message.votingPower, anyone.votingPower);
      assert.deepEqual(message.holdings, {
        collectionA: anyone.holdings.collectionA.length,
        collectionB: anyone.holdings.collectionB.length,
      });
    }),
    { numRuns: 300 },
  );
});

test("text outside ASCII is escaped, so that its bytes are counted right", () => {
  const text = starMessage(star({ ...event("OTHER"), id: "é☆\u{1f31f}" }), keys);
  assert.match(text, /"event_id":"\\u00e9\\u2606\\ud83c\\udf1f"/);
});

test("what cannot be a message is refused", () => {
  const good = star(event("OTHER"));
  const refused = (change: Partial<MessageStar>) =>
    assert.throws(() => starMessage({ ...good, ...change }, keys), RangeError);
  refused({ wallet: "0.0.01001" });
  refused({ at: 1.5 });
  refused({ at: Number.NaN });
  refused({ target: { ...good.target, eventKind: null } });
  refused({ target: { ...good.target, id: "x".repeat(1_024) } });
  refused({ target: asset("token", "0.0.9", null), votingPower: 2 ** 53 });
  assert.throws(
    () => starMessage(star(asset("token", "0.0.9", null)), { a: "one", b: "one" }),
    RangeError,
  );
});

test("bytes that starMessage would not have written are no star message", () => {
  const text = starMessage(star(asset("token", "0.0.9", null)), keys);
  const other = (from: string | RegExp, to: string) =>
    parseStarMessage(Buffer.from(text.replace(from, to)), keys);
  assert.notEqual(other("", ""), undefined);
  assert.equal(other(",", ", "), undefined);
  assert.equal(other('"version":1', '"version":2'), undefined);
  assert.equal(other('"vote":"up"', '"vote":"down"'), undefined);
  assert.equal(other("hashpunks", "others"), undefined);
  assert.equal(other(/}$/, ',"more":1}'), undefined);
  assert.equal(other('"hashpunks":2,"hbar_flats":1', '"hbar_flats":1,"hashpunks":2'), undefined);
  assert.equal(parseStarMessage(Buffer.from([0xff, 0x00]), keys), undefined);
});

test.run();
