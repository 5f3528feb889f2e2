import hapi from "@hashgraph/proto";
import type { KeyBytes } from "../../src/local/hedera/keys.ts";

const { Key } = hapi.proto;

/** All of these keys must sign. */
export function keyList(keys: readonly KeyBytes[]): KeyBytes {
  return Key.encode({ keyList: { keys: keys.map((key) => Key.decode(key)) } }).finish();
}

/** At least `threshold` of these keys must sign. */
export function thresholdKey(threshold: number, keys: readonly KeyBytes[]): KeyBytes {
  const list = { keys: keys.map((key) => Key.decode(key)) };
  return Key.encode({ thresholdKey: { threshold, keys: list } }).finish();
}
