import { DAY_MS } from "../../actors/day.ts";
import type { Clock } from "../clock.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import { type OperatorAccount, readOperatorAccount } from "../ledger/operator-account.ts";
import type { Metrics } from "../metrics.ts";
import type { Sql } from "../store/postgres.ts";
import { acceptedSince, type OperatorReport } from "../store/service-report.ts";

/** Below so many messages left, however few a day takes, somebody should send HBAR. */
export const STARS_LEFT_MIN = 1_000;
/** And below so many days: time enough for a person who was away for some of them. */
const DAYS_LEFT_MIN = 7;

type Spending = Pick<OperatorReport, "balance" | "perMessage" | "starsPerDay">;

/** Messages that the balance still pays for. */
export function starsLeft({ balance, perMessage }: OperatorAccount): number {
  return Math.floor(balance / perMessage);
}

/** Days until it is empty, should each be as the last; null where nothing was starred. */
export function daysLeft(account: Spending): number | null {
  return account.starsPerDay === 0 ? null : starsLeft(account) / account.starsPerDay;
}

/** Whether somebody should send HBAR before it is empty. */
function isLow(account: Spending): boolean {
  return starsLeft(account) < STARS_LEFT_MIN || (daysLeft(account) ?? Infinity) < DAYS_LEFT_MIN;
}

const READ = { deadlineMs: 2_000, background: true } as const;

/**
 * Looks at the operator's account for a worker's report, and keeps the metrics. While the mirror
 * node does not answer, what was seen last stands.
 *
 * @returns one look; null before the first answer
 */
export function watchOperator(given: {
  readonly mirror: Pick<MirrorNode, "account" | "exchangeRate">;
  readonly sql: Sql;
  readonly clock: Clock;
  /** `0.0.n` */
  readonly account: string;
  readonly metrics: Pick<Metrics, "operatorBalance" | "operatorStarsLeft" | "operatorMessageCost">;
}): () => Promise<OperatorReport | null> {
  const { mirror, sql, clock, account, metrics } = given;
  let last: OperatorReport | null = null;
  return async () => {
    const found = await readOperatorAccount(mirror, account, READ).catch(() => null);
    if (found === null) return last;
    const now = clock.now();
    const starsPerDay = await acceptedSince(sql, now - DAY_MS);
    const seen = { account, ...found, starsPerDay };
    metrics.operatorBalance.set(found.balance);
    metrics.operatorMessageCost.set(found.perMessage);
    metrics.operatorStarsLeft.set(starsLeft(found));
    last = { ...seen, lowSince: isLow(seen) ? (last?.lowSince ?? now) : null };
    return last;
  };
}
