import { DBOS } from "@dbos-inc/dbos-sdk";
import type { Sql } from "../../../src/store/postgres.ts";
import { type CastOrder, castInOneTransaction, type Outcome } from "../plain.ts";

/** Of DBOS' own pool: as many as the plain service's; 8 and 40 made no difference. */
const CONNECTIONS = 16;

/**
 * Casts a star as a durable workflow of DBOS with one step, the star's transaction. A step may
 * run again after a crash; the workflow's id is the star's key, so it counts once all the same.
 * DBOS' tables lie in the same database, so they are as durable as ours.
 */
export async function castAsWorkflow(
  sql: Sql,
  databaseUrl: string,
): Promise<{ readonly cast: (order: CastOrder) => Promise<Outcome>; close(): Promise<void> }> {
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: databaseUrl,
    systemDatabasePoolSize: CONNECTIONS,
    logLevel: "error",
  });
  const step = DBOS.registerStep(
    (order: CastOrder) =>
      castInOneTransaction(sql, { ...order, key: order.key ?? DBOS.workflowID ?? null }),
    { name: "cast" },
  );
  const cast = DBOS.registerWorkflow((order: CastOrder) => step(order), { name: "star" });
  await DBOS.launch();
  return { cast, close: () => DBOS.shutdown() };
}
