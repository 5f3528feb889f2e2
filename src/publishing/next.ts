import type { Attempt } from "./attempt.ts";
import type { PublishContext } from "./context.ts";
import type { LeasedStar } from "./outbox.ts";

export type Next =
  /** The same bytes again. */
  | { readonly kind: "send"; readonly attempt: Attempt }
  /** Its id was given up, by proof. */
  | { readonly kind: "new id" }
  /** Nothing, for a while. */
  | { readonly kind: "release"; readonly delayMs: number; readonly why: string | null };

const FIRST_DELAY_MS = 500;
/** A star that keeps failing is still looked at every minute. */
const DELAY_MS_MAX = 60_000;

/**
 * Releases a star, for longer each time, with jitter, so that stars do not come back together.
 * While the gate is shut, the gate sets the delay: a star that has probed for hours must be due when
 * the trouble ends.
 */
export function releaseFor(
  { random, lanes }: Pick<PublishContext, "random" | "lanes">,
  { tries, topic }: LeasedStar,
  why: string,
): Extract<Next, { kind: "release" }> {
  const { gate } = lanes[topic];
  const longest = gate.isShut ? Math.max(gate.retryInMs(), FIRST_DELAY_MS) : DELAY_MS_MAX;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(tries, 16), longest);
  return { kind: "release", delayMs: delayMs * (0.75 + random() / 2), why };
}

/** Releases a star until its id can no longer take effect. */
export function untilOver(
  { clock }: Pick<PublishContext, "clock">,
  attempt: Attempt,
  why: string,
): Extract<Next, { kind: "release" }> {
  const end = attempt.signed?.validUntil ?? attempt.validStart;
  const leftMs = Number((end - clock.now()) / 1_000_000n);
  // Asked before its end nothing can be proved; later than a minute after it is too late to help.
  return {
    kind: "release",
    delayMs: Math.min(Math.max(leftMs + 1_000, 1_000), DELAY_MS_MAX),
    why,
  };
}
