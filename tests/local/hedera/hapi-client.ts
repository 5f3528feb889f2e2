import { sign } from "node:crypto";
import { Client, credentials } from "@grpc/grpc-js";
import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { type Nanos, SECOND } from "../../../src/local/hedera/timestamps.ts";
import type { Holder } from "./network.ts";

const { proto } = hapi;

/** A transaction to build, with the faults that a test asks for. */
export interface Draft {
  readonly payer: Holder;
  readonly node: string;
  readonly validStart: Nanos;
  readonly body: Partial<Hapi.ITransactionBody>;
  readonly validSeconds?: number;
  readonly maxFee?: number;
  readonly memo?: string;
  readonly signers?: readonly Holder[];
}

/** The bytes of a signed `Transaction`. */
export function transactionBytes(draft: Draft): Buffer {
  const { payer, validStart } = draft;
  const bodyBytes = proto.TransactionBody.encode({
    transactionID: { accountID: account(payer.id), transactionValidStart: timestamp(validStart) },
    nodeAccountID: account(draft.node),
    transactionFee: int64(draft.maxFee ?? 100_000_000),
    transactionValidDuration: { seconds: int64(draft.validSeconds ?? 120) },
    memo: draft.memo ?? "",
    ...draft.body,
  }).finish();
  const sigPair = (draft.signers ?? [payer]).map(({ publicKey, privateKey }) => ({
    pubKeyPrefix: publicKey,
    ed25519: sign(null, bodyBytes, privateKey),
  }));
  const signed = proto.SignedTransaction.encode({ bodyBytes, sigMap: { sigPair } }).finish();
  return encoded(proto.Transaction.encode({ signedTransactionBytes: signed }).finish());
}

/** `ConsensusSubmitMessage`, in one chunk as the SDK sends it. */
export function submitMessage(topic: string, message: Uint8Array): Partial<Hapi.ITransactionBody> {
  return { consensusSubmitMessage: { topicID: { topicNum: int64(num(topic)) }, message } };
}

export interface HapiClient {
  /** Sends the bytes of a transaction; answers the precheck code. */
  send(bytes: Buffer, method?: string): Promise<{ code: string; cost: number }>;
  /** Asks for receipts; `header` is the precheck code of the query. */
  receipts(payer: string, validStart: Nanos): Promise<Receipts>;
  close(): void;
}

export interface Receipts {
  readonly header: string;
  readonly receipt: Hapi.ITransactionReceipt;
  readonly status: string;
  readonly duplicates: string[];
}

/** Speaks HAPI to one node, byte by byte. */
export function hapiClient(address: string): HapiClient {
  const client = new Client(address, credentials.createInsecure());
  const call = (path: string, request: Buffer): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const same = (bytes: Buffer): Buffer => bytes;
      client.makeUnaryRequest(path, same, same, request, (error, answer) => {
        if (error === null && answer !== undefined) resolve(answer);
        else reject(error ?? new Error("no answer"));
      });
    });
  return {
    async send(bytes, method = "submitMessage") {
      const answer = proto.TransactionResponse.decode(
        await call(`/proto.ConsensusService/${method}`, bytes),
      );
      return { code: name(answer.nodeTransactionPrecheckCode), cost: Number(answer.cost) };
    },
    async receipts(payer, validStart) {
      const query = proto.Query.encode({
        transactionGetReceipt: {
          header: {},
          includeDuplicates: true,
          transactionID: {
            accountID: account(payer),
            transactionValidStart: timestamp(validStart),
          },
        },
      }).finish();
      const bytes = await call("/proto.CryptoService/getTransactionReceipts", encoded(query));
      const { transactionGetReceipt: answer } = proto.Response.decode(bytes);
      const receipt = answer?.receipt ?? {};
      return {
        header: name(answer?.header?.nodeTransactionPrecheckCode),
        receipt,
        status: name(receipt.status),
        duplicates: (answer?.duplicateTransactionReceipts ?? []).map((other) => name(other.status)),
      };
    },
    close: () => client.close(),
  };
}

function name(code: number | null | undefined): string {
  return proto.ResponseCodeEnum[code ?? 0] ?? String(code);
}

function account(id: string): Hapi.IAccountID {
  return { accountNum: int64(num(id)) };
}

function timestamp(at: Nanos): Hapi.ITimestamp {
  return { seconds: int64(Number(at / SECOND)), nanos: Number(at % SECOND) };
}

function num(id: string): number {
  return Number(id.split(".")[2]);
}

function encoded(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes);
}

type Int64 = NonNullable<Hapi.ITimestamp["seconds"]>;

/** The encoder takes plain numbers; only its typings insist on `Long`. */
export function int64(value: number): Int64 {
  return value as unknown as Int64;
}
