/**
 * A mirror node with a true history of so many messages: `audit-mirror.ts MESSAGES PER_DAY`.
 * Prints its URL. Every wallet stars the same few items day by day; nothing changes hands.
 */
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { starMessage } from "../../src/publishing/message.ts";
import { serveWorld } from "../audit/serve-world.ts";
import { A, B, ITEMS, KEYS, rechain, TREASURY, type World } from "../audit/world.ts";

const [messages = 10_000, perDay = 400] = process.argv.slice(2).map(Number);
const WALLETS = 2_000;
const NFTS_EACH = 2;
const items = ITEMS.filter(({ eventKind }) => eventKind !== "FOREVER_MINT");
const holdings = (wallet: number) => ({
  collectionA: Array.from({ length: NFTS_EACH }, (_, index) => wallet * NFTS_EACH + index + 1),
  collectionB: wallet % 2 === 0 ? [wallet / 2 + 1] : [],
  readAt: 0,
});
const days = Math.ceil(messages / perDay);
const begin = startOfDay(dayOf(Date.now())) - days * DAY_MS;
const world: World = {
  topics: { event: { id: "0.0.8001", messages: [] }, asset: { id: "0.0.8002", messages: [] } },
  accounts: new Set([TREASURY, ...Array.from({ length: WALLETS }, (_, n) => `0.0.${1_000 + n}`)]),
  nfts: { [A]: new Map(), [B]: new Map() },
  stars: [],
  releases: [],
  apart: new Map(),
  items: [],
  edits: new Map(),
  firstDay: dayOf(begin),
  excluded: [],
};
for (let wallet = 0; wallet < WALLETS; wallet++) {
  const { collectionA, collectionB } = holdings(wallet);
  const move = (at: number) => ({
    at,
    type: "TOKENMINT",
    sender: null,
    receiver: `0.0.${1_000 + wallet}`,
  });
  for (const serial of collectionA) world.nfts[A]?.set(serial, [move(begin - 2 * DAY_MS)]);
  for (const serial of collectionB) world.nfts[B]?.set(serial, [move(begin - 2 * DAY_MS)]);
}
const step = Math.floor((DAY_MS - 10_000) / perDay);
for (let n = 0; n < messages; n++) {
  const [day, turn] = [Math.floor(n / perDay), n % perDay];
  const wallet = (turn + day * 7) % WALLETS;
  const target = items[Math.floor(turn / WALLETS) % items.length] ?? items[0];
  if (target === undefined) break;
  const at = begin + day * DAY_MS + turn * step;
  const held = holdings(wallet);
  const power = 1 + held.collectionA.length + (held.collectionB.length > 0 ? 5 : 0);
  // Items by turns, where a day has fewer stars than wallets.
  const item = perDay <= WALLETS ? (items[turn % items.length] ?? target) : target;
  const star = {
    wallet: `0.0.${1_000 + wallet}`,
    at,
    target: item,
    votingPower: power,
    holdings: held,
  };
  const topic = item.type === "event" ? world.topics.event : world.topics.asset;
  topic.messages.push({
    sequence: topic.messages.length + 1,
    consensus: `${Math.floor((at + 2_000) / 1_000)}.${String(((at + 2_000) % 1_000) * 1_000_000).padStart(9, "0")}`,
    text: starMessage(star, KEYS),
    hash: "",
    starId: newStarId(at),
  });
}
for (const topic of Object.values(world.topics)) rechain(topic);
process.stdout.write(`${(await serveWorld(world)).url}\n`);
