import { setTimeout as delay } from "node:timers/promises";
import { ConfigurationError } from "./config.ts";
import { RetryableError } from "./errors.ts";
import type { Logger } from "./log.ts";

/**
 * Named places where a test makes one process die, fail or stand still, in the order in which
 * a star passes them. Between any two of them a crash is as good as at one of them.
 */
export const FAILPOINTS = [
  "vote.before_mirror",
  "vote.after_mirror",
  "vote.before_commit",
  "vote.commit_sent",
  "vote.after_commit",
  "vote.after_cache",
  "vote.before_ack",
  "pub.claimed",
  "pub.id_reserved",
  "pub.signed",
  "pub.bytes_stored",
  "pub.before_submit",
  "pub.after_submit",
  "pub.receipt_wait",
  "pub.receipt_got",
  "pub.before_confirm",
  "pub.confirmed",
  "pub.expired",
  "pub.mirror_checked",
  "pub.reissued",
  "sweep.scan",
  "sweep.enqueued",
  "forever.taken",
  "forever.page",
  "forever.confirmed",
  "forever.judged",
  "forever.removed",
  "forever.mark",
  "forever.marked",
  "forever.reported",
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

/**
 * What happens there. `kill`: the process gets SIGKILL. `throw`: a defect of the service. `hang`:
 * nothing, for so long that leases and deadlines run out. `lost`: what was just asked for was
 * done, or was not, and its answer never came.
 */
export const FAILPOINT_MODES = ["kill", "throw", "hang", "lost"] as const;
export type FailpointMode = (typeof FAILPOINT_MODES)[number];

/** What is to happen at the `hit`th passing of a place, once. */
export interface FailpointOrder {
  readonly at: Failpoint;
  readonly mode: FailpointMode;
  /** From 1. */
  readonly hit: number;
}

/** Longer than a star may take and than a test's lease of an outbox row. */
const HANG_MS = 5_000;

/**
 * Undefined unless armed, which only tests do. Where every microsecond counts, ask before
 * waiting: `if (failpoint) await failpoint("vote.before_commit")`.
 */
export let failpoint: ((name: string) => Promise<void> | undefined) | undefined;

/** Called before the process is killed, fails or hangs. */
type OnHit = (order: FailpointOrder) => void;

/**
 * Arms the failpoint that the settings name; without one, nothing happens.
 *
 * @throws ConfigurationError when there is no such place or mode
 */
export function armFailpointFromSettings(
  { FAILPOINT: text }: { readonly FAILPOINT?: string | undefined },
  log: Logger,
): void {
  if (text === undefined) return;
  const order = parseFailpoint(text);
  if (order === undefined) throw new ConfigurationError("FAILPOINT names no place and mode");
  log.warn({ failpoint: text }, "this process is armed to fail, for a test");
  armFailpoint(order, () => log.warn({ failpoint: text }, "the failpoint was hit"));
}

/** Arms one place in this process; undefined disarms. */
export function armFailpoint(order: FailpointOrder | undefined, onHit?: OnHit): void {
  failpoint = order && hookOf(order, onHit);
}

/** The hook alone, for a part that is given one. */
export function hookOf(order: FailpointOrder, onHit?: OnHit): NonNullable<typeof failpoint> {
  let hits = 0;
  return (name) => {
    if (name !== order.at) return undefined;
    hits += 1;
    if (hits !== order.hit) return undefined;
    onHit?.(order);
    return trigger(order);
  };
}

/** @returns undefined when the text is not `name:mode` or `name:mode:hit` */
export function parseFailpoint(text: string): FailpointOrder | undefined {
  const [name, kind, count = "1", ...rest] = text.split(":");
  const at = FAILPOINTS.find((each) => each === name);
  const mode = FAILPOINT_MODES.find((each) => each === kind);
  if (at === undefined || mode === undefined || rest.length > 0) return undefined;
  return /^[1-9]\d{0,5}$/.test(count) ? { at, mode, hit: Number(count) } : undefined;
}

async function trigger({ at, mode }: FailpointOrder): Promise<void> {
  switch (mode) {
    case "kill":
      // What started just before is on its way by then: a statement, a request.
      await new Promise((resolve) => setImmediate(resolve));
      process.kill(process.pid, "SIGKILL");
      // The signal comes some microseconds later; nothing may happen until then.
      await new Promise(() => undefined);
      break;
    case "throw":
      throw new Error(`failpoint ${at}`);
    case "hang":
      await delay(HANG_MS);
      break;
    case "lost":
      throw new RetryableError("UNAVAILABLE", `failpoint ${at}: the answer was lost`);
  }
}
