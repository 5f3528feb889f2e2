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
