import * as assert from "node:assert/strict";
import { test } from "uvu";
import { RetryableError } from "../../../../src/errors.ts";
import { LedgerRefusal } from "../../../../src/local/hedera/refusal.ts";
import { createAccount } from "../../../../src/local/hedera/state/accounts.ts";
import { openOrder } from "../../../../src/local/hedera/state/consensus-order.ts";
import { type LedgerStore, openStore } from "../../../../src/local/hedera/state/store.ts";
import { createTopic } from "../../../../src/local/hedera/state/topics.ts";
import { openPostgres } from "../../../../src/store/postgres.ts";
import { testDatabase } from "../../../support/postgres.ts";

const database = await testDatabase();
const sql = openPostgres(database.url);
const now = () => 1_800_000_000_000;
let schemas = 0;

test.after(async () => {
  await sql.end();
  await database.close();
});

/** A store of its own; `commit` may be made to misbehave. */
async function newStore(commit?: (real: LedgerStore) => LedgerStore["commit"]) {
  schemas += 1;
  const real = await openStore(sql, `order_${schemas}`);
  const store = commit === undefined ? real : { ...real, commit: commit(real) };
  const count = async (table: string): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from ${real.table(table)}`;
    return row?.count ?? 0;
  };
  return { store, count };
}

const outage = () => new RetryableError("UNAVAILABLE", "the database is out of reach");

test("steps run in the order they came, and each is told when it is durable", async () => {
  const { store, count } = await newStore();
  const order = await openOrder(store, now);
  const ids = await Promise.all([1, 2, 3].map(() => order.take(createAccount({ key: null }))));
  assert.deepEqual(ids, ["0.0.1001", "0.0.1002", "0.0.1003"]);
  assert.equal(await count("account"), 3);
  await order.close();
});

test("a batch that an outage kept from being written is written once, later", async () => {
  let attempts = 0;
  const { store, count } = await newStore((real) => async (batch) => {
    attempts += 1;
    if (attempts <= 2) throw outage();
    return real.commit(batch);
  });
  const order = await openOrder(store, now);
  const id = await order.take(createAccount({ key: null }));
  assert.deepEqual([id, attempts, await count("account")], ["0.0.1001", 3, 1]);
  await order.close();
});

test("a batch whose answer was lost after the commit is not written twice", async () => {
  let attempts = 0;
  const { store, count } = await newStore((real) => async (batch) => {
    attempts += 1;
    const written = await real.commit(batch);
    if (attempts === 1) throw outage();
    return written;
  });
  const order = await openOrder(store, now);
  assert.equal(await order.take(createAccount({ key: null })), "0.0.1001");
  assert.equal(await order.take(createAccount({ key: null })), "0.0.1002");
  assert.deepEqual([attempts, await count("account")], [2, 2]);
  await order.close();
});

test("a commit that comes through after it was given up is found out, not repeated", async () => {
  let late: (() => Promise<boolean>) | undefined;
  const { store, count } = await newStore((real) => async (batch) => {
    if (late === undefined) {
      late = () => real.commit(batch);
      throw outage();
    }
    // The statement believed dead was only slow: it is written just before the second try.
    await late();
    return real.commit(batch);
  });
  const order = await openOrder(store, now);
  assert.equal(await order.take(createAccount({ key: null })), "0.0.1001");
  assert.equal(await count("account"), 1);
  await order.close();
});

test("a step that Postgres refuses fails alone; the others of its batch take effect", async () => {
  const { store, count } = await newStore();
  const order = await openOrder(store, now);
  const [before, poison, after] = await Promise.allSettled([
    order.take(createAccount({ key: null })),
    order.take(createTopic({ memo: "no zero bytes\0 in Postgres" })),
    order.take(createAccount({ key: null })),
  ]);
  assert.deepEqual(
    [before.status, poison.status, after.status],
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual([await count("account"), await count("topic")], [2, 0]);
  assert.equal(await order.take(createTopic({ memo: "fine" })), "0.0.1003");
  await order.close();
});

test("closing tells the batch being written, and refuses what still waits", async () => {
  const { store } = await newStore();
  const order = await openOrder(store, now);
  const writing = order.take(createAccount({ key: null }));
  const delayed = order.take(createAccount({ key: null }), 60_000);
  const refusal = assert.rejects(delayed, (error) => error instanceof LedgerRefusal);
  await Promise.resolve();
  await order.close();
  assert.equal(await writing, "0.0.1001");
  await refusal;
  await assert.rejects(order.take(createAccount({ key: null })), LedgerRefusal);
});

test("closing during an outage ends all the same", async () => {
  const { store } = await newStore(() => async () => {
    throw outage();
  });
  const failing = { ...store, load: store.load };
  const order = await openOrder(failing, now);
  const taken = order.take(createAccount({ key: null }));
  const refusal = assert.rejects(taken, LedgerRefusal);
  failing.load = async () => {
    throw outage();
  };
  await order.close();
  await refusal;
});

test.run();
