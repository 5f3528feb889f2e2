import type { Target } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { Holdings } from "../../actors/holdings.ts";
import type { Claims } from "../../actors/nft-accounting.ts";
import type { Breakdown } from "../../actors/weight.ts";
import type { MintEnd } from "./mint-end.ts";

/** An accepted star: one row of the journal, never changed afterwards. */
export interface StarRecord {
  /** UUIDv7 whose time is `at`, so the star's day follows from the id. */
  readonly id: string;
  readonly wallet: string;
  readonly day: Day;
  /** Which star of the wallet's day this is, from 1. */
  readonly slot: number;
  readonly at: number;
  readonly target: Target;
  readonly holdings: Holdings;
  readonly votingPower: number;
  readonly weight: number;
  readonly breakdown: Breakdown;
  readonly limit: number;
  readonly seasonId: string | null;
  /** The version of the rules it was decided under. */
  readonly rules: number;
}

/** What an Idempotency-Key binds: the reply, split where the counter stands in it. */
export interface IdempotencyBinding {
  readonly key: string;
  /** SHA-256 of the request, hex. */
  readonly requestHash: string;
  readonly replyHead: string;
  readonly replyTail: string;
}

/** Everything one accepted star writes. */
export interface DecidedStar {
  readonly star: StarRecord;
  /** The id of the wallet's star of this day that it was decided after; null for the first. */
  readonly follows: string | null;
  /** NFTs it uses up on its event; null where nothing is accounted. */
  readonly claims: Claims | null;
  /** How often claims of its event had become free when it was decided; null where it knew of no claim. */
  readonly releases: number | null;
  /** Attributions of other wallets on its forever mint that end with it, and before it. */
  readonly ends: readonly MintEnd[];
  /** The ledger message, canonical text. */
  readonly message: string;
  readonly idempotency: IdempotencyBinding | null;
  /** Where its trace goes on, as W3C's header has it; absent where it is not traced. */
  readonly traceparent?: string | undefined;
}

/** A wallet's number: how accounts are kept in the journal. */
export function accountNumber(wallet: string): number {
  return Number(wallet.slice("0.0.".length));
}

export function walletOf(account: number): string {
  return `0.0.${account}`;
}
