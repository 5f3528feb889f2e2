/**
 * Goal: the chaos checker names each fault of a history, and none in a true one.
 * Method: a small true history, then forgeries of it, one at a time; each has to be named by its
 * kind. The queries that read the journal run on the real schema.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { openPostgres } from "../../src/store/postgres.ts";
import { seedDirectory } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { judge } from "./check.ts";
import { type Evidence, type HistoryLine, readJournal, type StarRow } from "./evidence.ts";
import { mistakesIn } from "./mistakes.ts";

const test = suite("chaos checker");

const AT = Date.parse("2026-11-20T12:00:00.000Z");
const DAY = "2026-11-20";
type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface Forgery {
  history: HistoryLine[];
  stars: Mutable<StarRow>[];
  outbox: {
    star: string;
    topic: "event" | "asset";
    message: string;
    state: string;
    sequence: number | null;
  }[];
  totals: { item: string; weight: number }[];
  keys: { key: string; star: string }[];
  topics: { event: string[]; asset: string[] };
}

const eventMessage = (wallet: number, event: string, kind: string, at: number): string =>
  `{"type":"event_vote","version":1,"wallet":"0.0.${wallet}","event_id":"${event}","event_type":"${kind}","vote":"up","timestamp":${at}}`;
const assetMessage = (
  wallet: number,
  id: string,
  type: string,
  power: string,
  at: number,
): string =>
  `{"type":"asset_vote","version":1,"wallet":"0.0.${wallet}","target_id":"${id}","target_type":"${type}","vote":"up",${power},"timestamp":${at}}`;

const PLAIN = `"voting_power":1,"holdings":{"alpha":0,"beta":0}`;
const HELD = `"voting_power":8,"holdings":{"alpha":2,"beta":1}`;

const star = (n: number, given: Partial<StarRow>): Mutable<StarRow> => ({
  id: `s${n}`,
  wallet: 1001,
  slot: n,
  day: DAY,
  at: AT + n,
  type: "token",
  target: "0.0.9001",
  votingPower: 1,
  weight: 1,
  heldA: [],
  heldB: [],
  claimedA: [],
  claimedB: null,
  isConflict: false,
  ...given,
});

/** One wallet without NFTs, one with three: tokens, a project with a ledger id, an event, a mint. */
function truth(): Forgery {
  const held = { wallet: 1002, votingPower: 8, heldA: [1, 2], heldB: [7] };
  const stars = [
    star(1, {}),
    star(2, { type: "project", target: "dex" }),
    star(3, {
      ...held,
      slot: 1,
      type: "event",
      target: "meetup",
      weight: 8,
      claimedA: [1, 2],
      claimedB: 7,
    }),
    star(4, {
      ...held,
      slot: 2,
      type: "event",
      target: "mint",
      weight: 8,
      claimedA: [1, 2],
      claimedB: 7,
    }),
    star(5, { ...held, slot: 3, weight: 8 }),
  ];
  const topics = {
    event: [
      eventMessage(1002, "meetup", "ECOSYSTEM_MEETUP", AT + 3),
      eventMessage(1002, "mint", "FOREVER_MINT", AT + 4),
    ],
    asset: [
      assetMessage(1001, "0.0.9001", "token", PLAIN, AT + 1),
      assetMessage(1001, "0.0.7001", "project", PLAIN, AT + 2),
      assetMessage(1002, "0.0.9001", "token", HELD, AT + 5),
    ],
  };
  const box = (id: string, topic: "event" | "asset", sequence: number) => {
    const message = topics[topic][sequence - 1] ?? "";
    return { star: id, topic, message, state: "published", sequence };
  };
  return {
    history: stars.flatMap((row) => called(row)),
    stars,
    outbox: [
      ...[box("s1", "asset", 1), box("s2", "asset", 2), box("s5", "asset", 3)],
      ...[box("s3", "event", 1), box("s4", "event", 2)],
    ],
    totals: [
      { item: "event/meetup", weight: 8 },
      { item: "event/mint", weight: 8 },
      { item: `token/0.0.9001/${DAY}`, weight: 9 },
      { item: `project/dex/${DAY}`, weight: 1 },
    ],
    keys: stars.map(({ id }) => ({ key: `key ${id}`, star: id })),
    topics,
  };
}

function asked(row: StarRow, attempt = `a ${row.id}`): HistoryLine {
  const target = `${row.type}/${row.target}`;
  return { is: "invoke", attempt, key: `key ${row.id}`, wallet: `0.0.${row.wallet}`, target };
}

