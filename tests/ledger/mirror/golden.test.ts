import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import { MirrorError } from "../../../src/ledger/mirror/error.ts";
import type { MirrorNode } from "../../../src/ledger/mirror/node.ts";
import type { MirrorTopicMessage, MirrorTransaction } from "../../../src/ledger/mirror/schemas.ts";
import { sendJson, serialsOf, withStubs } from "./stub.ts";

/**
 * Every answer recorded from a real mirror node goes through the client. A
 * request we would never send (another spelling, another limit) is answered to
 * the request of ours that asks for the same thing.
 */

interface Recorded {
  readonly path: string;
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL("../../golden/mirror-golden.json", import.meta.url), "utf8"),
);

type Read = (mirror: MirrorNode) => Promise<unknown>;

const A = "0.0.5001";
const ONE = "1699999993.000000123";

async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const rows: T[] = [];
  for await (const page of pages) rows.push(...page);
  return rows;
}

/** Which of our reads asks for what was recorded at this path. */
function readFor(path: string): Read {
  const { pathname, searchParams } = new URL(path, "http://recorded");
  const [, , , kind, id = "", list, item, sub] = pathname.split("/");
  if (kind === "accounts" && list === "nfts") {
    const token = searchParams.get("token.id") ?? "0.0.5002";
    return (mirror) => serialsOf(mirror, id, token === "abc" ? A : token);
  }
  if (kind === "accounts") {
    const known = id.startsWith("0x") ? "0.0.1002" : "0.0.1001";
    return (mirror) => mirror.account(/^(0\.0\.\d+|0x[0-9a-f]{40})$/.test(id) ? id : known);
  }
  if (kind === "tokens" && sub !== undefined) return (mirror) => mirror.nftTransactions(id, 1);
  if (kind === "tokens" && item !== undefined) return (mirror) => mirror.nft(id, Number(item));
  if (kind === "tokens") return (mirror) => collect(mirror.nftOwners(id));
  if (kind === "topics" && id === "messages") return (mirror) => mirror.topicMessage("0.0.7001", 1);
  if (kind === "topics" && item !== undefined) {
    return (mirror) => mirror.topicMessage(id, Number(item));
  }
  if (kind === "topics") {
    return (mirror) => mirror.topicMessages(id === "abc" ? "0.0.7001" : id, {});
  }
  if (kind === "transactions" && id.startsWith("0.0.1001-")) {
    return (mirror) => mirror.transactions(id);
  }
  return (mirror) => mirror.transactions(`0.0.1001@${ONE}`);
}

/** Gives the recorded answer first, and an empty last page for whatever it links to. */
async function replay({ status, body }: Recorded, read: Read) {
  const outcome: { value?: unknown; error?: unknown; asked: readonly string[] } = { asked: [] };
  let turn = 0;
  await withStubs(
    [
      (response) =>
        turn++ === 0
          ? sendJson(response, status, body)
          : sendJson(response, 200, { nfts: [], links: { next: null } }),
    ],
    async (mirror, [stub]) => {
      try {
        outcome.value = await read(mirror);
      } catch (error) {
        outcome.error = error;
      }
      outcome.asked = stub.asked;
    },
  );
  return outcome;
}

/**
 * Recorded 200s that must be refused: text in place of base64 is an encoding
 * we never ask for, and rows of all transactions are not rows of the one asked.
 */
const REFUSED = new Set([
  "/api/v1/topics/0.0.7001/messages?encoding=utf-8&limit=1",
  "/api/v1/transactions?limit=1&order=desc",
]);

test("there are 57 recorded answers", () => {
  assert.equal(recorded.length, 57);
});

for (const entry of recorded) {
  const { path, status, body } = entry;
  test(`the client reads the recorded answer ${status} ${path}`, async () => {
    const { value, error, asked } = await replay(entry, readFor(path));
    if (status === 400 || REFUSED.has(path)) {
      assert.ok(error instanceof MirrorError, String(value));
      return;
    }
    if (error !== undefined) throw error;
    if (status === 404) return assert.deepEqual(value ?? [], []);
    const next = (body.links as { next: string | null } | undefined)?.next;
    const isWalked = path.includes("/nfts") && !path.includes("transactions");
    if (isWalked)
      assert.deepEqual(asked.slice(1), next ? [next] : [], "links are followed verbatim");
    checkValue(entry, value);
  });
}

