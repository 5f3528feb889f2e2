/** Which accounts are asked for again, and how many at once. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { createSignInAccounts } from "../../src/voting/sign-in-account.ts";

const KEY = { _type: "ED25519", key: "00".repeat(32) } as const;

function stage() {
  const asked: string[] = [];
  let now = 0;
  const read = createSignInAccounts(
    {
      account: async (account) => {
        asked.push(account);
        return account === "0.0.404" ? null : { account, deleted: false, key: KEY };
      },
      isContract: async (id) => id === "0.0.500",
    },
    () => false,
    () => now,
  );
  return { asked, read, pass: (ms: number) => (now += ms) };
}

for (const [what, wallet] of [
  ["no account", "0.0.404"],
  ["a contract", "0.0.500"],
] as const) {
  test(`that a wallet is ${what} is remembered for five seconds`, async () => {
    const { asked, read, pass } = stage();
    const first = await read(wallet);
    pass(4_999);
    assert.deepEqual(await read(wallet), first);
    assert.equal(asked.length, 1);
    pass(1);
    assert.deepEqual(await read(wallet), first);
    assert.equal(asked.length, 2);
  });
}

test("a key is never remembered", async () => {
  const { asked, read } = stage();
  for (let i = 0; i < 3; i++) assert.deepEqual((await read("0.0.1001"))?.key, KEY);
  assert.equal(asked.length, 3);
});

test("a hundred readings of one account at once are one; the next reads anew", async () => {
  const { asked, read } = stage();
  await Promise.all(Array.from({ length: 100 }, () => read("0.0.1001")));
  assert.deepEqual(asked, ["0.0.1001"]);
  await read("0.0.1001");
  assert.equal(asked.length, 2);
});

/** How many accounts are read at once of a hundred, and how many are read at all. */
async function flood(isStarWaiting: () => boolean) {
  let inFlight = 0;
  let inFlightMax = 0;
  const mirror = {
    account: async (account: string) => {
      inFlightMax = Math.max(inFlightMax, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      return { account, deleted: false, key: KEY };
    },
    isContract: async () => false,
  };
  const read = createSignInAccounts(mirror, isStarWaiting);
  const reads = Array.from({ length: 100 }, (_, i) => read(`0.0.${2_000 + i}`));
  const outcomes = await Promise.allSettled(reads);
  return { inFlightMax, read: outcomes.filter(({ status }) => status === "fulfilled").length };
}

test("four accounts are read at once, and the others wait or are refused", async () => {
  assert.deepEqual(await flood(() => false), { inFlightMax: 4, read: 4 + 64 });
});

test("an account has 1.5 s with the wait for others; one whose time is up is not asked for", async () => {
  let now = 0;
  const asked: [string, number | undefined][] = [];
  const waits = [800, 700];
  const read = createSignInAccounts(
    {
      account: async (account, limits) => {
        asked.push([account, limits?.deadlineMs]);
        await new Promise((resolve) => setImmediate(resolve));
        now += waits.shift() ?? 0;
        return { account, deleted: false, key: KEY };
      },
      isContract: async () => false,
    },
    () => true,
    () => now,
  );
  const reads = ["0.0.1", "0.0.2", "0.0.3"].map(read);
  const [first, second, third] = await Promise.allSettled(reads);
  assert.deepEqual(asked, [
    ["0.0.1", 1_500],
    ["0.0.2", 700],
  ]);
  assert.equal(first?.status, "fulfilled");
  for (const late of [second, third]) {
    assert.ok(late?.status === "rejected" && late.reason.code === "UNAVAILABLE");
  }
});

test("while stars read holdings, one account is read at a time", async () => {
  assert.deepEqual(await flood(() => true), { inFlightMax: 1, read: 4 + 64 });
});

test.run();
