/**
 * Goal: a signal to stop is never lost, whenever it comes. Method: this process signals itself in the
 * middle of synchronous work, where a start loads its modules, and only then says what a signal does.
 */
import * as assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { suite } from "uvu";
import { heedSignals, onStopSignal } from "../../src/processes/stop-signals.ts";

const test = suite("signals to stop");
const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const before = SIGNALS.flatMap((signal) => process.listeners(signal));
test.after(() => {
  for (const signal of SIGNALS) {
    for (const ours of process.listeners(signal))
      if (!before.includes(ours)) process.off(signal, ours);
  }
});

test("a signal that comes while modules load reaches the process that started since", async () => {
  heedSignals();
  process.kill(process.pid, "SIGTERM");
  const signal = new Promise<string>((resolve) => onStopSignal(resolve));
  assert.equal(await Promise.race([signal, sleep(5_000, "none")]), "SIGTERM");
});

test.run();
