import type { TargetRecord } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import { type Holdings, votingPower } from "../../actors/weight.ts";
import { newStarId } from "../../src/journal/star-id.ts";
import { starMessage } from "../../src/publishing/message.ts";
import { type Live, openLive } from "../publishing/live.ts";
import { openAuditor } from "./auditor.ts";
import { type Checked, createChecker } from "./check.ts";

/** `Live` on a ledger whose time can jump, with stars that the product's audit has to accept. */
export interface TruthfulLive {
  /** `box` inserts stars, the two kinds alternating from call to call. */
  readonly live: Live;
  /** The ledger's time jumps ahead. */
  jump(milliseconds: number): Promise<void>;
  /** Holds the topics against the outbox, and then against the ledger's NFTs and the rules. */
  check(): Promise<Checked>;
  close(): Promise<void>;
}

const KEYS = { a: "alpha", b: "beta" };
/** NFTs came to their wallets so long ago that no reading can have met them on their way. */
const HELD_SINCE_MS = 600_000;
/** Of each collection; the first wallets hold so many, those that come later hold nothing. */
const HELD = [
  { a: 0, b: 0 },
  { a: 1, b: 0 },
  { a: 0, b: 1 },
  { a: 3, b: 2 },
] as const;
const HOLDERS = 12;
/** What each wallet stars: less than a day's five, each once. */
const TARGETS: readonly TargetRecord[] = [
  { type: "event", id: "drop", eventKind: "MINT_EVENT", ledgerId: null },
  { type: "token", id: "0.0.500", eventKind: null, ledgerId: null },
  { type: "event", id: "meetup", eventKind: "ECOSYSTEM_MEETUP", ledgerId: null },
  { type: "collection", id: "0.0.600", eventKind: null, ledgerId: null },
];

interface Wallet {
  readonly id: string;
  readonly held: Holdings;
}

const NOTHING: Holdings = { collectionA: [], collectionB: [], readAt: 0 };

export async function openTruthfulLive(): Promise<TruthfulLive> {
  const time = { offset: -HELD_SINCE_MS };
  const base = await openLive({ now: () => Date.now() + time.offset });
  const { place, sql, network } = base;
  const { ledger } = network.hedera;
  const { holders, collections } = await endow(base);
  const jump = async (milliseconds: number): Promise<void> => {
    time.offset += milliseconds;
    await ledger.closeBlock();
  };
  await jump(HELD_SINCE_MS);
  const { mirrorUrl, topics } = place;
  const checker = createChecker({ sql, mirrorUrl, topics });
  const auditor = openAuditor({ mirrorUrl, topics, collections, keys: KEYS });
  let wallet: Wallet | undefined;
  let count = 0;
  let lastAt = 0;
  const boxOne = async (): Promise<string> => {
    const target = TARGETS[count % TARGETS.length] as TargetRecord;
    if (wallet === undefined || count % TARGETS.length === 0) {
      wallet = holders.shift() ?? (await newWallet(base));
    }
    const { id, held: holdings } = wallet;
    count += 1;
    lastAt = Math.max(Date.now(), lastAt + 1);
    const star = {
      wallet: id,
      at: lastAt,
      target,
      votingPower: votingPower(holdings, rulesOn(dayOf(lastAt))),
      holdings,
    };
    const message = starMessage(star, KEYS);
    const starId = newStarId(lastAt);
    const topic = target.type === "event" ? "event" : "asset";
    await sql`insert into outbox (star_id, topic, message) values (${starId}, ${topic}, ${message})`;
    return starId;
  };
  const box = async (stars: number): Promise<readonly string[]> => {
    const boxed: string[] = [];
    while (boxed.length < stars) boxed.push(await boxOne());
    return boxed;
  };
  return {
    live: { ...base, box },
    jump,
    async check() {
      const checked = await checker.check();
      await auditor.audit(checked);
      return checked;
    },
    async close() {
      await auditor.close();
      await base.close();
    },
  };
}

/** Two collections, and wallets that hold some of each. */
async function endow(live: Live) {
  const { ledger } = live.network.hedera;
  const treasury = await ledger.createAccount({ key: null });
  const a = await ledger.createCollection({ treasury, name: "A", symbol: "A" });
  const b = await ledger.createCollection({ treasury, name: "B", symbol: "B" });
  const holders: Wallet[] = [];
  for (let i = 0; i < HOLDERS; i++) {
    const count = HELD[i % HELD.length] as (typeof HELD)[number];
    const { id } = await newWallet(live);
    const collectionA = await ledger.mint(a, { count: count.a, to: id });
    const collectionB = await ledger.mint(b, { count: count.b, to: id });
    holders.push({ id, held: { ...NOTHING, collectionA, collectionB } });
  }
  return { holders, collections: { a, b } };
}

async function newWallet({ network }: Live): Promise<Wallet> {
  return { id: await network.hedera.ledger.createAccount({ key: null }), held: NOTHING };
}
