/**
 * Loaded into a process, writes a line of what it holds to the file PRELOAD_FILE every ten seconds:
 * memory before and after a garbage collection, file descriptors, event-loop delay. The process keeps
 * few actors, so that it forgets some all the time, as it does with 20,000 after a day.
 */
import { appendFileSync, readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const ACTORS_LIVE_MAX = 500;

const [, program = ""] = process.argv;
const { bounds } = await import(new URL("../bounds.js", pathToFileURL(program)).href);
bounds.actorsLiveMax = ACTORS_LIVE_MAX;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

setInterval(() => {
  // First: what the collection below costs is ours, not the service's.
  const delayP99Ms = delay.percentile(99) / 1e6;
  const before = process.memoryUsage();
  collect();
  const after = process.memoryUsage();
  const fds = readdirSync("/proc/self/fd").length;
  const line = { at: Date.now(), before, after, fds, delayP99Ms };
  appendFileSync(process.env.PRELOAD_FILE ?? "", `${JSON.stringify(line)}\n`);
  delay.reset();
}, 10_000).unref();
