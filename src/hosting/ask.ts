import type { Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { Clock } from "../clock.ts";
import type { Host } from "./host.ts";
import { askWallet } from "./propose.ts";
import { mayBeWrong, type Refusal } from "./turn.ts";

/**
 * Asks the wallet-day actor, before any network, whether a star could be let through. Nothing
 * is changed or promised: the turn asks again.
 *
 * @returns the refusal and its day, or null where nothing speaks against it
 */
export async function askFirst(
  { host, clock }: { readonly host: Host; readonly clock: Clock },
  wallet: string,
  target: Target,
): Promise<{ readonly decision: Refusal; readonly day: Day } | null> {
  const key = { wallet, day: dayOf(clock.now()) };
  const hosted = await host.walletDay(key);
  const { decision } = askWallet(target, { hosted, now: clock.now() });
  // At the edge of the day the turn, not this look ahead, finds the right actor.
  if (decision.type !== "refused" || decision.code === "OTHER_DAY") return null;
  if (mayBeWrong(decision, hosted)) {
    const reread = await host.reload(key);
    const again = askWallet(target, { hosted: reread, now: clock.now() }).decision;
    if (again.type !== "refused" || again.code === "OTHER_DAY") return null;
    return { decision: again, day: key.day };
  }
  return { decision, day: key.day };
}
