import closeWithGrace from "close-with-grace";
import { bounds } from "../bounds.ts";
import { refuse } from "../cli/output.ts";
import { ConfigurationError } from "../config.ts";
import type { Logger } from "../log.ts";
import { isOutage } from "../store/postgres.ts";
import { onStopSignal, onStopSignalAlone } from "./stop-signals.ts";

interface Started {
  readonly log: Logger;
  close(): Promise<void>;
}

/** Prints what `--json` asks of a process that is up: one document, one line (contract, section 7). */
export function printJson(document: object): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

const STOPPED_WITHIN_MS = bounds.drainMs + 5_000;
/** `npm start` hands on what the terminal has sent: one Ctrl-C may come twice, milliseconds apart. */
const ONE_SIGNAL_MS = 1_000;

/**
 * Starts a process and stops it in order on SIGTERM and SIGINT, with exit status 0: one that is
 * still starting as soon as it is up, for what has started may have work in hand. A second signal, a
 * second later or more, ends it at once. What cannot start says why in one line and exits 1; a defect (an uncaught
 * error) drains too, and exits 1.
 */
export async function runUntilStopped(start: () => Promise<Started>): Promise<void> {
  const asked = stopsWhileStarting();
  let started: Started;
  try {
    started = await start();
  } catch (thrown) {
    // Ctrl-C also ends what the start has called in the same terminal: that is no failure.
    if (asked.signal() !== undefined) process.exit(0);
    refuse(
      thrown,
      thrown instanceof ConfigurationError ? "starboard: " : "starboard: cannot start: ",
    );
    process.exit(1);
  }
  const { log, close } = started;
  const options = { delay: STOPPED_WITHIN_MS, skip: ["unhandledRejection" as const] };
  closeWithGrace({ ...options, logger: false }, async ({ err, signal }) => {
    // The library would end the process at once.
    onStopSignalAlone(endByAnother());
    if (err !== undefined) log.fatal({ err }, "stopping after an uncaught error");
    else log.info({ signal }, "stopping");
    await close();
    log.info("stopped");
  });
  process.on("unhandledRejection", (reason) => {
    // postgres.js asks a new connection for its array types and waits for no answer: when that
    // connection is cut, its rejection has no handler. Every other rejection is a defect.
    if (!isOutage(reason)) throw reason;
    log.warn({ err: reason }, "a connection was cut while it was opened");
  });
  const signal = asked.signal();
  asked.over();
  if (signal !== undefined) process.kill(process.pid, signal);
}

/** Ends the process by the next signal that is no repetition of the one that came just now. */
function endByAnother(): () => void {
  const since = performance.now();
  return () => {
    if (performance.now() - since > ONE_SIGNAL_MS) process.exit(1);
  };
}

/** Remembers a signal that comes before there is anything to stop. */
function stopsWhileStarting() {
  let asked: NodeJS.Signals | undefined;
  let hanging: NodeJS.Timeout | undefined;
  onStopSignal((signal) => {
    asked = signal;
    onStopSignal(endByAnother());
    // A start that hangs has no request in hand: it may end at once.
    hanging = setTimeout(() => process.exit(0), STOPPED_WITHIN_MS).unref();
  });
  return {
    signal: () => asked,
    /**
     * From here on the library heeds the signals. It takes its listener off before it puts the next one
     * on: while there is none, a signal would end the process by Node's own rule. Ours stays.
     */
    over() {
      clearTimeout(hanging);
      onStopSignal(() => undefined);
    },
  };
}
