import { MirrorError } from "../../src/ledger/mirror/error.ts";
import type { MirrorNode } from "../../src/ledger/mirror/node.ts";
import type { MirrorTopicMessage, MirrorTransaction } from "../../src/ledger/mirror/schemas.ts";
import { FIRST_RUNNING_HASH, runningHash } from "../../src/ledger/running-hash.ts";
import {
  type PreparedTransaction,
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

/** What goes wrong with the next transaction handed in. */
export type SendFault =
  /** Taken, and the answer is lost. */
  | { readonly kind: "answer lost" }
  /** Neither taken nor answered. */
  | { readonly kind: "dropped" }
  /** Taken by a node that dies before it passes it on. */
  | { readonly kind: "vanished" }
  | { readonly kind: "refused"; readonly status: string }
  /** Taken, and without effect at consensus. */
  | { readonly kind: "failed"; readonly status: string };

interface Body {
  readonly transactionId: string;
  readonly topicId: string;
  readonly message: string;
  readonly validUntil: string;
}

interface Effect {
  readonly transactionId: string;
  readonly status: string;
  readonly at: bigint;
  readonly name: string;
  readonly entityId: string;
  readonly sequenceNumber: number | null;
}

const SECOND = 1_000_000_000n;
const VALID_FOR = 120n * SECOND;
const RECEIPTS_KEPT = 180n * SECOND;
const BUFFER = 10n * SECOND;

/**
 * A whole ledger in memory: consensus nodes with the prechecks that publishing meets, and a
 * mirror node that may be behind or away. Time passes only on request.
 */
export class FakeLedger {
  /** Nanoseconds since the epoch. */
  now = 1_795_161_600n * SECOND;
  /** Strike one transaction each, in order. */
  readonly sendFaults: SendFault[] = [];
  /** Set: every transaction meets it. */
  standingFault: SendFault | undefined;
  /** Transactions that were signed for nodes which this network no longer has. */
  readonly strayed = new Set<string>();
  /** Nodes that answer no receipt query. */
  receiptsAway = false;
  mirrorAway = false;
  /** The mirror node shows nothing that reached consensus after this; absent: everything. */
  mirrorStandsAt: bigint | undefined;
  /** Transactions that the replica behind the mirror node's address has not got. */
  readonly mirrorLacks = new Set<string>();
  /** How often `send` was called. */
  sends = 0;
  readonly effects: Effect[] = [];
  readonly messages: MirrorTopicMessage[] = [];
  readonly #hashes = new Map<string, Buffer>();

  advance(seconds: number): void {
    this.now += BigInt(Math.round(seconds * 1e9));
  }

  /** The messages of a topic as text. */
  texts(topicId?: string): readonly string[] {
    return this.messages
      .filter((message) => topicId === undefined || message.topicId === topicId)
      .map(({ bytes }) => bytes.toString());
  }

  topic(payer = "0.0.1002"): Topic {
    return {
      payer,
      publicKey: { _type: "ED25519", key: "11".repeat(32) },
      prepareMessage: async ({ topicId, message, validStart }) => {
        const length = Buffer.byteLength(message);
        if (length === 0 || length > 1_024) throw new RangeError("not one chunk");
        const transactionId = formatTransactionId({ payer, validStart });
        return prepared({ transactionId, topicId, message, validStart });
      },
      prepareTopic: async ({ validStart }) => {
        const transactionId = formatTransactionId({ payer, validStart });
        return prepared({ transactionId, topicId: "", message: "", validStart });
      },
      send: async (signedBytes) => this.#send(signedBytes),
      receipt: async (transactionId) => this.#receipt(transactionId),
      close: () => undefined,
    };
  }

  mirror(): MirrorNode {
    const seen = <T extends { readonly consensusTimestamp: string }>(rows: readonly T[]) =>
      rows.filter((row) => {
        const [seconds = "", nanos = ""] = row.consensusTimestamp.split(".");
        const at = BigInt(seconds) * SECOND + BigInt(nanos);
        return this.mirrorStandsAt === undefined || at <= this.mirrorStandsAt;
      });
    const lacks = (id: string | undefined): boolean => this.mirrorLacks.has(id ?? "");
    const messages = () => seen(this.messages).filter(({ chunk }) => !lacks(chunk?.transactionId));
    const reading = async <T>(read: () => T): Promise<T> => {
      if (this.mirrorAway) throw new MirrorError("network", "away");
      return read();
    };
    const unused = (): never => {
      throw new Error("publishing does not read this");
    };
    return {
      account: unused,
      isContract: unused,
      nftsOf: unused,
      nft: unused,
      nftOwners: unused,
      nftTransactions: unused,
      token: unused,
      messageMemos: unused,
      exchangeRate: unused,
      topic: (topicId) =>
        reading(() => ({
          topicId,
          adminKey: null,
          submitKey: { _type: "ED25519" as const, key: "11".repeat(32) },
          feeScheduleKey: null,
          customFees: 0,
          memo: "",
          deleted: false,
        })),
      topicMessages: (topicId, { afterSequence = 0 }) =>
        reading(() => {
          const rest = messages().filter(
            (row) => row.topicId === topicId && row.sequenceNumber > afterSequence,
          );
          return { messages: rest.slice(0, 100), more: rest.length > 100 };
        }),
      topicMessage: (topicId, sequence) =>
        reading(
          () =>
            messages().find((row) => row.topicId === topicId && row.sequenceNumber === sequence) ??
            null,
        ),
      transactions: (id) =>
        reading(() =>
          seen(this.effects.filter((row) => !lacks(row.transactionId)).map(toRow)).filter(
            (row) => row.transactionId === mirrorTransactionId(parseTransactionId(id)),
          ),
        ),
      newestBlock: () =>
        reading(() => {
          const to = formatTimestamp(this.mirrorStandsAt ?? this.now);
          return { number: 1, from: to, to };
        }),
      close: async () => undefined,
    };
  }

  /** A transaction of somebody else under this id takes effect. */
  foreign(
    transactionId: string,
    what: { readonly topicId: string; readonly message?: string },
  ): void {
    const { topicId, message } = what;
    this.#reachConsensus(
      { transactionId, topicId, message: message ?? "" },
      "SUCCESS",
      message !== undefined,
    );
  }

  #send(signedBytes: Uint8Array): SendOutcome {
    this.sends += 1;
    const body = JSON.parse(Buffer.from(signedBytes).toString()) as Body;
    if (this.strayed.has(body.transactionId)) return { kind: "unsendable", why: "strayed" };
    const fault = this.standingFault ?? this.sendFaults.shift();
    if (fault?.kind === "dropped") return { kind: "unknown", why: "no answer" };
    const status = fault?.kind === "refused" ? fault.status : this.#precheck(body);
    if (status !== "OK") return { kind: "refused", status, refusal: refusalOf(status) };
    if (fault?.kind !== "vanished") {
      this.#reachConsensus(body, fault?.kind === "failed" ? fault.status : "SUCCESS", true);
    }
    return fault?.kind === "answer lost"
      ? { kind: "unknown", why: "the answer was lost" }
      : { kind: "accepted" };
  }

  #precheck({ transactionId, validUntil }: Body): string {
    const { validStart } = parseTransactionId(transactionId);
    if (validStart > this.now) return "INVALID_TRANSACTION_START";
    if (BigInt(validUntil) - BUFFER < this.now) return "TRANSACTION_EXPIRED";
    return this.effects.some((effect) => effect.transactionId === transactionId)
      ? "DUPLICATE_TRANSACTION"
      : "OK";
  }

  #reachConsensus(body: Omit<Body, "validUntil">, status: string, isMessage: boolean): void {
    const { transactionId, topicId, message } = body;
    this.now += 1_000_000n;
    const sequence = this.messages.filter((row) => row.topicId === topicId).length + 1;
    const isEffective = isMessage && status === "SUCCESS";
    this.effects.push({
      transactionId,
      status,
      at: this.now,
      name: isMessage ? "CONSENSUSSUBMITMESSAGE" : "CRYPTOTRANSFER",
      entityId: topicId,
      sequenceNumber: isEffective ? sequence : null,
    });
    if (!isEffective) return;
    const { payer } = parseTransactionId(transactionId);
    const consensusTimestamp = formatTimestamp(this.now);
    const hash = runningHash({
      previous: this.#hashes.get(topicId) ?? FIRST_RUNNING_HASH,
      payer,
      topic: topicId,
      consensusTimestamp,
      sequenceNumber: sequence,
      message: Buffer.from(message),
    });
    this.#hashes.set(topicId, hash);
    this.messages.push({
      topicId,
      sequenceNumber: sequence,
      consensusTimestamp,
      bytes: Buffer.from(message),
      payer,
      runningHash: hash.toString("base64"),
      runningHashVersion: 3,
      chunk: { transactionId, number: 1, total: 1 },
    });
  }

  #receipt(transactionId: string): ReceiptOutcome {
    const effect = this.effects.find((each) => each.transactionId === transactionId);
    const isKept = effect !== undefined && this.now - effect.at < RECEIPTS_KEPT;
    if (!isKept || this.receiptsAway) return { kind: "unknown" };
    const { status, sequenceNumber, entityId } = effect;
    const refusal = refusalOf(status);
    if (refusal === "duplicate") return { kind: "unknown" };
    if (status !== "SUCCESS") return { kind: "failed", status, refusal };
    const message = this.messages.find(
      (row) => row.topicId === entityId && row.sequenceNumber === sequenceNumber,
    );
    return {
      kind: "success",
      sequenceNumber,
      runningHash: message?.runningHash ?? null,
      topicId: null,
    };
  }
}

function prepared(body: {
  transactionId: string;
  topicId: string;
  message: string;
  validStart: bigint;
}): PreparedTransaction {
  const { transactionId, topicId, message, validStart } = body;
  const validUntil = validStart + VALID_FOR;
  const text = JSON.stringify({ transactionId, topicId, message, validUntil: String(validUntil) });
  return { transactionId, signedBytes: Buffer.from(text), validUntil };
}

function toRow(effect: Effect): MirrorTransaction {
  return {
    transactionId: mirrorTransactionId(parseTransactionId(effect.transactionId)),
    consensusTimestamp: formatTimestamp(effect.at),
    entityId: effect.entityId,
    name: effect.name,
    nonce: 0,
    result: effect.status,
    scheduled: false,
  };
}
