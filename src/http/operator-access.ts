import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { ENVIRONMENT, isOperatorToken, type Operator } from "../keys/operators.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { bearerToken } from "./host-cookie.ts";
import type { ClientAddress } from "./middleware/client-address.ts";
import { type SharedWindowOptions, sharedWindow } from "./middleware/shared-window.ts";
import { problem } from "./problem.ts";

export type OperatorDoor = "sign-in" | "api" | "metrics";

/** The answer to a token; a client that is shut out waits `retryAfterSeconds`. */
export type OperatorVerdict = { readonly kind: "right"; readonly operator: Operator } | Refused;

type Refused =
  | { readonly kind: "wrong" }
  | { readonly kind: "shut"; readonly retryAfterSeconds: number };

/** Judges operators' tokens at every door, and counts the wrong ones of a client together. */
export type OperatorAccess = ReturnType<typeof operatorAccess>;

export interface OperatorAccessOptions
  extends Pick<SharedWindowOptions, "clock" | "redis" | "processes"> {
  /** Of `environment`, an admin. */
  readonly operatorToken: string | undefined;
  /** The operator of a named token, read from the database each time. */
  readonly findOperator: (token: string) => Promise<Operator | null>;
  /** Opens `metrics` alone, and replaces the operator's token there. */
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
export function operatorAccess(options: OperatorAccessOptions) {
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
  const refuse = (door: OperatorDoor, verdict: Refused): Refused => {
    metrics.operatorRefused.inc({ door, reason: verdict.kind });
    return verdict;
  };
  /** Asks the window, or counts a try; undefined where the client is let through. */
  const shutOut = async (address: string, how: "look" | "take"): Promise<Refused | undefined> => {
    const { accepted, remaining, waitMs } = await window[how](address);
    if (!accepted || (how === "take" && remaining === 0)) noteShut(address);
    if (accepted) return undefined;
    return { kind: "shut", retryAfterSeconds: Math.ceil(waitMs / 1_000) };
  };
  // The window answers before anything is said of a token, so a burst learns no more than ten
  // tries one after another.
  const answer = async (
    door: OperatorDoor,
    address: string,
    operator: Operator | null,
  ): Promise<OperatorVerdict> => {
    const shut = await shutOut(address, operator === null ? "take" : "look");
    if (shut !== undefined) return refuse(door, shut);
    return operator === null ? refuse(door, { kind: "wrong" }) : { kind: "right", operator };
  };
  /** What costs a statement is not looked at for a client that is shut out. */
  const answerStored = async (
    door: OperatorDoor,
    address: string,
    find: () => Promise<Operator | null>,
  ): Promise<OperatorVerdict> => {
    const shut = await shutOut(address, "look");
    return shut === undefined ? answer(door, address, await find()) : refuse(door, shut);
  };

  /** @param given empty where the request brings none: that is refused and not counted */
  const judge = (c: Context, door: OperatorDoor, given: string): Promise<OperatorVerdict> => {
    const wanted = door === "metrics" ? (metricsToken ?? operatorToken) : operatorToken;
    if (given === "") return Promise.resolve(refuse(door, { kind: "wrong" }));
    const address = client(c);
    const isRight = wanted !== undefined && isSameText(given, wanted);
    // With a token of its own, metrics open to no operator's.
    const mayBeNamed = door !== "metrics" || metricsToken === undefined;
    if (!isRight && mayBeNamed && isOperatorToken(given)) {
      return answerStored(door, address, () => options.findOperator(given));
    }
    return answer(door, address, isRight ? ENVIRONMENT : null);
  };

  return {
    judge,
    /**
     * Judges a sign-in link as a token of `environment`.
     *
     * @param use uses the link up, and says whether it was good
     */
    judgeLink: (c: Context, use: () => Promise<boolean>) =>
      answerStored("sign-in", client(c), async () => ((await use()) ? ENVIRONMENT : null)),
    /** Lets `Authorization: Bearer <token>` through; 401, and 429 for a client that is shut. */
    guard: (door: OperatorDoor): MiddlewareHandler =>
      async function operatorGuard(c, next) {
        const given = bearerToken(c.req.header("authorization")) ?? "";
        const verdict = await judge(c, door, given);
        if (verdict.kind === "shut") return problem(c, "RATE_LIMITED", verdict);
        if (verdict.kind === "wrong") return refusal(c, door, metricsToken);
        c.header("Cache-Control", "no-store");
        return next();
      },
  };
}

/** Where the metrics have a token of their own, no operator's opens them: the answer names it. */
function refusal(c: Context, door: OperatorDoor, metricsToken: string | undefined): Response {
  const isOwn = door === "metrics" && metricsToken !== undefined;
  const message = "METRICS_TOKEN is needed here: Authorization: Bearer <token>.";
  return problem(c, "INVALID_OPERATOR_TOKEN", isOwn ? { message } : {});
}

/** Compares digests, so that timing reveals neither content nor length. */
export function isSameText(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
