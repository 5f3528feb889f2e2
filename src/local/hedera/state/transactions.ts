import { createHash } from "node:crypto";
import { SECOND } from "../timestamps.ts";
import type { Transaction } from "./events.ts";
import type { Turn } from "./state.ts";

/** The treasury of the network pays for what the ledger's own operator does. */
const OPERATOR = 2;
const FIRST_NODE = 3;
/** How long before consensus a client usually starts its transaction. */
const STARTED_BEFORE = 7n * SECOND;

/**
 * The transaction behind an operation that did not come in over the network (seeding, and
 * what tests do to the ledger), so that its trace is that of any other.
 *
 * @param given where it differs from the operator's own
 */
export function addOwnTransaction(
  { at, add }: Turn,
  type: string,
  entity: number,
  given: Partial<Transaction> = {},
): void {
  add({
    kind: "transaction",
    at,
    payer: OPERATOR,
    validStart: at - STARTED_BEFORE,
    type,
    result: "SUCCESS",
    entity,
    node: FIRST_NODE,
    maxFee: 200_000_000n,
    chargedFee: 0,
    memo: "",
    validDuration: 120,
    hash: createHash("sha384").update(`${type} ${at}`).digest("base64"),
    ...given,
  });
}
