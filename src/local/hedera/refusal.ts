import type { proto as Hapi } from "@hashgraph/proto";

/** The network's names of outcomes: `OK`, `SUCCESS`, `DUPLICATE_TRANSACTION` … */
export type ResponseCode = keyof typeof Hapi.ResponseCodeEnum;

/**
 * The ledger's rules forbid what was asked; nothing has changed. `code` is the network's own name for
 * it, so tests and messages speak one language. Of a transaction that a node will not pass on, it may
 * still be sent elsewhere.
 */
export class LedgerRefusal extends Error {
  override readonly name = "LedgerRefusal";
  readonly code: ResponseCode;
  /** What the transaction would have cost, tinybars: sent with `INSUFFICIENT_TX_FEE`. */
  readonly cost: number;

  constructor(code: ResponseCode, message = "", cost = 0) {
    super(message === "" ? code : `${code}: ${message}`);
    this.code = code;
    this.cost = cost;
  }
}
