import { MirrorError } from "../../src/ledger/mirror/error.ts";
import type { MirrorNode } from "../../src/ledger/mirror/node.ts";
import type {
  MirrorNft,
  MirrorTopicMessage,
  MirrorTransaction,
} from "../../src/ledger/mirror/schemas.ts";
import { FIRST_RUNNING_HASH, runningHash } from "../../src/ledger/running-hash.ts";
import {
  type ReceiptOutcome,
  refusalOf,
  type SendOutcome,
  type Topic,
} from "../../src/ledger/topic.ts";
import {
  formatTimestamp,
  formatTransactionId,
  mirrorTransactionId,
  parseTransactionId,
} from "../../src/ledger/transaction-id.ts";
import type { Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Owner, VirtualTime } from "./virtual-time.ts";

const SECOND = 1_000_000_000n;
const VALID_FOR = 120n * SECOND;
const RECEIPTS_KEPT = 180n * SECOND;
const BUFFER = 10n * SECOND;
const PAYER = "0.0.1002";
const KEY = { _type: "ED25519" as const, key: "11".repeat(32) };
const PAGE = 100;
/** Fewer than the mirror node's own, as there are fewer NFTs. */
const OWNERS_PAGE = 10;

interface Body {
  readonly transactionId: string;
  readonly topicId: string;
  readonly message: string;
  readonly validUntil: string;
}

/** What a transaction came to at consensus. */
interface Effect {
  readonly status: string;
  readonly at: bigint;
  /** Milliseconds since the epoch, by the world's time. */
  readonly reachedAt: number;
  readonly topicId: string;
  readonly message: MirrorTopicMessage | null;
}

/** A message with what the mirror node's replicas may lack for a while. */
interface Mirrored {
  readonly message: MirrorTopicMessage;
  readonly reachedAt: number;
  /** Not shown before, by the world's time. */
  readonly shownFrom: number;
}

export interface LedgerParts {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults: Faults;
  /** Called with each message that takes effect. */
  readonly onMessage: (message: MirrorTopicMessage) => void;
  /** Asked for the owner of each NFT, as the mirror node shows it. */
  readonly holdings: (wallet: string, token: string) => readonly number[];
  /** The NFTs of a token, and who has each, as the mirror node shows it. */
  readonly serials: (token: string) => readonly number[];
  readonly ownerOf: (
    token: string,
    serial: number,
  ) => { readonly owner: number | null; readonly consensusAt: number | null };
  /** Called when the mirror node has found what a wallet holds. */
  readonly onHoldings: () => void;
  /** Called when the process that asked for it has the answer. */
  readonly onHeard: (wallet: string, serials: readonly (readonly number[])[]) => void;
}

