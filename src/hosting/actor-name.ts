import { type Day, isDay } from "../../actors/day.ts";
import { isEntityId } from "../ledger/entity-id.ts";

/** An actor by its public name (contract, section 7). */
export type ActorName =
  | { readonly type: "wallet-day"; readonly wallet: string; readonly day: Day }
  | { readonly type: "event-day"; readonly event: string; readonly day: Day }
  | { readonly type: "forever-mint"; readonly event: string };

export const ACTOR_TYPES = ["wallet-day", "event-day", "forever-mint"] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** Ids of events and projects. */
export const RECORD_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads `wallet-day/0.0.n/2026-11-20`, `event-day/<event>/2026-11-20` or
 * `forever-mint/<event>`.
 *
 * @returns undefined when the text names no actor
 */
export function parseActorName(text: string): ActorName | undefined {
  const [type, id = "", day, ...rest] = text.split("/");
  if (rest.length > 0) return undefined;
  if (day === undefined) {
    return type === "forever-mint" && RECORD_ID.test(id) ? { type, event: id } : undefined;
  }
  if (!isDay(day)) return undefined;
  if (type === "wallet-day" && isEntityId(id)) return { type, wallet: id, day };
  if (type === "event-day" && RECORD_ID.test(id)) return { type, event: id, day };
  return undefined;
}

export function formatActorName(name: ActorName): string {
  if (name.type === "forever-mint") return `forever-mint/${name.event}`;
  return `${name.type}/${name.type === "wallet-day" ? name.wallet : name.event}/${name.day}`;
}