function answered(
  { id, day, at, weight }: StarRow,
  attempt = `a ${id}`,
  body = "hash",
): HistoryLine {
  return { is: "ok", attempt, star: id, day, at, weight, body };
}

const called = (row: StarRow): HistoryLine[] => [asked(row), answered(row)];

/** Adds a star with everything that belongs to it, but no reply to a client. */
function store(world: Forgery, row: StarRow, message: string): void {
  world.stars.push(row);
  const topic = row.type === "event" ? "event" : "asset";
  const sequence = world.topics[topic].push(message);
  world.outbox.push({ star: row.id, topic, message, state: "published", sequence });
  const item =
    row.type === "event" ? `event/${row.target}` : `${row.type}/${row.target}/${row.day}`;
  const total = world.totals.find((each) => each.item === item);
  if (total) total.weight += row.weight;
  else world.totals.push({ item, weight: row.weight });
}

function evidenceOf({ history, topics, ...tables }: Forgery): Evidence {
  const events = new Map([
    ["meetup", { kind: "ECOSYSTEM_MEETUP", isForeverMint: false }],
    ["mint", { kind: "MINT_EVENT", isForeverMint: true }],
  ]);
  const ledgerIds = new Map([["dex", "0.0.7001"]]);
  return { history, topics, journal: { ...tables, events, ledgerIds, passes: [], releases: [] } };
}

function kindsOf(forge: (world: Forgery) => void): readonly string[] {
  const world = truth();
  forge(world);
  return [...new Set(judge(evidenceOf(world)).violations.map(({ kind }) => kind))].sort();
}

const token = (n: number): [StarRow, string] => {
  const id = `0.0.${9000 + n}`;
  return [star(n, { slot: n - 7, target: id }), assetMessage(1001, id, "token", PLAIN, AT + n)];
};

test("a true history has no fault", () => {
  assert.deepEqual(judge(evidenceOf(truth())), { violations: [], acknowledged: 5, givenUp: 0 });
});

test("an attempt without an answer may have been stored once, and need not have been", () => {
  for (const stored of [0, 1]) {
    const kinds = kindsOf((world) => {
      const [row, message] = token(10);
      world.history.push(asked(row));
      if (stored) store(world, row, message);
    });
    assert.deepEqual(kinds, []);
  }
});

test("a star that a restore lost before it had a message is given up, and no other", () => {
  const world = truth();
  const [row] = token(10);
  world.history.push(...called(row), { is: "restore", unpublished: [row.id] });
  assert.deepEqual(judge(evidenceOf(world)), { violations: [], acknowledged: 6, givenUp: 1 });
  const [, message] = token(10);
  world.topics.asset.push(message);
  const kinds = judge(evidenceOf(world)).violations.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["lost", "phantom"]);
});

