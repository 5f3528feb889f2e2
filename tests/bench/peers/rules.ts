import * as assert from "node:assert/strict";
import { serialsOf, tokenOf } from "../workloads.ts";

/** What a rival answers to a wallet's star on an event. */
type Ask = (wallet: number, event: string) => Promise<Reply>;

interface Reply {
  readonly status: number;
  readonly body: {
    readonly star?: { readonly weight: number };
    readonly allowance?: { readonly used: number; readonly remaining: number };
    readonly counter?: { readonly totalVotes: number };
  };
}

/**
 * Throws where a rival does not answer as the product does: then its speed would mean nothing.
 * A wallet's five stars of a day count three each, a repeat and a sixth are refused, and the
 * item's total is that of both wallets that starred it.
 *
 * @param wallet the first of two that nothing else stars with
 */
export async function askForRules(ask: Ask, wallet: number): Promise<void> {
  for (let used = 1; used <= 5; used += 1) {
    const { status, body } = await ask(wallet, `e${used}`);
    assert.ok(status === 200 || status === 201, `star ${used}: ${status}`);
    assert.equal(body.star?.weight, 3);
    assert.deepEqual(
      [body.allowance?.used, body.allowance?.remaining, body.counter?.totalVotes],
      [used, 5 - used, 3],
    );
    if (used === 1) assert.equal((await ask(wallet, "e1")).status, 409);
  }
  assert.equal((await ask(wallet, "e6")).status, 429);
  assert.equal((await ask(wallet + 1, "e1")).body.counter?.totalVotes, 6);
}

/** Asks as the product's clients do. */
export const byVoting =
  (url: string): Ask =>
  (wallet, id) =>
    post(`${url}/voting/stars`, { target: { type: "event", id } }, tokenOf(wallet));

/** Asks Restate's object, with what the product would look up. */
export const byRestate =
  (url: string): Ask =>
  (wallet, id) =>
    post(`${url}/walletDay/${wallet}/star`, {
      target: { type: "event", id },
      collectionA: serialsOf(wallet),
      at: Date.now(),
    });

async function post(url: string, body: object, token?: string): Promise<Reply> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Reply["body"] };
}