/** Consensus nodes and a mirror node; the truth about the topics, and never at fault itself. */
export class Ledger {
  readonly #parts: LedgerParts;
  readonly #effects = new Map<string, Effect[]>();
  readonly #onTheirWay = new Set<string>();
  readonly #topics = new Map<string, Mirrored[]>();
  readonly #hashes = new Map<string, Buffer>();
  #last = 0n;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  /** Messages of a topic in their order. */
  messages(topicId: string): readonly MirrorTopicMessage[] {
    return (this.#topics.get(topicId) ?? []).map(({ message }) => message);
  }

  /** The consensus nodes, as a process reaches them. */
  topicFor(owner: Owner): Topic {
    return {
      payer: PAYER,
      publicKey: KEY,
      prepareMessage: async ({ topicId, message, validStart }) => {
        const transactionId = formatTransactionId({ payer: PAYER, validStart });
        const validUntil = validStart + VALID_FOR;
        const body = { transactionId, topicId, message, validUntil: String(validUntil) };
        return { transactionId, signedBytes: Buffer.from(JSON.stringify(body)), validUntil };
      },
      prepareTopic: () => {
        throw new Error("the simulation makes no topic");
      },
      send: (bytes) => this.#send(owner, JSON.parse(Buffer.from(bytes).toString()) as Body),
      receipt: (transactionId) => this.#askReceipt(owner, transactionId),
      close: () => undefined,
    };
  }

  #now(): bigint {
    return nanosecondsOf(this.#parts.time.now);
  }

  #send(owner: Owner, body: Body): Promise<SendOutcome> {
    const { time, faults } = this.#parts;
    return new Promise((resolve) => {
      const answer = (outcome: SendOutcome, delayMs = faults.latency("consensus")): void => {
        time.in(delayMs, owner, () => resolve(outcome));
      };
      const lost = (why: string): void => answer({ kind: "unknown", why }, 1_000);
      if (faults.strikes("consensus: other nodes")) {
        return answer({ kind: "unsendable", why: "signed for other nodes" }, 0);
      }
      if (faults.strikes("consensus: dropped")) return lost("no answer");
      time.in(faults.latency("consensus"), null, () => {
        const status = this.#precheck(body);
        if (status !== "OK") return answer({ kind: "refused", status, refusal: refusalOf(status) });
        if (!faults.strikes("consensus: vanished")) this.#pass(body);
        if (faults.strikes("consensus: answer lost")) return lost("the answer was lost");
        answer({ kind: "accepted" });
      });
    });
  }

