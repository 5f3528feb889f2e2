import { startLocalHedera } from "../../../src/local/hedera/start.ts";
import { openPostgres } from "../../../src/store/postgres.ts";

/** A local network in a process of its own, to be killed: prints where its nodes are. */
const [url = ""] = process.argv.slice(2);
const hedera = await startLocalHedera({ sql: openPostgres(url), now: Date.now });
process.stdout.write(`${JSON.stringify(hedera.nodes.map(({ address }) => address))}\n`);
