import { startLocalHedera } from "../../../src/local/hedera/start.ts";

/** A local network in a process of its own, to be killed: prints where its nodes are. */
const [folder] = process.argv.slice(2);
const hedera = await startLocalHedera({ folder, now: Date.now });
process.stdout.write(`${JSON.stringify(hedera.nodes.map(({ address }) => address))}\n`);
