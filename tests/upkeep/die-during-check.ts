/**
 * A worker that is killed in the middle of the daily check: makes the due run and ends itself
 * with SIGKILL at the given failpoint, the given number of times reached. Arguments: database,
 * mirror node, collection A, collection B, shift of the clock in ms, failpoint, hit.
 */
import { followClock } from "../../src/clock.ts";
import { createMirrorNode } from "../../src/ledger/mirror-node.ts";
import { silentLogger } from "../../src/log.ts";
import { openPostgres, readDatabaseClock } from "../../src/store/postgres.ts";
import { createHoldingsCheck } from "../../src/upkeep/holdings-check.ts";

const [database = "", mirrorUrl = "", A = "", B = "", shift, failpoint, hit] =
  process.argv.slice(2);
const sql = openPostgres(database, { connections: 3 });
const clock = await followClock(
  () => readDatabaseClock(sql),
  () => undefined,
);
let hits = 0;
const check = createHoldingsCheck({
  sql,
  mirror: createMirrorNode({ urls: [mirrorUrl], log: silentLogger }),
  clock: { now: () => clock.now() + Number(shift) },
  log: silentLogger,
  collections: { A, B },
  failpoint: (name) => {
    if (name === failpoint && ++hits === Number(hit)) process.kill(process.pid, "SIGKILL");
  },
});
await check.runDue();
// Not reached where the failpoint exists: the caller takes this for a failed test.
process.exit(3);
