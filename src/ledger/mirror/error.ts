/** Why a mirror node's answer cannot be used. */
export type MirrorFault =
  /** The deadline passed, or the caller lost interest. */
  | "timeout"
  | "aborted"
  /** Nothing, or not all, came over the wire. */
  | "network"
  /** 429 and 5xx; or a status that is neither an answer nor a redirect. */
  | "busy"
  | "status"
  | "redirect"
  /** An answer came and is not what the interface promises. */
  | "too-long"
  | "not-json"
  | "schema"
  | "link"
  | "pages"
  /** Pages came one after the other, and more of them than the time is enough for. */
  | "too-large"
  /** We refused to ask: too many requests wait, or background work rests. */
  | "overloaded"
  | "resting";

/**
 * The mirror node could not be read. There is no partial or guessed value
 * beside it: its catcher knows nothing about what was asked.
 */
export class MirrorError extends Error {
  override readonly name = "MirrorError";
  readonly fault: MirrorFault;
  /** How long the node asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number;

  /** @param detail what was asked and what came instead; holds no host and no secret */
  constructor(fault: MirrorFault, detail: string, cause?: unknown, retryAfterMs = 0) {
    super(`mirror node: ${detail}`, { cause });
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }

  /**
   * Whether it may be gone a moment later at the same node. The others (a redirect, rubbish, a
   * refusal) are asked of the next node only.
   */
  get mayPass(): boolean {
    return this.fault === "timeout" || this.fault === "network" || this.fault === "busy";
  }
}
