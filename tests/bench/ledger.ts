import { join } from "node:path";
import { freePort } from "../../src/local/free-port.ts";
import { openLedger } from "../../src/local/hedera/ledger.ts";
import type { Sql } from "../../src/store/postgres.ts";
import { type Child, launch } from "./children.ts";
import type { Bench } from "./measure.ts";
import { onDatabase } from "./measure.ts";
import { FIRST_WALLET } from "./workloads.ts";

/** A mirror node that knows the wallets of the benchmark and their NFTs. */
export interface BenchMirror {
  readonly url: string;
  readonly process: Child;
  readonly collectionA: string;
  readonly collectionB: string;
  close(): Promise<void>;
}

/** Two collection A serials to every wallet, the same ones that `serialsOf` names. */
export async function startMirror(bench: Bench, wallets: number): Promise<BenchMirror> {
  const database = await bench.world.clone("template0");
  let collections: Awaited<ReturnType<typeof settle>> | undefined;
  await onDatabase(database, async (sql) => {
    collections = await settle(sql, wallets);
  });
  if (collections === undefined) throw new Error("the ledger was not settled");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { profileInto } = bench.options;
  const process = await launch({
    entry: new URL("./mirror.ts", import.meta.url),
    args: [JSON.stringify({ databaseUrl: database.url, port })],
    profileInto: profileInto === undefined ? undefined : join(profileInto, "mirror"),
  });
  await process.answersAt(url);
  return {
    url,
    process,
    ...collections,
    close: async () => {
      await process.stop();
      await database.drop();
    },
  };
}

/** Collections the ordinary way; accounts and NFTs as rows, for one by one takes minutes. */
async function settle(sql: Sql, wallets: number) {
  const ledger = await openLedger({ sql, now: Date.now, blockEveryMs: 0 });
  const treasury = await ledger.createAccount({ key: null });
  const collectionA = await ledger.createCollection({ treasury, name: "A", symbol: "A" });
  const collectionB = await ledger.createCollection({ treasury, name: "B", symbol: "B" });
  await ledger.close();
  const last = FIRST_WALLET + wallets - 1;
  await sql`
    insert into local_ledger.account (num, valid_from, created_at, deleted, memo)
    select n, 1, 1, false, '' from generate_series(${FIRST_WALLET}::bigint, ${last}::bigint) n`;
  await sql`
    insert into local_ledger.nft (token, serial, valid_from, created_at, deleted, account, metadata)
    select ${Number(collectionA.slice("0.0.".length))}::bigint, serial, 1, 1, false,
      ${FIRST_WALLET}::bigint + (serial - 1) / 2, '\\x6d'
    from generate_series(1, ${2 * wallets}::bigint) serial`;
  await sql`update local_ledger.head set next_entity = ${last + 1}::bigint`;
  await sql`analyze`;
  return { collectionA, collectionB };
}
