import { ruleOf, type TargetType, targetKey } from "../../actors/content.ts";
import { rulesOn } from "../../actors/rules.ts";
import {
  underPass,
  type WalletDayKey,
  type WalletDayState,
  type WalletDecision,
  walletDay,
} from "../../actors/wallet-day.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** One step of a wallet's day: the star, what the machine says of it now, where it led. */
export interface WalletDayStep {
  readonly starId: string;
  /** `<type>/<id>` */
  readonly target: string;
  readonly at: number;
  readonly limit: number;
  readonly rules: number;
  /** Under the pass and the rules of the star's instant. */
  readonly decision: WalletDecision;
  /** What was recorded and what is decided now, where they differ; else null. */
  readonly difference: string | null;
  /** The actor after the star, under the pass of its instant. */
  readonly state: WalletDayState;
}

interface StarRow extends Pick<WalletDayStep, "starId" | "at" | "limit" | "rules"> {
  readonly slot: number;
  readonly type: TargetType;
  readonly targetId: string;
  readonly isForeverMint: boolean;
  readonly seasonId: string | null;
}

/**
 * Walks a wallet's day star by star; 20 steps at most. Each star is decided again under its own
 * pass and rules, and then taken in as it was recorded.
 */
export async function walkWalletDay(
  sql: Sql,
  key: WalletDayKey,
): Promise<readonly WalletDayStep[]> {
  const rows = await runStatement(sql<StarRow[]>`
    select id as "starId", at, slot, target_type as type, target_id as "targetId",
      is_forever_mint as "isForeverMint", allowance_limit as "limit", season_id as "seasonId", rules
    from star where day = ${key.day} and wallet = ${entityNumber(key.wallet)} order by slot`);
  let state = walletDay.initial(key);
  return rows.map((row) => {
    const { starId, at, type, limit, rules } = row;
    const target = targetKey(type, row.targetId);
    state = underPass(state, row.seasonId);
    const decision = walletDay.decide(state, {
      type: "star",
      target: { key: target, rule: ruleOf({ type, eventKind: kindOf(row) }) },
      now: at,
    });
    state = walletDay.evolve(state, { type: "starred", id: starId, target, at });
    const difference = differenceOf(row, decision, rulesOn(key.day).version);
    return { starId, target, at, limit, rules, decision, difference, state };
  });
}

/** A wallet's day distinguishes forever mints from everything else, and nothing more. */
function kindOf({ type, isForeverMint }: StarRow) {
  if (type !== "event") return null;
  return isForeverMint ? "FOREVER_MINT" : "OTHER";
}

function differenceOf(row: StarRow, decision: WalletDecision, version: number): string | null {
  const { slot, at, limit, rules } = row;
  const then = `slot ${slot} of ${limit} at ${at} under rules ${rules}`;
  const now =
    decision.type === "accepted"
      ? `slot ${decision.slot} of ${decision.limit} at ${decision.at} under rules ${version}`
      : decision.code;
  return now === then ? null : `star ${row.starId}: recorded ${then}, decided ${now}`;
}
