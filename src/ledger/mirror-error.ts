/** Why a mirror node's answer cannot be used. */
export type MirrorFault =
  /** The deadline passed, or the caller lost interest. */
  | "timeout"
  | "aborted"
  /** Nothing, or not all, came over the wire. */
  | "network"
  /** 429, or a status that is neither an answer nor a redirect. */
  | "busy"
  | "status"
  | "redirect"
  /** An answer came and is not what the interface promises. */
  | "too-long"
  | "not-json"
  | "schema"
  | "link"
  | "pages"
  /** We refused to ask: too many requests wait, or background work rests. */
  | "overloaded"
  | "resting";

/**
 * The mirror node could not be read. There is no partial or guessed value
 * beside it: whoever catches this knows nothing about what was asked.
 */
export class MirrorError extends Error {
  override readonly name = "MirrorError";
  readonly fault: MirrorFault;

  /** @param detail what was asked and what came instead; holds no host and no secret */
  constructor(fault: MirrorFault, detail: string, cause?: unknown) {
    super(`mirror node: ${detail}`, { cause });
    this.fault = fault;
  }
}

/**
 * Faults that may be gone a moment later at the same node. The others (a
 * redirect, rubbish, a refusal) are asked of the next node only.
 */
export function mayPass(fault: MirrorFault): boolean {
  return fault === "timeout" || fault === "network" || fault === "busy";
}
