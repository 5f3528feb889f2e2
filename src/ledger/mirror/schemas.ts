import { z } from "zod";

/**
 * The answers of the mirror node's REST interface, cut down to the fields we
 * read. Fields we do not name may come, go and change; a field we name must be
 * there with its type, or the whole answer is refused. `z.int()` refuses numbers
 * beyond 2^53, which `JSON.parse` has already falsified.
 */

const entity = z.string().regex(/^\d{1,10}\.\d{1,10}\.\d{1,12}$/);
const timestamp = z.string().regex(/^\d{1,10}\.\d{9}$/);
const count = z.int().min(0);
const positive = z.int().min(1);
const text = z.string();
const wholeNumber = z.string().regex(/^\d{1,19}$/);
const base64 = z.base64();
/** 48 bytes. */
const runningHash = z.string().regex(/^[A-Za-z0-9+/]{64}$/);

const key = z
  .discriminatedUnion("_type", [
    z.object({ _type: z.literal("ED25519"), key: z.string().regex(/^[0-9a-f]{64}$/i) }),
    z.object({ _type: z.literal("ECDSA_SECP256K1"), key: z.string().regex(/^[0-9a-f]{66}$/i) }),
    z.object({
      _type: z.literal("ProtobufEncoded"),
      key: z
        .string()
        .max(32_768)
        .regex(/^[0-9a-f]*$/i),
    }),
  ])
  .nullable();

/** Null stands for an entity whose creation the node has not seen; such a one is not deleted. */
const deleted = z
  .boolean()
  .nullable()
  .transform((value) => value === true);

const links = z.object({ next: z.string().min(1).max(2_048).nullable() });

const rows = <Row extends z.ZodType>(row: Row) => z.array(row).max(100);

export const problemSchema = z.object({
  _status: z.object({ messages: z.array(z.object({ message: text })).min(1) }),
});

export const accountSchema = z.object({
  account: entity,
  deleted,
  key,
  evm_address: z
    .string()
    .regex(/^0x[0-9a-f]{40}$/)
    .nullish(),
  /** Tinybars; those of the largest accounts are beyond 2^53, so the last digits may be lost. */
  balance: z
    .object({ balance: z.number().min(0) })
    .nullish()
    .catch(null),
});

export const exchangeRateSchema = z
  .object({ current_rate: z.object({ cent_equivalent: positive, hbar_equivalent: positive }) })
  .transform(({ current_rate: rate }) => ({
    /** US cents that `hbars` are worth. */
    cents: rate.cent_equivalent,
    hbars: rate.hbar_equivalent,
  }));

export const contractSchema = z.object({ contract_id: entity });

export const nftSchema = z
  .object({
    account_id: entity.nullable(),
    deleted: z.boolean(),
    modified_timestamp: text.nullish(),
    serial_number: positive,
    token_id: entity,
  })
  .transform((row) => ({
    tokenId: row.token_id,
    serial: row.serial_number,
    /** Null once burned or wiped. */
    owner: row.account_id,
    /** The NFT, or its whole collection. */
    deleted: row.deleted,
    /** `seconds.nnnnnnnnn` of its last change, of which a transfer is one; null: not known. */
    changedAt: row.modified_timestamp ?? null,
  }));

export const nftsSchema = z.object({ nfts: rows(nftSchema), links });

const nftTransaction = z
  .object({
    consensus_timestamp: timestamp,
    type: text,
    sender_account_id: entity.nullable(),
    receiver_account_id: entity.nullable(),
  })
  .transform((row) => ({
    consensusTimestamp: row.consensus_timestamp,
    /** CRYPTOTRANSFER, TOKENMINT, TOKENWIPE, CRYPTOAPPROVEALLOWANCE, … */
    type: row.type,
    /** Null for a mint. */
    sender: row.sender_account_id,
    /** Null when no account holds it afterwards, or none moved it. */
    receiver: row.receiver_account_id,
  }));

export const nftTransactionsSchema = z.object({ transactions: rows(nftTransaction), links });

export const tokenSchema = z
  .object({
    token_id: entity,
    type: z.enum(["FUNGIBLE_COMMON", "NON_FUNGIBLE_UNIQUE"]),
    total_supply: wholeNumber,
    deleted,
  })
  .transform((row) => ({
    tokenId: row.token_id,
    type: row.type,
    /** Of a collection, the number of its NFTs. */
    totalSupply: BigInt(row.total_supply),
    deleted: row.deleted,
  }));

