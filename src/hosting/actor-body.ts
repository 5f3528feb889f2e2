import { instant } from "../../actors/day.ts";
import type { Sql } from "../store/postgres.ts";
import { actorHistory } from "./actor-history.ts";
import type { ActorName } from "./actor-name.ts";
import { type Resting, type ShownActor, showActor } from "./show-actor.ts";

/**
 * An actor as JSON shows it, at `actors show`, `actors replay` and, with its history, over HTTP: the
 * instants of its stars as text, as everywhere else (contract, section 1).
 */
export function actorBody<A extends Pick<ShownActor, "context">>(actor: A): A {
  const { stars } = actor.context as {
    readonly stars: number | readonly { readonly at: number }[];
  };
  // An event's actors count theirs.
  if (typeof stars === "number") return actor;
  return { ...actor, context: { ...(actor.context as object), stars: stars.map(withInstant) } };
}

/**
 * The same with its history, at `/ops/api/actors/<id>` and at the console: a star that comes while both are
 * read is in neither.
 *
 * @throws what `showActor` throws
 */
export async function actorWithHistory(sql: Sql, resting: Resting, name: ActorName) {
  const actor = await showActor(sql, resting, name);
  const history = await actorHistory(sql, name, actor.version);
  return { ...actorBody(actor), history: history.map(withInstant) };
}

function withInstant<S extends { readonly at: number }>(star: S) {
  return { ...star, at: instant(star.at) };
}
