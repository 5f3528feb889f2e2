import { z } from "zod";
import { RULES } from "../../actors/rules.ts";
import { type EventTables, emptyTables } from "../../actors/whole.ts";
import { instantOfStarId } from "../journal/star-id.ts";
import { type Redis, runCommand } from "../store/redis.ts";

/**
 * Snapshots of forever mints in Redis: the way back for what is shown and replayed, at a position of
 * the mint's history; what happened since is folded on top. A star is decided on the claims of the
 * serials at hand, which no snapshot beats. Anything odd is no snapshot.
 */
export type MintSnapshots = ReturnType<typeof createMintSnapshots>;

export interface MintSnapshot {
  readonly seq: number;
  /** What the mint's history ends with there (`lastOfMint`). */
  readonly last: string;
  readonly tables: EventTables;
}

/**
 * Weight up to which a mint has a snapshot; it has no more attributions than weight. Redis gives a
 * snapshot in one piece, which keeps the process from voters for 10 ms for each 1,000 attributions;
 * the live claims come in pieces, and sooner.
 */
export const MINT_SNAPSHOT_WEIGHT_MAX = 3_000;

/** Bumped when a machine or the shape changes: older and newer processes then ignore each other's. */
const SCHEMA = 4;
const KEPT_SECONDS = 30 * 86_400;
const ANSWER_WITHIN_MS = 1_000;

const attributions = z.array(z.tuple([z.int().min(1), z.string(), z.uuid()]));
const snapshotSchema = z.strictObject({
  schema: z.literal(SCHEMA),
  rules: z.literal(RULES),
  mint: z.string(),
  seq: z.int(),
  last: z.string(),
  weight: z.int(),
  stars: z.int(),
  A: attributions,
  B: attributions,
  wallets: z.array(z.tuple([z.string(), z.enum(["counted", "carrying"]), z.string()])),
});

export function createMintSnapshots(redis: Redis) {
  return {
    /** The mint as it was at a position of its history, or null. Never rejects. */
    async read(mint: string): Promise<MintSnapshot | null> {
      const text = await runCommand(redis.get(mintKey(mint)), ANSWER_WITHIN_MS).catch(() => null);
      return text === null ? null : decode(mint, text);
    },
    /** Replaces what is there; never rejects. */
    async write(mint: string, snapshot: MintSnapshot): Promise<void> {
      if (snapshot.tables.weight > MINT_SNAPSHOT_WEIGHT_MAX) return;
      const options = { expiration: { type: "EX", value: KEPT_SECONDS } } as const;
      const written = redis.set(mintKey(mint), encode(mint, snapshot), options);
      await runCommand(written, ANSWER_WITHIN_MS).catch(() => undefined);
    },
  };
}

/** Hash tags keep an actor's keys on one shard of a cluster. */
export function mintKey(mint: string): string {
  return `starboard:{forever-mint/${mint}}`;
}

function encode(mint: string, { seq, last, tables }: MintSnapshot): string {
  const { weight, stars, A, B, wallets } = tables;
  const listOf = (counted: EventTables["A"]) =>
    [...counted].map(([serial, { wallet, starId }]) => [serial, wallet, starId]);
  const standings = [...wallets].map(([wallet, { value, context }]) => [
    wallet,
    value,
    context.votedOn,
  ]);
  const snapshot = { schema: SCHEMA, rules: RULES, mint, seq, last, weight, stars };
  return JSON.stringify({ ...snapshot, A: listOf(A), B: listOf(B), wallets: standings });
}

/** Anything that is not this very mint, in this very shape and under these rules, is no snapshot. */
function decode(mint: string, text: string): MintSnapshot | null {
  try {
    const read = snapshotSchema.parse(JSON.parse(text));
    if (read.mint !== mint) return null;
    const tables = emptyTables();
    tables.weight = read.weight;
    tables.stars = read.stars;
    for (const collection of ["A", "B"] as const) {
      for (const [serial, wallet, starId] of read[collection]) {
        tables[collection].set(serial, { wallet, starId, at: instantOfStarId(starId) });
      }
    }
    for (const [wallet, value, votedOn] of read.wallets) {
      tables.wallets.set(wallet, { value, context: { votedOn } });
    }
    return { seq: read.seq, last: read.last, tables };
  } catch {
    return null;
  }
}
