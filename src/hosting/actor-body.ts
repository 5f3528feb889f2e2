import { instant } from "../../actors/day.ts";
import type { ShownActor } from "./inspect-actor.ts";

/**
 * An actor as JSON shows it, at `actors show`, `actors replay` and `/ops/api/actors/<id>`: the
 * instants of its stars as text, as everywhere else (contract, section 1).
 */
export function actorBody<A extends Pick<ShownActor, "context">>(actor: A): A {
  const { stars } = actor.context as {
    readonly stars: number | readonly { readonly at: number }[];
  };
  // An event's actors count theirs.
  if (typeof stars === "number") return actor;
  const shown = stars.map((star) => ({ ...star, at: instant(star.at) }));
  return { ...actor, context: { ...(actor.context as object), stars: shown } };
}
