import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { LedgerRefusal } from "../../../../src/local/hedera/refusal.ts";
import { createAccount } from "../../../../src/local/hedera/state/accounts.ts";
import { openOrder } from "../../../../src/local/hedera/state/consensus-order.ts";
import type { Step } from "../../../../src/local/hedera/state/state.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const now = () => 1_800_000_000_000;

test("steps run in the order they came, and what they add is in the file when they answer", async () => {
  const folder = temporaryFolder("order");
  const order = openOrder(now, folder);
  const lines = (): number =>
    readFileSync(join(folder, "events.jsonl"), "utf8").trim().split("\n").length;
  const ids = await Promise.all(
    [1, 2, 3].map(async (count) => {
      const taken = order.take(createAccount({ key: null }));
      assert.equal(lines(), count);
      return taken;
    }),
  );
  assert.deepEqual(ids, ["0.0.1001", "0.0.1002", "0.0.1003"]);
  await order.close();
});

test("a step that refuses adds nothing and takes no place in the order", async () => {
  const order = openOrder(now);
  const refuse: Step<void> = ({ at, add }) => {
    add({ kind: "block", at });
    throw new LedgerRefusal("INVALID_NODE_ACCOUNT", "as asked");
  };
  await order.take(createAccount({ key: null }));
  const last = order.state.lastConsensus;
  await assert.rejects(order.take(refuse), LedgerRefusal);
  assert.deepEqual([order.state.lastConsensus, order.state.blocks], [last, []]);
  assert.equal(await order.take(createAccount({ key: null })), "0.0.1002");
  assert.equal(order.state.lastConsensus, last + 1n);
  await order.close();
});

test("closing refuses what still waits, and what comes later", async () => {
  const order = openOrder(now);
  const delayed = order.take(createAccount({ key: null }), 60_000);
  const refusal = assert.rejects(delayed, LedgerRefusal);
  await order.close();
  await refusal;
  await assert.rejects(order.take(createAccount({ key: null })), LedgerRefusal);
});

test.run();
