import { setTimeout as pause } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { precheckAnswer, refusalAnswer } from "../../src/local/hedera/consensus/answers.ts";
import type { InterceptCall } from "../../src/local/hedera/consensus/node.ts";
import type { ResponseCode } from "../../src/local/hedera/refusal.ts";

/**
 * What can be wrong with a node. Switched on and off while it runs:
 *
 * - `drop`: never answers, and does nothing
 * - `accept-then-drop`: passes the transaction on, and never answers
 * - `refuse`: answers this precheck code, and does nothing
 * - `fail-at-consensus`: accepts, and the receipt says this code
 * - `unavailable`: answers as a broken connection does (gRPC UNAVAILABLE)
 * - `delay`: answers this much later
 * - `garbage`: answers these bytes in place of a message
 * - `foreign-duplicate`: calls a transaction it never saw a DUPLICATE_TRANSACTION
 */
export type ConsensusFault = Aim &
  (
    | { readonly kind: "drop" }
    | { readonly kind: "accept-then-drop" }
    | { readonly kind: "refuse"; readonly code: ResponseCode }
    | { readonly kind: "fail-at-consensus"; readonly code: ResponseCode }
    | { readonly kind: "unavailable" }
    | { readonly kind: "delay"; readonly ms: number }
    | { readonly kind: "garbage"; readonly bytes: Buffer }
    | { readonly kind: "foreign-duplicate" }
  );

interface Aim {
  /** Which calls it strikes: transactions (the default), receipt queries, or both. */
  readonly calls?: "transactions" | "receipts" | "all";
  /** How many calls it strikes; all of them when absent. */
  readonly times?: number;
}

/** The faults of one node; the one injected last strikes first. */
export interface Faults {
  /** @returns takes the fault away again */
  inject(fault: ConsensusFault): () => void;
  /** Takes all faults away. */
  heal(): void;
  /** The fault that strikes this call, if any; uses it up by one. */
  strike(call: "transactions" | "receipts"): ConsensusFault | undefined;
}

export function noFaults(): Faults {
  let active: { readonly fault: ConsensusFault; left: number }[] = [];
  return {
    inject(fault) {
      const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
      active.unshift(entry);
      return () => {
        active = active.filter((other) => other !== entry);
      };
    },
    heal() {
      active = [];
    },
    strike(call) {
      const entry = active.find(({ fault }) =>
        [call, "all"].includes(fault.calls ?? "transactions"),
      );
      if (entry === undefined) return undefined;
      entry.left -= 1;
      if (entry.left <= 0) active = active.filter((other) => other !== entry);
      return entry.fault;
    },
  };
}

/** Spoils the calls that a fault strikes. */
export function spoilCalls(faults: Faults): InterceptCall {
  return async (call, answer) => {
    const fault = faults.strike(call);
    if (fault?.kind === "drop") return never();
    if (fault?.kind === "garbage") return fault.bytes;
    if (fault?.kind === "unavailable") {
      throw Object.assign(new Error("the node is out of order"), { code: status.UNAVAILABLE });
    }
    if (call === "receipts") {
      if (fault?.kind === "accept-then-drop") return never();
      if (fault?.kind === "refuse") return refusalAnswer(fault.code);
      if (fault?.kind === "delay") await pause(fault.ms);
      return answer();
    }
    if (fault?.kind === "refuse") return precheckAnswer(fault.code, 0);
    if (fault?.kind === "foreign-duplicate") return precheckAnswer("DUPLICATE_TRANSACTION", 0);
    const answered = await answer(fault?.kind === "fail-at-consensus" ? fault.code : undefined);
    if (fault?.kind === "accept-then-drop") return never();
    if (fault?.kind === "delay") await pause(fault.ms);
    return answered;
  };
}

/** An answer that does not come; the call ends with its connection. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
