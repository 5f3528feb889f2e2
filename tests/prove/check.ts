import * as assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Sql } from "../../src/store/postgres.ts";

/** What the checker found on the topics, for the table. */
export interface Checked {
  readonly stars: number;
  readonly messages: number;
}

/**
 * Holds topics against the outbox, from the mirror node's REST answers and the outbox' rows
 * alone; shares no code with publishing. Reads on where it stopped, so it can be asked often.
 */
export interface Checker {
  /**
   * @throws AssertionError when a star is missing, or there twice, or with other bytes, or under
   *   another id or place than the outbox says; when a message belongs to no star; when sequence
   *   numbers have a gap, times go back, or a running hash does not follow; when anything was
   *   noted as a finding
   */
  check(): Promise<Checked>;
}

interface MessageRow {
  readonly consensus_timestamp: string;
  readonly message: string;
  readonly payer_account_id: string;
  readonly running_hash: string;
  readonly sequence_number: number;
  readonly topic_id: string;
  readonly chunk_info: {
    readonly initial_transaction_id: { account_id: string; transaction_valid_start: string };
  };
}

interface OutboxRow {
  readonly star_id: string;
  readonly topic: "event" | "asset";
  readonly message: string;
  readonly state: string;
  readonly topic_id: string | null;
  readonly transaction_id: string | null;
  readonly sequence_number: number | null;
  readonly running_hash: string | null;
}

export function createChecker(given: {
  readonly sql: Sql;
  readonly mirrorUrl: string;
  readonly topics: Readonly<Record<"event" | "asset", string>>;
}): Checker {
  const { sql, mirrorUrl, topics } = given;
  const chains = { event: newChain(), asset: newChain() };
  return {
    async check() {
      const rows = await sql<OutboxRow[]>`
        select star_id, topic, message, state, topic_id, transaction_id, sequence_number, running_hash
        from outbox`;
      for (const kind of ["event", "asset"] as const) {
        await readOn(chains[kind], mirrorUrl, topics[kind]);
        compare(
          chains[kind],
          topics[kind],
          rows.filter((row) => row.topic === kind),
        );
      }
      const open = await sql`select star_id from publish_attempt where closed_at is null`;
      assert.deepEqual([...open], [], "attempts are left open");
      const findings = await sql`select kind, topic_id, sequence_number from publishing_finding`;
      assert.deepEqual([...findings], [], "findings");
      const messages = chains.event.rows.length + chains.asset.rows.length;
      return { stars: rows.length, messages };
    },
  };
}

interface Chain {
  readonly rows: MessageRow[];
  hash: Buffer;
  at: string;
}

const newChain = (): Chain => ({ rows: [], hash: Buffer.alloc(48), at: "" });

/** Reads to the end, and holds each message against the one before. */
async function readOn(chain: Chain, mirrorUrl: string, topic: string): Promise<void> {
  for (;;) {
    const from = chain.rows.length;
    const url = `${mirrorUrl}/api/v1/topics/${topic}/messages?limit=100&sequencenumber=gte:${from + 1}`;
    const { messages } = (await (await fetch(url)).json()) as { messages: MessageRow[] };
    if (messages.length === 0) return;
    for (const row of messages) {
      assert.equal(row.sequence_number, chain.rows.length + 1, `${topic}: a gap`);
      assert.ok(row.consensus_timestamp > chain.at, `${topic} #${row.sequence_number}: time`);
      chain.hash = nextHash(chain.hash, row);
      assert.equal(
        row.running_hash,
        chain.hash.toString("base64"),
        `${topic} #${row.sequence_number}: the running hash does not follow`,
      );
      chain.at = row.consensus_timestamp;
      chain.rows.push(row);
    }
  }
}

function compare(chain: Chain, topic: string, stars: readonly OutboxRow[]): void {
  const byText = new Map<string, MessageRow[]>();
  for (const row of chain.rows) {
    const text = Buffer.from(row.message, "base64").toString();
    byText.set(text, [...(byText.get(text) ?? []), row]);
  }
  for (const star of stars) {
    const said = byText.get(star.message) ?? [];
    assert.equal(said.length, 1, `${said.length} messages of star ${star.star_id}: ${star.state}`);
    const [row] = said;
    assert.equal(star.state, "published", star.star_id);
    const { account_id: payer, transaction_valid_start: start } =
      row?.chunk_info.initial_transaction_id ?? {};
    assert.deepEqual(
      [star.topic_id, star.transaction_id, star.sequence_number, star.running_hash],
      [topic, `${payer}@${start}`, row?.sequence_number, row?.running_hash],
      `the outbox says something else of star ${star.star_id}`,
    );
    byText.delete(star.message);
  }
  assert.deepEqual([...byText.keys()], [], `${topic}: messages that are no star's`);
}

/**
 * The running hash, version 3, as the network's nodes make it: a Java object stream of the hash
 * before, the numbers, and the message's own hash.
 */
function nextHash(previous: Buffer, row: MessageRow): Buffer {
  const [seconds = "", nanos = ""] = row.consensus_timestamp.split(".");
  const ids = [...row.payer_account_id.split("."), ...row.topic_id.split(".")].map(Number);
  return createHash("sha384")
    .update("aced0005757200025b42acf317f8060854e0020000787000000030", "hex")
    .update(previous)
    .update("774c", "hex")
    .update(longs(3, ...ids, Number(seconds)))
    .update(longs(Number(nanos)).subarray(4))
    .update(longs(row.sequence_number))
    .update("7571007e000000000030", "hex")
    .update(createHash("sha384").update(Buffer.from(row.message, "base64")).digest())
    .digest();
}

function longs(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigInt64BE(BigInt(value), index * 8);
  return bytes;
}
