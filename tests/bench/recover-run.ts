/** One recovery in a process of its own: `recover-run.ts MIRROR_URL DATABASE_URL`. Prints what it took. */
import { openAuditMirror } from "../../src/audit/audit-mirror.ts";
import { silentLogger } from "../../src/log.ts";
import { recover } from "../../src/recovery/recover.ts";
import { PIECE } from "../../src/recovery/recovery.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { A, B, KEYS } from "../audit/world.ts";

const [mirrorUrl = "", databaseUrl = ""] = process.argv.slice(2);
const sql = openPostgres(databaseUrl, { statementTimeoutMs: 60_000 });
const mirror = openAuditMirror({
  urls: [mirrorUrl],
  log: silentLogger,
  requestsPerSecond: Number.POSITIVE_INFINITY,
});
const startedAt = performance.now();
let stage = "";
const { recovered, unprovable } = await recover({
  sql,
  mirror,
  settings: {
    network: "local",
    topics: { event: "0.0.8001", asset: "0.0.8002" },
    collections: { a: { id: A, key: KEYS.a }, b: { id: B, key: KEYS.b } },
    excludedWallets: [],
    xpPerStar: 1,
  },
  exports: null,
  piece: PIECE,
  isDryRun: false,
  accepts: false,
  onProgress(what) {
    if (what !== stage) {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      const cpu = (process.cpuUsage().user / 1e6).toFixed(1);
      process.stderr.write(`${seconds} s, ${cpu} s of CPU: ${what}\n`);
    }
    stage = what;
  },
});
const seconds = (performance.now() - startedAt) / 1_000;
await mirror.close();
await sql.end({ timeout: 1 });
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const result = {
  recovered,
  unprovable: unprovable.length,
  seconds,
  cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
  rssMax: maxRSS * 1_024,
};
process.stderr.write(
  unprovable
    .slice(0, 3)
    .map((line) => `${line}\n`)
    .join(""),
);
process.stdout.write(`${JSON.stringify(result)}\n`);
