const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Nothing has started, so there is nothing to drain. */
const endAtOnce = (): void => process.exit(0);

let heed: (signal: NodeJS.Signals) => void = endAtOnce;
const onSignal = (signal: NodeJS.Signals): void => heed(signal);

/**
 * Takes the signals to stop from here on, for a process that has to exit 0 by them at any moment
 * (contract, section 7): while its modules load, too. Without it, Node lets the signal end it.
 */
export function heedSignals(): void {
  for (const signal of SIGNALS) {
    // Never off and on again: Node then drops a signal that came since its loop last turned.
    if (!process.listeners(signal).includes(onSignal)) process.on(signal, onSignal);
  }
}

/** Says what a signal does from here on. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  heed = stop;
  heedSignals();
}

/** Says the same, and takes the signals from all others. */
export function onStopSignalAlone(stop: (signal: NodeJS.Signals) => void): void {
  onStopSignal(stop);
  for (const signal of SIGNALS) {
    for (const other of process.listeners(signal)) {
      if (other !== onSignal) process.off(signal, other);
    }
  }
}
