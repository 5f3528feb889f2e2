/** One audit in a process of its own: `audit-run.ts MIRROR_URL`. Prints what it took, as JSON. */
import { runAudit } from "../../src/audit/audit.ts";
import { openAuditMirror } from "../../src/audit/audit-mirror.ts";
import { silentLogger } from "../../src/log.ts";
import { A, B, KEYS } from "../audit/world.ts";

const mirror = openAuditMirror({
  urls: [process.argv[2] ?? ""],
  log: silentLogger,
  requestsPerSecond: Number.POSITIVE_INFINITY,
});
/** The highest heap right after a full collection: what must be kept, without what may go. */
let heapMax = 0;
const look = (): void => {
  globalThis.gc?.();
  heapMax = Math.max(heapMax, process.memoryUsage().heapUsed);
};
const startedAt = performance.now();
let pausedMs = 0;
let looked = 0;
const conclusion = await runAudit({
  mirror,
  topics: { event: ["0.0.8001"], asset: ["0.0.8002"] },
  collections: { a: A, b: B },
  keys: KEYS,
  excluded: [],
  day: null,
  exports: null,
  api: null,
  lateMs: 24 * 3_600_000,
  settleMs: 0,
  stateFile: null,
  now: Date.now,
  onProgress(what, done) {
    if (what !== "messages" || done - looked < 2_000) return;
    looked = done;
    const before = performance.now();
    look();
    pausedMs += performance.now() - before;
  },
});
const ms = performance.now() - startedAt - pausedMs;
look();
await mirror.close();
const { maxRSS } = process.resourceUsage();
const { ok, checked } = conclusion;
const result = { ok, messages: checked.messages, ms, heapMax, rssMax: maxRSS * 1_024 };
process.stdout.write(`${JSON.stringify(result)}\n`);
