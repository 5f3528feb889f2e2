/**
 * Goal: a chain is followed as the network makes it. Method: the vectors of the consensus
 * node's own tests (a topic's running hash, version 3), and a chain checked by an
 * implementation of its own in tests/local/hedera.
 */
import * as assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import { FIRST_RUNNING_HASH, runningHash } from "../../src/ledger/running-hash.ts";

test("a link is hashed as the network's consensus nodes hash it", () => {
  const second = runningHash({
    previous: FIRST_RUNNING_HASH,
    payer: "7.8.9",
    topic: "0.0.0",
    consensusTimestamp: "1577401723.987654321",
    sequenceNumber: 2,
    message: new Uint8Array(),
  });
  assert.equal(
    second.toString("hex"),
    "7547461ccf9bc8b598006f84c86bedee16967ba661da6f0c59c33476f8010932969b85aae59aff067e01e0fac6d45bda",
  );
  const third = runningHash({
    previous: FIRST_RUNNING_HASH,
    payer: "10.11.12",
    topic: "0.0.0",
    consensusTimestamp: "0.000000000",
    sequenceNumber: 1,
    message: new Uint8Array(),
  });
  assert.equal(
    third.toString("hex"),
    "79200c525a751761dc25356d3dd01a34cf2a517e9c78e4b359ffd792f98f33f1ac1440dcd5e282abe73f6b265356218b",
  );
});

test("docs/verifying.md tells the bytes", () => {
  const page = readFileSync(new URL("../../docs/verifying.md", import.meta.url), "utf8");
  const told = [...page.matchAll(/`((?:[0-9a-f]{2}){2,})`/g)].map(([, hex = ""]) => hex);
  const [first, numbers, second] = told.map((hex) => Buffer.from(hex, "hex"));
  assert.ok(first !== undefined && numbers !== undefined && second !== undefined);
  const eight = (...values: readonly number[]) => {
    const bytes = Buffer.alloc(8 * values.length);
    for (const [index, value] of values.entries()) bytes.writeBigInt64BE(BigInt(value), 8 * index);
    return bytes;
  };
  const nanoseconds = Buffer.alloc(4);
  nanoseconds.writeInt32BE(987_654_321);
  const message = Buffer.from("{}");
  const bytes = Buffer.concat([
    ...[first, FIRST_RUNNING_HASH, numbers, eight(3, 7, 8, 9, 0, 0, 1013, 1_577_401_723)],
    ...[nanoseconds, eight(2), second, createHash("sha384").update(message).digest()],
  ]);
  const link = {
    previous: FIRST_RUNNING_HASH,
    payer: "7.8.9",
    topic: "0.0.1013",
    consensusTimestamp: "1577401723.987654321",
    sequenceNumber: 2,
    message,
  };
  assert.deepEqual(runningHash(link), createHash("sha384").update(bytes).digest());
});

test("every field of a link changes its hash, in either framing", () => {
  const link = {
    previous: FIRST_RUNNING_HASH,
    payer: "0.0.2",
    topic: "0.0.7001",
    consensusTimestamp: "1700000001.000000123",
    sequenceNumber: 1,
    message: Buffer.from("{}"),
  };
  const others = [
    { previous: Buffer.alloc(48, 1) },
    { payer: "0.0.3" },
    { topic: "0.0.7002" },
    { consensusTimestamp: "1700000001.000000124" },
    { consensusTimestamp: "1700000002.000000123" },
    { sequenceNumber: 2 },
    { message: Buffer.from("{ }") },
  ].map((change) => ({ ...link, ...change }));
  const hashes = [link, ...others].flatMap((each) => [
    runningHash(each, "stream").toString("hex"),
    runningHash(each, "plain").toString("hex"),
  ]);
  assert.equal(new Set(hashes).size, hashes.length);
});

test.run();
