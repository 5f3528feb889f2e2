/** Why nothing is sent for a while. */
export type Obstacle = "outage" | "configuration";

/**
 * Stops sending to a topic while it is hopeless: every id that is tried in vain must be proved
 * absent before the star gets the next one.
 *
 * *Open*: everything may be sent. It shuts at the first refusal that only a person can cure
 * (`configuration`), or after a few sends in a row without a good answer (`outage`).
 * *Shut*: one star at a time probes, at intervals. An outage ends at the first good answer.
 * A fault of the configuration ends when a transaction takes effect, and not before: nodes
 * take what consensus then refuses (a wrong submit key, a topic that is gone), and charge it.
 */
export type SendGate = ReturnType<typeof createSendGate>;

export interface SendGateOptions {
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly onShut: (obstacle: Obstacle, detail: string) => void;
  readonly onOpen: () => void;
}

/** Several nodes are asked, so this many failures in a row are an outage. */
const FAILURES_MAX = 5;
/** Everything works again within five seconds after a fault ends. */
const PROBE_EVERY_MS: Readonly<Record<Obstacle, number>> = { outage: 1_000, configuration: 4_000 };

/** The longest pause between probes that cost money: at 0.0008 USD each, 2 USD a day. */
const CHARGED_PROBE_MS_MAX = 32_000;

/** Not every star taken up has something to send: some only ask. */
const TAKE_EVERY_MS = 200;

export function createSendGate({ now, onShut, onOpen }: SendGateOptions) {
  let failures = 0;
  let shutBy: Obstacle | undefined;
  let probeAt = 0;
  let takeAt = 0;
  let everyMs = 0;
  let isProbing = false;
  let failedAt = 0;

  const open = (): void => {
    failures = 0;
    if (shutBy !== undefined) onOpen();
    shutBy = undefined;
    everyMs = 0;
  };

  return {
    get isShut() {
      return shutBy !== undefined;
    },
    /** How many stars may be taken up now: any number, or while shut one in a while, or none. */
    takeRoom() {
      if (shutBy === undefined) return Number.POSITIVE_INFINITY;
      if (now() < Math.max(probeAt, takeAt)) return 0;
      takeAt = now() + TAKE_EVERY_MS;
      return 1;
    },
    /** Asked right before each send; true for one probe per interval while shut. */
    enter() {
      if (shutBy === undefined) return true;
      if (now() < probeAt) return false;
      probeAt = now() + everyMs;
      isProbing = true;
      return true;
    },
    /** A node took a transaction, or had it already. */
    passed() {
      if (shutBy !== "configuration") open();
    },
    /** A transaction reached consensus and took effect. */
    tookEffect: open,
    /** @param cost `charged`: the probe reached consensus and was paid for */
    failed(obstacle: Obstacle, detail: string, { charged } = { charged: false }) {
      failures += 1;
      failedAt = now();
      if (obstacle === "outage" && failures < FAILURES_MAX) return;
      if (shutBy !== obstacle && shutBy !== "configuration") {
        shutBy = obstacle;
        onShut(obstacle, detail);
      }
      const least = PROBE_EVERY_MS[shutBy ?? obstacle];
      // Many may have been on their way when it shut: only a probe's failure says it lasts.
      if (!charged) everyMs = least;
      else everyMs = Math.max(least, Math.min(everyMs * (isProbing ? 2 : 1), CHARGED_PROBE_MS_MAX));
      isProbing = false;
      probeAt = now() + everyMs;
    },
    /** How long ago the last send failed, in milliseconds; undefined unless shut by the configuration. */
    sinceFailureMs: () => (shutBy === "configuration" ? now() - failedAt : undefined),
    /** Milliseconds until the next star may be taken up; 0 while open. */
    retryInMs: () => (shutBy === undefined ? 0 : Math.max(0, probeAt - now(), takeAt - now())),
  };
}