  #precheck({ transactionId, validUntil }: Body): string {
    const { faults } = this.#parts;
    const now = this.#now();
    if (faults.strikes("consensus: busy")) return "BUSY";
    if (faults.isOn("consensus: no balance")) return "INSUFFICIENT_PAYER_BALANCE";
    if (faults.strikes("consensus: expired")) return "TRANSACTION_EXPIRED";
    const { validStart } = parseTransactionId(transactionId);
    if (validStart > now) return "INVALID_TRANSACTION_START";
    if (BigInt(validUntil) - BUFFER < now) return "TRANSACTION_EXPIRED";
    const isKnown = this.#onTheirWay.has(transactionId) || this.#effects.has(transactionId);
    return isKnown || faults.strikes("consensus: duplicate") ? "DUPLICATE_TRANSACTION" : "OK";
  }

  /** On its way to consensus; somebody else's transaction under the same id may come first. */
  #pass(body: Body): void {
    const { time, random, faults } = this.#parts;
    this.#onTheirWay.add(body.transactionId);
    if (faults.strikes("consensus: foreign id")) {
      time.in(0, null, () => this.#settle(body, "SUCCESS", false));
    }
    const delayMs = random.chance(faults.slowConsensus)
      ? random.between(1, 60_000)
      : random.between(5, 2_500);
    time.in(delayMs, null, () => {
      const isLate = this.#now() > BigInt(body.validUntil);
      const fails = faults.strikes("consensus: no effect");
      const status = isLate
        ? "TRANSACTION_EXPIRED"
        : fails
          ? "INSUFFICIENT_PAYER_BALANCE"
          : "SUCCESS";
      this.#settle(body, status, true);
    });
  }

  #settle(
    { transactionId, topicId, message: text }: Body,
    given: string,
    isMessage: boolean,
  ): void {
    const { time, random, faults, onMessage } = this.#parts;
    const earlier = this.#effects.get(transactionId) ?? [];
    const status = earlier.length > 0 ? "DUPLICATE_TRANSACTION" : given;
    const now = this.#now();
    this.#last = now > this.#last ? now : this.#last + 1n;
    const effect = { status, at: this.#last, reachedAt: time.now, topicId };
    if (status !== "SUCCESS" || !isMessage) {
      this.#effects.set(transactionId, [...earlier, { ...effect, message: null }]);
      return;
    }
    const rows = this.#topics.get(topicId) ?? [];
    this.#topics.set(topicId, rows);
    const sequenceNumber = rows.length + 1;
    const { payer } = parseTransactionId(transactionId);
    const consensusTimestamp = formatTimestamp(this.#last);
    const bytes = Buffer.from(text);
    const previous = this.#hashes.get(topicId) ?? FIRST_RUNNING_HASH;
    const link = { previous, payer, topic: topicId, consensusTimestamp, sequenceNumber };
    const hash = runningHash({ ...link, message: bytes });
    this.#hashes.set(topicId, hash);
    const message = {
      ...{ topicId, sequenceNumber, consensusTimestamp, bytes, payer, runningHashVersion: 3 },
      runningHash: hash.toString("base64"),
      chunk: { transactionId, number: 1, total: 1 },
    };
    const isLacking = faults.strikes("mirror: replica lacks a message");
    const shownFrom = isLacking ? time.now + random.between(0, 8_000) : 0;
    rows.push({ message, reachedAt: time.now, shownFrom });
    this.#effects.set(transactionId, [...earlier, { ...effect, message }]);
    onMessage(message);
  }

  #askReceipt(owner: Owner, transactionId: string): Promise<ReceiptOutcome> {
    const { time, faults } = this.#parts;
    return new Promise((resolve) => {
      time.in(faults.latency("consensus"), null, () => {
        const isLost = faults.strikes("consensus: receipt lost");
        const outcome = isLost ? NO_RECEIPT : this.#receipt(transactionId);
        time.in(faults.latency("consensus"), owner, () => resolve(outcome));
      });
    });
  }

  #receipt(transactionId: string): ReceiptOutcome {
    const [effect] = this.#effects.get(transactionId) ?? [];
    if (effect === undefined || this.#now() - effect.at >= RECEIPTS_KEPT) return NO_RECEIPT;
    const { status, message } = effect;
    if (status !== "SUCCESS") return { kind: "failed", status, refusal: refusalOf(status) };
    const { sequenceNumber = null, runningHash: hash = null } = message ?? {};
    return { kind: "success", sequenceNumber, runningHash: hash, topicId: null };
  }

  /**
   * The mirror node, as a process reaches it.
   *
   * @param nightsMs how far its newest block is beyond the world's time; publishing goes by that alone
   */
  mirrorFor(owner: Owner, nightsMs: () => number = () => 0): MirrorNode {
    const unused = (): never => {
      throw new Error("the simulation does not read this");
    };
    const read = <T>(answer: () => T, deadlineMs?: number) => this.#read(owner, answer, deadlineMs);
    return {
      ...{ account: unused, isContract: unused, token: unused },
      ...{ nftTransactions: unused, messageMemos: unused, exchangeRate: unused },
      nftsOf: (wallet, tokens, limits) => {
        const answer = () => {
          const serials = tokens.map((token) => this.#parts.holdings(wallet, token));
          this.#parts.onHoldings();
          // As many as tokens, which `map` does not say.
          return serials as unknown as { readonly [K in keyof typeof tokens]: readonly number[] };
        };
        const reading = read(answer, limits?.deadlineMs);
        reading.then(
          (serials) => this.#parts.onHeard(wallet, serials),
          () => undefined,
        );
        return reading;
      },
      nft: (token, serial, limits) => read(() => this.#nft(token, serial), limits?.deadlineMs),
      nftOwners: (token, limits) => this.#owners(owner, token, limits?.deadlineMs),
      topic: (topicId, limits) =>
        read(
          () => ({
            ...{ topicId, adminKey: null, submitKey: KEY, feeScheduleKey: null },
            ...{ customFees: 0, memo: "", deleted: false },
          }),
          limits?.deadlineMs,
        ),
      topicMessages: (topicId, { afterSequence = 0 }, limits) =>
        read(() => this.#page(topicId, afterSequence), limits?.deadlineMs),
      topicMessage: (topicId, sequence, limits) =>
        read(() => {
          const row = this.#topics.get(topicId)?.[sequence - 1];
          return row !== undefined && this.#isShown(row) ? row.message : null;
        }, limits?.deadlineMs),
      transactions: (id, limits) => read(() => this.#rows(id), limits?.deadlineMs),
      newestBlock: (limits) =>
        read(() => {
          const to = formatTimestamp(BigInt(Math.floor(this.#horizon() + nightsMs())) * 1_000_000n);
          return { number: 1, from: to, to };
        }, limits?.deadlineMs),
      close: async () => undefined,
    };
  }

  #nft(token: string, serial: number): MirrorNft {
    const { owner, consensusAt } = this.#parts.ownerOf(token, serial);
    const changedAt = consensusAt === null ? null : formatTimestamp(nanosecondsOf(consensusAt));
    const holder = owner === null ? null : `0.0.${owner}`;
    return { tokenId: token, serial, owner: holder, deleted: false, changedAt };
  }

  /** Page by page: what moves meanwhile is shown where it is by then. */
  async *#owners(owner: Owner, token: string, deadlineMs?: number) {
    const serials = this.#parts.serials(token);
    for (let from = 0; from < serials.length; from += OWNERS_PAGE) {
      const page = serials.slice(from, from + OWNERS_PAGE);
      const answer = () => page.map((serial) => this.#nft(token, serial));
      yield await this.#read(owner, answer, deadlineMs);
    }
  }

  /** The mirror node shows what had reached consensus by then. */
  #horizon(): number {
    return this.#parts.time.now - this.#parts.faults.mirrorBehindMs();
  }

  #isShown({ reachedAt, shownFrom }: Mirrored): boolean {
    return reachedAt <= this.#horizon() && shownFrom <= this.#parts.time.now;
  }

  #page(topicId: string, after: number) {
    const rest = (this.#topics.get(topicId) ?? []).slice(after, after + PAGE + 1);
    const shown = rest.filter((row) => this.#isShown(row)).map(({ message }) => message);
    const half = this.#parts.faults.strikes("mirror: half a page");
    const messages = shown.slice(0, half ? Math.ceil(shown.length / 2) : PAGE);
    return { messages, more: shown.length > messages.length };
  }

  #rows(id: string): readonly MirrorTransaction[] {
    const { payer, validStart } = parseTransactionId(id);
    const effects = this.#effects.get(formatTransactionId({ payer, validStart })) ?? [];
    return effects.flatMap(({ status, at, reachedAt, topicId, message }) => {
      if (reachedAt > this.#horizon()) return [];
      const isMessage = message !== null || status !== "SUCCESS";
      const row = {
        transactionId: mirrorTransactionId({ payer, validStart }),
        consensusTimestamp: formatTimestamp(at),
        entityId: topicId,
        name: isMessage ? "CONSENSUSSUBMITMESSAGE" : "CRYPTOTRANSFER",
      };
      return [{ ...row, nonce: 0, result: status, scheduled: false }];
    });
  }

  #read<T>(owner: Owner, answer: () => T, deadlineMs = 10_000): Promise<T> {
    const { time, faults } = this.#parts;
    return new Promise((resolve, reject) => {
      const fail = (fault: "busy" | "network" | "timeout", delayMs: number): void => {
        const error = new MirrorError(fault, "as the simulation has it");
        time.in(Math.min(delayMs, deadlineMs), owner, () => reject(error));
      };
      const there = faults.latency("mirror");
      if (faults.isOn("mirror: away")) return fail("network", there);
      if (faults.strikes("mirror: 5xx")) return fail("busy", there);
      if (faults.strikes("mirror: 429")) return fail("busy", deadlineMs);
      const back = faults.latency("mirror");
      if (faults.strikes("mirror: slow") || there + back >= deadlineMs) {
        return fail("timeout", deadlineMs);
      }
      time.in(there, null, () => {
        const value = answer();
        time.in(back, owner, () => resolve(value));
      });
    });
  }
}

function nanosecondsOf(ms: number): bigint {
  return BigInt(Math.floor(ms * 1_000)) * 1_000n;
}

const NO_RECEIPT = { kind: "unknown" } as const;