const FORGERIES: readonly (readonly [string, readonly string[], (world: Forgery) => void])[] = [
  [
    "an acknowledged star is gone",
    ["lost"],
    (world) => world.history.push(...called(token(10)[0])),
  ],
  ["a star that no client asked for", ["phantom"], (world) => store(world, ...token(10))],
  [
    "a star for a call that was refused",
    ["double"],
    (world) => {
      const [row, message] = token(10);
      world.history.push(asked(row), { is: "fail", attempt: `a ${row.id}`, status: 409, code: "" });
      store(world, row, message);
    },
  ],
  [
    "two stars for one call without an answer",
    ["double"],
    (world) => {
      const row = star(10, { type: "event", target: "mint", slot: 3, weight: 0 });
      world.history.push(asked(row));
      store(world, row, eventMessage(1001, "mint", "FOREVER_MINT", row.at));
      const twin = { ...row, id: "s11", slot: 4, at: row.at + 1 };
      store(world, twin, eventMessage(1001, "mint", "FOREVER_MINT", twin.at));
    },
  ],
  [
    "a message twice on its topic",
    ["double"],
    (world) => world.topics.asset.push(world.topics.asset[0] ?? ""),
  ],
  [
    "a sixth star of a wallet's day",
    ["over allowance"],
    (world) => {
      for (const n of [10, 11, 12, 13]) {
        const [row, message] = token(n);
        world.history.push(...called(row));
        store(world, row, message);
      }
    },
  ],
  [
    "an item starred again on the same day",
    ["repeat"],
    (world) => {
      const row = star(10, { slot: 3 });
      world.history.push(...called(row));
      store(world, row, assetMessage(1001, "0.0.9001", "token", PLAIN, row.at));
    },
  ],
  [
    "an NFT that counts again for the same event and day",
    ["nft"],
    (world) => {
      const row = star(10, {
        slot: 3,
        type: "event",
        target: "meetup",
        weight: 2,
        votingPower: 2,
        heldA: [1],
        claimedA: [1],
      });
      world.history.push(...called(row));
      store(world, row, eventMessage(1001, "meetup", "ECOSYSTEM_MEETUP", row.at));
    },
  ],
  [
    "an NFT that counts again on a mint",
    ["nft"],
    (world) => {
      const row = star(10, {
        slot: 3,
        type: "event",
        target: "mint",
        weight: 2,
        votingPower: 2,
        heldA: [1],
        claimedA: [1],
      });
      world.history.push(...called(row));
      store(world, row, eventMessage(1001, "mint", "FOREVER_MINT", row.at));
    },
  ],
  [
    "a message with other bytes",
    ["phantom", "topic"],
    (world) => {
      world.topics.asset[1] = (world.topics.asset[1] ?? "").replace('"vote":"up"', '"vote": "up"');
    },
  ],
  [
    "a message with the bytes of the outbox that are not the star's",
    ["phantom", "topic"],
    (world) => {
      const [first] = world.outbox;
      const other = assetMessage(1001, "0.0.9002", "token", PLAIN, AT + 1);
      world.topics.asset[0] = other;
      if (first) first.message = other;
    },
  ],
  [
    "a star that never got its message",
    ["topic"],
    (world) => {
      world.topics.event.pop();
      const last = world.outbox.at(-1);
      if (last) Object.assign(last, { state: "sent", sequence: null });
    },
  ],
  [
    "a place that another message has",
    ["topic"],
    (world) => {
      const [first] = world.outbox;
      if (first) first.sequence = 2;
    },
  ],
  [
    "a message that is no star's",
    ["phantom"],
    (world) => world.topics.event.push(eventMessage(1009, "meetup", "ECOSYSTEM_MEETUP", AT)),
  ],
  [
    "twins acknowledged with two stars",
    ["twins"],
    (world) => {
      const row = star(10, { type: "event", target: "mint", slot: 3, weight: 0 });
      const twin = { ...row, id: "s11", slot: 4, at: row.at + 1 };
      for (const [each, attempt] of [
        [row, "one"],
        [twin, "other"],
      ] as const) {
        world.history.push(asked(row, attempt), answered(each, attempt));
        store(world, each, eventMessage(1001, "mint", "FOREVER_MINT", each.at));
      }
    },
  ],
  [
    "twins whose replies differ in a byte",
    ["twins"],
    (world) => {
      const [first] = world.stars;
      if (first) world.history.push(asked(first, "twin"), answered(first, "twin", "another hash"));
    },
  ],
  [
    "a star dated to another day",
    ["day", "untrue"],
    (world) => {
      const last = world.stars.at(-1);
      if (last) Object.assign(last, { day: "2026-11-21", slot: 1 });
      world.totals = world.totals.map((each) =>
        each.weight === 9 ? { ...each, weight: 1 } : each,
      );
      world.totals.push({ item: "token/0.0.9001/2026-11-21", weight: 8 });
    },
  ],
  [
    "a weight other than that of the client's reply",
    ["untrue"],
    (world) => {
      const event = world.stars[2];
      if (event) event.weight = 7;
      const [total] = world.totals;
      if (total) total.weight = 7;
    },
  ],
  [
    "a counter that is not the sum of its stars",
    ["total"],
    (world) => {
      const [total] = world.totals;
      if (total) total.weight += 1;
    },
  ],
];

for (const [name, kinds, forge] of FORGERIES) {
  test(`named: ${name}`, () => assert.deepEqual(kindsOf(forge), kinds));
}

test("a log names a mistake in the code, and no fault of a server", () => {
  const mistakes = ['{"level":50,"err":{"type":"TypeError","message":"x"}}', "RangeError: x"];
  const faults = [
    '{"level":50,"err":{"type":"RetryableError","message":"a TypeError: x"}}',
    "starboard: cannot start: the database is out of reach",
  ];
  assert.deepEqual(mistakesIn([...mistakes, ...faults, ""].join("\n")), mistakes);
});

test("the journal's tables are read as they are", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url);
  await seedDirectory(sql);
  const journal = await readJournal(sql);
  assert.deepEqual(
    [journal.stars, journal.outbox, journal.totals].map(({ length }) => length),
    [0, 0, 0],
  );
  assert.equal(journal.events.get("mint")?.isForeverMint, true);
  assert.equal(journal.ledgerIds.get("dex"), "0.0.7001");
  assert.deepEqual(
    judge({ history: [], journal, topics: { event: [], asset: [] } }).violations,
    [],
  );
  await sql.end({ timeout: 1 });
  await database.close();
});

test.run();
