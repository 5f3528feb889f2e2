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
 * documentation, not from the code under test.
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
  return createHash("sha384")
    .update(previous)
    .update(longs(3))
    .update(longs(...row.payer_account_id.split(".").map(Number)))
    .update(longs(...row.topic_id.split(".").map(Number)))
    .update(longs(Number(seconds)))
    .update(longs(Number(nanos)).subarray(4))
    .update(longs(row.sequence_number))
    .update(content)
    .digest();
}

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
