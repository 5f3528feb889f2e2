import { createHash } from "node:crypto";
import { SECOND } from "../timestamps.ts";
import type { TransactionRow } from "./rows.ts";
import { type Turn, transactionKey } from "./state.ts";

/** The treasury of the network pays for what the ledger's own operator does. */
const OPERATOR = 2;
const FIRST_NODE = 3;
/** How long before consensus a client usually starts its transaction. */
const STARTED_BEFORE = 7n * SECOND;

/** Adds a transaction's row, and remembers its id for as long as its receipt is kept. */
export function addTransaction(turn: Turn, row: Omit<TransactionRow, "consensus_ns">): void {
  turn.rows.transaction.push({ consensus_ns: turn.at, ...row });
  turn.state.chain.waiting += 1;
  const key = transactionKey(row.payer, row.valid_start);
  if (!turn.state.handled.has(key)) turn.state.handled.set(key, turn.at);
}

/**
 * The transaction behind an operation that did not come in over the network (seeding, and
 * what tests do to the ledger), so that its trace is that of any other.
 */
export function addOwnTransaction(turn: Turn, type: string, entity: number): void {
  addTransaction(turn, {
    payer: OPERATOR,
    valid_start: turn.at - STARTED_BEFORE,
    nonce: 0,
    scheduled: false,
    type,
    result: "SUCCESS",
    entity,
    node: FIRST_NODE,
    max_fee: 200_000_000n,
    charged_fee: 0,
    memo: new Uint8Array(0),
    valid_duration: 120,
    hash: createHash("sha384").update(`${type} ${turn.at}`).digest(),
  });
}
