import hapi, { type proto as Hapi } from "@hashgraph/proto";

/** The network's names of outcomes: `OK`, `SUCCESS`, `DUPLICATE_TRANSACTION` … */
export type ResponseCode = keyof typeof hapi.proto.ResponseCodeEnum;

export function codeNumber(code: ResponseCode): Hapi.ResponseCodeEnum {
  return hapi.proto.ResponseCodeEnum[code];
}

/** The code of a stored name; `UNKNOWN` when this version of the network's list lacks it. */
export function codeNamed(name: string): ResponseCode {
  return name in hapi.proto.ResponseCodeEnum ? (name as ResponseCode) : "UNKNOWN";
}

/** A node will not pass a transaction on; it may still be sent elsewhere. */
export class PrecheckFailure extends Error {
  override readonly name = "PrecheckFailure";
  readonly code: ResponseCode;
  /** What the transaction would have cost, tinybars: sent with `INSUFFICIENT_TX_FEE`. */
  readonly cost: number;

  constructor(code: ResponseCode, cost = 0) {
    super(code);
    this.code = code;
    this.cost = cost;
  }
}
