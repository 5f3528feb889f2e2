/** Why nothing is sent for a while. */
export type Obstacle = "outage" | "configuration";

/**
 * Keeps a topic's queue from being burnt while sending is hopeless: every id that is tried
 * in vain must be proved absent before the star gets the next one.
 *
 * *Open*: everything may be sent. It shuts at the first refusal that only a person can cure
 * (`configuration`), or after a few sends in a row without a good answer (`outage`).
 * *Shut*: one star at a time probes, at intervals. It opens at the first good answer, by
 * itself.
 */
export interface SendGate {
  readonly isShut: boolean;
  /** How many stars may be taken up now: any number, or while shut one in a while, or none. */
  takeRoom(): number;
  /** Asked right before each send; true for one probe per interval while shut. */
  enter(): boolean;
  /** A node took a transaction, or had it already. */
  passed(): void;
  failed(obstacle: Obstacle, detail: string): void;
  /** Milliseconds until the next star may be taken up; 0 while open. */
  retryInMs(): number;
}

export interface SendGateOptions {
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly onShut: (obstacle: Obstacle, detail: string) => void;
  readonly onOpen: () => void;
}

/** So many failures in a row are no coincidence, with several nodes to ask. */
const FAILURES_MAX = 5;
/** Everything works again within five seconds after a fault ends. */
const PROBE_EVERY_MS: Readonly<Record<Obstacle, number>> = { outage: 1_000, configuration: 4_000 };

/** Not every star taken up has something to send: some only ask. */
const TAKE_EVERY_MS = 200;

export function createSendGate({ now, onShut, onOpen }: SendGateOptions): SendGate {
  let failures = 0;
  let shutBy: Obstacle | undefined;
  let probeAt = 0;
  let takeAt = 0;

  return {
    get isShut() {
      return shutBy !== undefined;
    },
    takeRoom() {
      if (shutBy === undefined) return Number.POSITIVE_INFINITY;
      if (now() < Math.max(probeAt, takeAt)) return 0;
      takeAt = now() + TAKE_EVERY_MS;
      return 1;
    },
    enter() {
      if (shutBy === undefined) return true;
      if (now() < probeAt) return false;
      probeAt = now() + PROBE_EVERY_MS[shutBy];
      return true;
    },
    passed() {
      failures = 0;
      if (shutBy !== undefined) onOpen();
      shutBy = undefined;
    },
    failed(obstacle, detail) {
      failures += 1;
      if (obstacle === "outage" && failures < FAILURES_MAX) return;
      if (shutBy !== obstacle && shutBy !== "configuration") {
        shutBy = obstacle;
        onShut(obstacle, detail);
      }
      probeAt = now() + PROBE_EVERY_MS[shutBy ?? obstacle];
    },
    retryInMs: () => (shutBy === undefined ? 0 : Math.max(0, probeAt - now(), takeAt - now())),
  };
}