export const topicSchema = z
  .object({
    topic_id: entity,
    admin_key: key,
    submit_key: key,
    fee_schedule_key: key,
    custom_fees: z.object({ fixed_fees: z.array(z.unknown()) }),
    memo: text,
    deleted,
  })
  .transform((row) => ({
    topicId: row.topic_id,
    adminKey: row.admin_key,
    submitKey: row.submit_key,
    feeScheduleKey: row.fee_schedule_key,
    customFees: row.custom_fees.fixed_fees.length,
    memo: row.memo,
    deleted: row.deleted,
  }));

/**
 * The parts are joined as they come: an id that is not well formed belongs to no transaction,
 * and must not make the rest of a topic unreadable.
 */
const initialTransactionId = z
  .object({ account_id: text, transaction_valid_start: text })
  .transform((id) => `${id.account_id}@${id.transaction_valid_start}`);

export const topicMessageSchema = z
  .object({
    chunk_info: z
      .object({ initial_transaction_id: initialTransactionId, number: z.int(), total: z.int() })
      .nullish(),
    consensus_timestamp: timestamp,
    message: base64,
    payer_account_id: entity,
    running_hash: runningHash,
    running_hash_version: count,
    sequence_number: positive,
    topic_id: entity,
  })
  .transform((row) => ({
    topicId: row.topic_id,
    sequenceNumber: row.sequence_number,
    /** `seconds.nnnnnnnnn` */
    consensusTimestamp: row.consensus_timestamp,
    bytes: Buffer.from(row.message, "base64"),
    payer: row.payer_account_id,
    /** Base64, as the mirror node gives it. */
    runningHash: row.running_hash,
    runningHashVersion: row.running_hash_version,
    /** `transactionId` is `0.0.n@s.nnnnnnnnn`: the id of the (first) transaction that carried it. */
    chunk: row.chunk_info
      ? {
          transactionId: row.chunk_info.initial_transaction_id,
          number: row.chunk_info.number,
          total: row.chunk_info.total,
        }
      : null,
  }));

export const topicMessagesSchema = z.object({ messages: rows(topicMessageSchema), links });

const transaction = z
  .object({
    transaction_id: text,
    consensus_timestamp: timestamp,
    entity_id: entity.nullable(),
    name: text,
    nonce: count,
    result: text,
    scheduled: z.boolean(),
  })
  .transform((row) => ({
    /** `0.0.n-s-nnnnnnnnn`, the mirror node's spelling. */
    transactionId: row.transaction_id,
    consensusTimestamp: row.consensus_timestamp,
    entityId: row.entity_id,
    name: row.name,
    nonce: row.nonce,
    /** SUCCESS, DUPLICATE_TRANSACTION, … */
    result: row.result,
    scheduled: row.scheduled,
  }));

export const transactionsSchema = z.object({ transactions: rows(transaction) });

/** A transaction of an account with the memo that it carried. */
const memo = z
  .object({
    transaction_id: text,
    consensus_timestamp: timestamp,
    memo_base64: base64.nullable(),
  })
  .transform((row) => ({
    /** `0.0.n-s-nnnnnnnnn`, the mirror node's spelling. */
    transactionId: row.transaction_id,
    consensusTimestamp: row.consensus_timestamp,
    memo: Buffer.from(row.memo_base64 ?? "", "base64").toString("latin1"),
  }));

export const memosSchema = z.object({ transactions: rows(memo), links });

const block = z
  .object({ number: count, timestamp: z.object({ from: timestamp, to: timestamp }) })
  .transform((row) => ({ number: row.number, ...row.timestamp }));

export const blocksSchema = z.object({ blocks: rows(block) });

export type MirrorAccount = z.output<typeof accountSchema>;
export type MirrorExchangeRate = z.output<typeof exchangeRateSchema>;
export type MirrorNft = z.output<typeof nftSchema>;
export type MirrorNftTransaction = z.output<typeof nftTransaction>;
export type MirrorTopic = z.output<typeof topicSchema>;
export type MirrorTopicMessage = z.output<typeof topicMessageSchema>;
export type MirrorTransaction = z.output<typeof transaction>;
export type MirrorMemo = z.output<typeof memo>;
export type MirrorBlock = z.output<typeof block>;
