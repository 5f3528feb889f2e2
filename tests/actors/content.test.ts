/**
 * Goal: the rules per content type are the specification's, word for word. Method: print its
 * table back from the rows that the machines and the journal ask.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import {
  type ContentRule,
  contentRules,
  type EventKind,
  ruleOf,
  type TargetType,
} from "../../actors/content.ts";

const SPECIFIED = `
| Content | Where starred | Frequency | Counter | Topic |
|---|---|---|---|---|
| NFT mints | event page | once per event per UTC day | accumulates | event-votes topic |
| Meetups, live audio sessions | event page | once per event per UTC day | accumulates | event-votes topic |
| Hackathons, other events | event page | once per event per UTC day | accumulates | event-votes topic |
| Forever mints | event page | star counts once | accumulates | event-votes topic |
| Tokens | markets list, token page | once per token per UTC day | today only | asset-votes topic |
| NFT collections | markets list (NFTs tab) | once per collection per UTC day | today only | asset-votes topic |
| Ecosystem projects | ecosystem directory | once per project per UTC day | today only | asset-votes topic |
`;

const [heading = "", underline = "", ...rows] = SPECIFIED.trim().split("\n");
const types: readonly TargetType[] = ["event", "token", "collection", "project"];
const eventKinds: readonly EventKind[] = [
  "MINT_EVENT",
  "FOREVER_MINT",
  "ECOSYSTEM_MEETUP",
  "HACKATHON",
  "OTHER",
];

function print({ content, starredOn, targetType, scope, counter, topic }: ContentRule): string {
  const often =
    scope === "forever-mint" ? "star counts once" : `once per ${targetType} per UTC day`;
  return `| ${[content, starredOn, often, counter, `${topic}-votes topic`].join(" | ")} |`;
}

test("the specification's table, printed back row by row", () => {
  assert.equal(heading, "| Content | Where starred | Frequency | Counter | Topic |");
  assert.equal(underline, "|---|---|---|---|---|");
  for (const [n, row] of rows.entries()) {
    const rule = contentRules[n];
    assert.ok(rule, `no rule for ${row}`);
    assert.equal(print(rule), row);
  }
  assert.equal(contentRules.length, rows.length);
});

test("exactly one row governs every kind of target, and ruleOf finds it", () => {
  const targets = types.flatMap((type) =>
    (type === "event" ? eventKinds : [null]).map((eventKind) => ({ type, eventKind })),
  );
  assert.equal(targets.length, 8);
  const found = targets.map((target) => {
    const governing = contentRules.filter(
      (row) =>
        row.targetType === target.type &&
        (target.eventKind === null || row.eventKinds.includes(target.eventKind)),
    );
    assert.equal(governing.length, 1, `${target.type} ${target.eventKind}`);
    assert.equal(ruleOf(target), governing[0]);
    return ruleOf(target);
  });
  assert.deepEqual(new Set(found), new Set(contentRules), "every row governs a target");
});

test("each kind of event is governed by the row that names it", () => {
  const contents = eventKinds.map((kind) => ruleOf({ type: "event", eventKind: kind }).content);
  assert.deepEqual(contents, [
    "NFT mints",
    "Forever mints",
    "Meetups, live audio sessions",
    "Hackathons, other events",
    "Hackathons, other events",
  ]);
});

test("weights are accounted per NFT on events, once per mint on forever mints, nowhere else", () => {
  const scopes = contentRules.map(({ content, scope }) => `${content}: ${scope}`);
  assert.deepEqual(scopes, [
    "NFT mints: event-day",
    "Meetups, live audio sessions: event-day",
    "Hackathons, other events: event-day",
    "Forever mints: forever-mint",
    "Tokens: none",
    "NFT collections: none",
    "Ecosystem projects: none",
  ]);
});

test("a target that the catalogue cannot hold has no rule", () => {
  assert.throws(() => ruleOf({ type: "event", eventKind: null }), RangeError);
  for (const type of types.filter((each) => each !== "event")) {
    assert.throws(() => ruleOf({ type, eventKind: "OTHER" }), RangeError);
  }
});

test.run();
