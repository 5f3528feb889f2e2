import type * as Sdk from "@hashgraph/sdk";
import { bounds } from "../bounds.ts";
import { askNode, type Nodes, type NodesOptions, openNodes } from "./consensus-nodes.ts";
import { mirrorKeyOf, type OperatorKey, readOperatorKey } from "./operator-key.ts";
import { bytesOf, readFields } from "./protobuf-wire.ts";
import {
  type PreparedTransaction,
  type ReceiptOutcome,
  refusalOf,
  type SendOutcome,
  type Topic,
  type TopicMessage,
} from "./topic.ts";
import { formatTransactionId, parseTransactionId, type TransactionId } from "./transaction-id.ts";

export interface HederaTopicOptions extends NodesOptions {
  readonly operatorId: string;
  /** DER or raw hex (see `operator-key.ts`). */
  readonly operatorKey: string;
}

/** A message is signed for so many nodes: one that does not answer leaves two to ask. */
const NODES_PER_MESSAGE = 3;
/** Creating a topic costs 0.01 USD: five HBAR leave room for any rate. */
const TOPIC_FEE_MAX_TINYBARS = 500_000_000;
const NANOS_PER_SECOND = 1_000_000_000n;

/**
 * Topics of a Hedera network, through its SDK.
 *
 * @throws RangeError when the key is none, or the local network has no nodes
 */
export async function createHederaTopic(options: HederaTopicOptions): Promise<Topic> {
  const key = readOperatorKey(options.operatorKey);
  const session = { ...(await openNodes(options)), key, payer: options.operatorId };
  const { sdk } = session;
  return {
    payer: options.operatorId,
    publicKey: mirrorKeyOf(key),
    prepareMessage: (message) => prepareMessage(session, message),
    prepareTopic: ({ memo, validStart }) =>
      sign(
        session,
        new sdk.TopicCreateTransaction()
          .setTopicMemo(memo)
          .setSubmitKey(publicKey(session))
          // No admin key, so it cannot be changed; its rent is the payer's (HIP-1021).
          .setAutoRenewAccountId(options.operatorId)
          .setMaxTransactionFee(sdk.Hbar.fromTinybars(TOPIC_FEE_MAX_TINYBARS)),
        validStart,
      ),
    send: (signedBytes) => send(session, signedBytes),
    receipt: (transactionId) => receipt(session, transactionId),
    close: () => session.connections.close(),
  };
}

interface Session extends Nodes {
  readonly key: OperatorKey;
  readonly payer: string;
}

async function prepareMessage(
  session: Session,
  { topicId, message, memo, validStart }: TopicMessage,
): Promise<PreparedTransaction> {
  const { sdk } = session;
  const length = Buffer.byteLength(message);
  if (length === 0 || length > bounds.messageBytesMax) {
    throw new RangeError(`a message of ${length} bytes does not fit into one chunk`);
  }
  const transaction = new sdk.TopicMessageSubmitTransaction()
    .setTopicId(topicId)
    .setMessage(message)
    .setMaxChunks(1)
    .setTransactionMemo(memo)
    .setMaxTransactionFee(sdk.Hbar.fromTinybars(bounds.transactionFeeMaxTinybars));
  return sign(session, transaction, validStart);
}

/** Freezes a transaction under our own id and signs it for each of a few nodes. */
async function sign(
  session: Session,
  transaction: Sdk.Transaction,
  validStart: bigint,
): Promise<PreparedTransaction> {
  const { sdk, key, payer } = session;
  const nodes = session.inTurn().slice(0, NODES_PER_MESSAGE);
  transaction
    .setTransactionId(sdkTransactionId(sdk, { payer, validStart }))
    .setNodeAccountIds(nodes.map((node) => sdk.AccountId.fromString(node)))
    .setTransactionValidDuration(bounds.transactionValidSeconds)
    .setRegenerateTransactionId(false)
    .freeze();
  await transaction.signWith(publicKey(session), async (body) => key.sign(body));
  return {
    transactionId: formatTransactionId({ payer, validStart }),
    signedBytes: transaction.toBytes(),
    validUntil: validStart + BigInt(bounds.transactionValidSeconds) * NANOS_PER_SECOND,
  };
}

async function send(session: Session, signedBytes: Uint8Array): Promise<SendOutcome> {
  const known = new Set(session.connections.nodes());
  const byNode = perNode(session.sdk, signedBytes);
  const [node = ""] = session.inTurn([...byNode.keys()].filter((each) => known.has(each)));
  const transaction = byNode.get(node);
  if (transaction === undefined) {
    return { kind: "unsendable", why: "signed for no node that this network has" };
  }
  const { answer, status, why } = await askNode(session, node, transaction);
  if (answer !== undefined) return { kind: "accepted" };
  if (status === undefined) return { kind: "unknown", why };
  return { kind: "refused", status, refusal: refusalOf(status) };
}

/** The signed transaction for each node; none when the bytes are no `proto.TransactionList`. */
function perNode(sdk: typeof Sdk, signedBytes: Uint8Array): ReadonlyMap<string, Sdk.Transaction> {
  try {
    const transactions = readFields(signedBytes).map((field) =>
      sdk.Transaction.fromBytes(bytesOf(field)),
    );
    return new Map(transactions.map((each) => [String(each.nodeAccountIds?.[0]), each]));
  } catch {
    return new Map();
  }
}

/** Never by `response.getReceipt()`: that one may submit again, under another id. */
async function receipt(session: Session, transactionId: string): Promise<ReceiptOutcome> {
  const { sdk } = session;
  const [node = ""] = session.inTurn();
  const query = new sdk.TransactionReceiptQuery()
    .setTransactionId(sdkTransactionId(sdk, parseTransactionId(transactionId)))
    .setNodeAccountIds([sdk.AccountId.fromString(node)])
    .setValidateStatus(false);
  const { answer } = await askNode(session, node, query);
  if (answer === undefined) return { kind: "unknown" };
  const status = String(answer.status);
  const refusal = refusalOf(status);
  // That of a copy: it does not say what became of the first one.
  if (refusal === "duplicate") return { kind: "unknown" };
  if (status !== "SUCCESS") return { kind: "failed", status, refusal };
  const { topicSequenceNumber: sequence, topicRunningHash: hash } = answer;
  const isMessage = sequence !== null && !sequence.isZero();
  return {
    kind: "success",
    sequenceNumber: isMessage ? sequence.toNumber() : null,
    runningHash: isMessage && hash !== null ? Buffer.from(hash).toString("base64") : null,
    topicId: answer.topicId?.toString() ?? null,
  };
}

function publicKey({ sdk, key }: Session): Sdk.PublicKey {
  return key.kind === "ed25519"
    ? sdk.PublicKey.fromBytesED25519(key.publicKey)
    : sdk.PublicKey.fromBytesECDSA(key.publicKey);
}

function sdkTransactionId(sdk: typeof Sdk, { payer, validStart }: TransactionId) {
  const seconds = Number(validStart / NANOS_PER_SECOND);
  const start = new sdk.Timestamp(seconds, Number(validStart % NANOS_PER_SECOND));
  return sdk.TransactionId.withValidStart(sdk.AccountId.fromString(payer), start);
}