/** The recorded fields that we read, against what the client made of them. */
function checkValue({ path, body }: Recorded, value: unknown): void {
  const rows = (name: string) => body[name] as Record<string, unknown>[];
  if (path.includes("/accounts/") && path.includes("/nfts")) {
    const held = rows("nfts")
      .filter((row) => row.deleted === false)
      .map((row) => Number(row.serial_number));
    assert.deepEqual(
      value,
      held.sort((a, b) => a - b),
    );
  } else if (path.includes("/accounts/")) {
    const { account, deleted, evm_address, key } = body;
    const { balance: tinybars } = body.balance as { balance: number | null };
    const balance = tinybars === null ? null : { balance: tinybars };
    assert.deepEqual(value, { account, deleted, evm_address, key, balance });
  } else if (path.includes("/nfts/1/transactions")) {
    const { transactions } = value as { transactions: { sender: unknown; receiver: unknown }[] };
    assert.deepEqual(
      transactions.map(({ sender, receiver }) => [sender, receiver]),
      rows("transactions").map((row) => [row.sender_account_id, row.receiver_account_id]),
    );
  } else if (path.includes("/topics/") && "messages" in body) {
    const { messages, more } = value as { messages: { bytes: Buffer }[]; more: boolean };
    assert.deepEqual(
      messages.map(({ bytes }) => bytes.toString("base64")),
      rows("messages").map((row) => row.message),
    );
    assert.equal(more, (body.links as { next: unknown }).next !== null);
  } else if (path.includes("/tokens/") && "nfts" in body) {
    assert.deepEqual(value, rows("nfts").map(asNft));
  } else if (path.includes("/tokens/")) {
    assert.deepEqual(value, asNft(body));
  } else if (path.includes("/topics/")) {
    assert.equal((value as MirrorTopicMessage).runningHash, body.running_hash);
  } else {
    const results = (value as MirrorTransaction[]).map(({ result }) => result);
    assert.deepEqual(
      results,
      rows("transactions").map(({ result }) => result),
    );
  }
}

function asNft(row: Record<string, unknown>) {
  const { token_id, serial_number, account_id, deleted, modified_timestamp } = row;
  const changedAt = modified_timestamp ?? null;
  return { tokenId: token_id, serial: serial_number, owner: account_id, deleted, changedAt };
}

test("a recorded message names the transaction that carried it, and one without chunks names none", async () => {
  const one = recorded.find(({ path }) => path.endsWith("/messages/5"));
  const legacy = recorded.find(({ path }) => path.includes("timestamp=gte:1700000130"));
  assert.ok(one && legacy);
  const { value } = await replay(one, (mirror) => mirror.topicMessage("0.0.7001", 5));
  assert.deepEqual(value, {
    topicId: "0.0.7001",
    sequenceNumber: 5,
    consensusTimestamp: "1700000005.000000123",
    bytes: Buffer.from('{"n":5}'),
    payer: "0.0.1001",
    runningHash: "BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUF",
    runningHashVersion: 3,
    chunk: { transactionId: "0.0.1001@1699999997.000000123", number: 1, total: 1 },
  });
  const page = await replay(legacy, (mirror) => mirror.topicMessages("0.0.7001", { limit: 3 }));
  const { messages } = page.value as { messages: { chunk: unknown; bytes: Buffer }[] };
  assert.equal(messages[1]?.chunk, null);
  assert.equal(messages[1]?.bytes.toString(), "legacy no chunk");
});

test("a transaction id with a later duplicate has two rows, the success among them", async () => {
  const entry = recorded.find(({ path }) => path.endsWith(`0.0.1001-${ONE.replace(".", "-")}`));
  assert.ok(entry);
  const { value, asked } = await replay(entry, (mirror) => mirror.transactions(`0.0.1001@${ONE}`));
  assert.deepEqual(asked, ["/api/v1/transactions/0.0.1001-1699999993-000000123"]);
  assert.deepEqual(
    (value as { result: string; nonce: number; scheduled: boolean }[]).map((row) => [
      row.result,
      row.nonce,
      row.scheduled,
    ]),
    [
      ["SUCCESS", 0, false],
      ["DUPLICATE_TRANSACTION", 0, false],
    ],
  );
});

test.run();
