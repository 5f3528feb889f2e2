import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { ClientAddress } from "./middleware/client-address.ts";
import { type SharedWindowOptions, sharedWindow } from "./middleware/shared-window.ts";
import { problem } from "./problem.ts";

/** Where an operator's token opens something. */
export type OperatorDoor = "sign-in" | "api" | "metrics";

/** What is said to a token; a shut client waits `retryAfterSeconds`. */
export type OperatorVerdict =
  | { readonly kind: "right" | "wrong" }
  | { readonly kind: "shut"; readonly retryAfterSeconds: number };

/** Judges operators' tokens at every door, and counts the wrong ones of a client together. */
export interface OperatorAccess {
  /** @param given empty where the request brings none: that is refused and not counted */
  judge(c: Context, door: OperatorDoor, given: string): Promise<OperatorVerdict>;
  /** Lets `Authorization: Bearer <token>` through; 401, and 429 for a client that is shut. */
  guard(door: OperatorDoor): MiddlewareHandler;
}

export interface OperatorAccessOptions
  extends Pick<SharedWindowOptions, "clock" | "redis" | "processes"> {
  /** Without one every door but `metrics` stays closed. */
  readonly operatorToken: string | undefined;
  /** Opens `metrics` alone, and there stands in the operator token's place. */
  readonly metricsToken?: string | undefined;
  readonly client: ClientAddress;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Somebody who mistypes needs no more; somebody who guesses gets no further. */
const WRONG_TRIES_MAX = 10;
const WINDOW_MS = 60_000;
/** Clients remembered as shut: forgotten, one is named in the log again. */
const SHUT_MAX = 1_000;

/**
 * One window for all doors and processes: after 10 wrong tokens in 60 s every token of that client
 * is answered 429, right or wrong (contract, section 7). Right ones do not count.
 */
export function operatorAccess(options: OperatorAccessOptions): OperatorAccess {
  const { operatorToken, metricsToken, client, log, metrics } = options;
  const window = sharedWindow({
    ...options,
    name: "operator-tokens",
    limit: WRONG_TRIES_MAX,
    windowMs: WINDOW_MS,
  });
  const shutUntil = new Map<string, number>();

  /** One line per client for as long as it goes on. */
  const noteShut = (address: string): void => {
    const now = options.clock.now();
    const isKnown = (shutUntil.get(address) ?? 0) > now;
    if (shutUntil.size >= SHUT_MAX) shutUntil.clear();
    shutUntil.set(address, now + WINDOW_MS);
    if (!isKnown) log.warn({ client: address }, "too many wrong operator tokens: client shut out");
  };
  const refuse = (door: OperatorDoor, verdict: OperatorVerdict): OperatorVerdict => {
    metrics.operatorRefused.inc({ door, reason: verdict.kind });
    return verdict;
  };

  const judge: OperatorAccess["judge"] = async (c, door, given) => {
    const wanted = door === "metrics" ? (metricsToken ?? operatorToken) : operatorToken;
    if (given === "") return refuse(door, { kind: "wrong" });
    const address = client(c);
    // The window answers before anything is said of the token, so a burst learns no more than ten
    // tries one after another.
    const isRight = wanted !== undefined && isSameText(given, wanted);
    const { accepted, remaining, waitMs } = await window[isRight ? "look" : "take"](address);
    if (!accepted || (!isRight && remaining === 0)) noteShut(address);
    if (!accepted) {
      const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
      return refuse(door, { kind: "shut", retryAfterSeconds });
    }
    return isRight ? { kind: "right" } : refuse(door, { kind: "wrong" });
  };

  return {
    judge,
    guard: (door) =>
      async function operatorGuard(c, next) {
        const header = c.req.header("authorization") ?? "";
        const verdict = await judge(c, door, /^bearer[ \t]+(.+)$/i.exec(header)?.[1] ?? "");
        if (verdict.kind === "shut") return problem(c, "RATE_LIMITED", verdict);
        if (verdict.kind === "wrong") return problem(c, "INVALID_OPERATOR_TOKEN");
        c.header("Cache-Control", "no-store");
        return next();
      },
  };
}

/** Compares digests, so that timing reveals neither content nor length. */
export function isSameText(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
