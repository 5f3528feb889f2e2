import { openLedger } from "../../src/local/hedera/ledger.ts";
import { startMirrorNode } from "../../src/local/hedera/mirror-node.ts";
import { openPostgres } from "../../src/store/postgres.ts";

/** The local ledger's mirror node in a process of its own, as a public one would be elsewhere. */
const { databaseUrl = "", port = 0 } = JSON.parse(process.argv[2] ?? "{}") as {
  databaseUrl?: string;
  port?: number;
};
const sql = openPostgres(databaseUrl);
const ledger = await openLedger({ sql, now: Date.now });
const mirror = await startMirrorNode({ ledger, port });
process.once("SIGTERM", async () => {
  await mirror.close();
  await ledger.close();
  await sql.end({ timeout: 1 });
  process.exit(0);
});
