import { createHash } from "node:crypto";

/** One message as the mirror node gives it. */
export interface MessageRow {
  readonly consensus_timestamp: string;
  readonly message: string;
  readonly payer_account_id: string;
  readonly running_hash: string;
  readonly sequence_number: number;
  readonly topic_id: string;
  readonly chunk_info: { readonly initial_transaction_id: { transaction_valid_start: string } };
}

/**
 * An outsider's check of a topic, from REST rows alone: written from the protobuf
 * documentation (which fields) and Java's object serialisation protocol (how the network's
 * nodes lay them out), not from the code under test.
 *
 * @returns the sequence numbers at which gap-freedom, order or the hash chain breaks
 */
export function brokenLinks(rows: readonly MessageRow[]): number[] {
  let previous = Buffer.alloc(48);
  let time = "";
  return rows.flatMap((row, index) => {
    const expected = nextHash(previous, row);
    const later = row.consensus_timestamp > time;
    previous = Buffer.from(row.running_hash, "base64");
    time = row.consensus_timestamp;
    const whole = row.sequence_number === index + 1 && later && expected.equals(previous);
    return whole ? [] : [row.sequence_number];
  });
}

function nextHash(previous: Buffer, row: MessageRow): Buffer {
  const [seconds = "", nanos = ""] = row.consensus_timestamp.split(".");
  const content = createHash("sha384").update(Buffer.from(row.message, "base64")).digest();
  const numbers = Buffer.concat([
    longs(3),
    longs(...row.payer_account_id.split(".").map(Number)),
    longs(...row.topic_id.split(".").map(Number)),
    longs(Number(seconds)),
    longs(Number(nanos)).subarray(4),
    longs(row.sequence_number),
  ]);
  return createHash("sha384")
    .update(STREAM_HEADER)
    .update(Buffer.from([TC_ARRAY, TC_CLASSDESC]))
    .update(Buffer.from([0, 2, ..."[B".split("").map((char) => char.charCodeAt(0))]))
    .update(BYTE_ARRAY_UID)
    .update(Buffer.from([SC_SERIALIZABLE, 0, 0, TC_ENDBLOCKDATA, TC_NULL]))
    .update(Buffer.from([0, 0, 0, previous.length]))
    .update(previous)
    .update(Buffer.from([TC_BLOCKDATA, numbers.length]))
    .update(numbers)
    .update(Buffer.from([TC_ARRAY, TC_REFERENCE, 0, 0x7e, 0, 0]))
    .update(Buffer.from([0, 0, 0, content.length]))
    .update(content)
    .digest();
}

/** Names of the Java object serialisation protocol, version 5. */
const STREAM_HEADER = Buffer.from([0xac, 0xed, 0, 5]);
const TC_NULL = 0x70;
const TC_REFERENCE = 0x71;
const TC_CLASSDESC = 0x72;
const TC_ARRAY = 0x75;
const TC_BLOCKDATA = 0x77;
const TC_ENDBLOCKDATA = 0x78;
const SC_SERIALIZABLE = 2;
/** `serialVersionUID` of `byte[]`. */
const BYTE_ARRAY_UID = Buffer.from("acf317f8060854e0", "hex");

function longs(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigInt64BE(BigInt(value), index * 8);
  return bytes;
}

/** All messages of a topic, page by page. */
export async function readTopic(mirrorUrl: string, topic: string): Promise<MessageRow[]> {
  const rows: MessageRow[] = [];
  for (let next: string | null = `/api/v1/topics/${topic}/messages?limit=100`; next !== null; ) {
    const answer: Response = await fetch(mirrorUrl + next);
    const body = (await answer.json()) as {
      messages: MessageRow[];
      links: { next: string | null };
    };
    rows.push(...body.messages);
    next = body.links.next;
  }
  return rows;
}
