import type { Settings } from "../../config.ts";
import type { MirrorNode } from "../../ledger/mirror/node.ts";
import { msOf } from "../../ledger/transaction-id.ts";
import { runFirst, type Sql, withPostgres } from "../../store/postgres.ts";
import { type Finding, reasonOf, unset, well, wrong } from "../finding.ts";

const LIMITS = { deadlineMs: 4_000 } as const;
/** Clocks that follow NTP differ by milliseconds. */
const DIFFERENCE_MAX_MS = 5_000;
const FOLLOW = "let an NTP service set the clocks of this machine and of Postgres' machine";

/**
 * Clocks: stars are dated by Postgres', transaction ids begin at the machine's, and the newest
 * consensus timestamp lies in neither's future.
 */
export async function checkClock(
  { DATABASE_URL }: Settings,
  mirror: MirrorNode | undefined,
): Promise<Finding> {
  if (DATABASE_URL === undefined) return unset("DATABASE_URL");
  try {
    return await withPostgres(DATABASE_URL, { connections: 1 }, (sql) => compare(sql, mirror));
  } catch (error) {
    return wrong(`not compared: ${reasonOf(error)}`, "cure `postgres` first, then ask again");
  }
}

async function compare(sql: Sql, mirror: MirrorNode | undefined): Promise<Finding> {
  // Connecting takes time, too.
  await runFirst(sql`select 1`);
  const askedAt = Date.now();
  const [row] = await runFirst(
    sql<[{ now: number }]>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`,
  );
  const difference = Math.round(row.now - (askedAt + Date.now()) / 2);
  if (Math.abs(difference) > DIFFERENCE_MAX_MS) {
    return wrong(
      `Postgres' clock is ${seconds(difference)} ${difference > 0 ? "ahead of" : "behind"} this machine's`,
      FOLLOW,
    );
  }
  // Nothing is known where the mirror node does not say.
  const block = await mirror?.newestBlock(LIMITS).catch(() => null);
  const ahead = msOf(block?.to ?? "") - row.now;
  if (ahead > DIFFERENCE_MAX_MS) {
    return wrong(
      `the ledger's newest consensus is ${seconds(ahead)} ahead of Postgres' clock`,
      FOLLOW,
    );
  }
  return well(`this machine and Postgres differ by ${Math.abs(difference)} ms`);
}

function seconds(milliseconds: number): string {
  return `${Math.round(Math.abs(milliseconds) / 1_000)} s`;
}
