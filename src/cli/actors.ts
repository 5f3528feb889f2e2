import { defineCommand } from "citty";
import { withInstants } from "../../actors/day.ts";
import { counted } from "../counted.ts";
import { actorBody } from "../hosting/actor-body.ts";
import { ACTOR_TYPES, type ActorName, parseActorName } from "../hosting/actor-name.ts";
import { listActors } from "../hosting/list-actors.ts";
import { type Replay, replayActor } from "../hosting/replay-actor.ts";
import { type Resting, showActor } from "../hosting/show-actor.ts";
import type { Sql } from "../store/postgres.ts";
import { option, readWhole, word } from "./arguments.ts";
import { withDatabase } from "./database.ts";
import { command, table } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

const ID = { id: word("wallet-day/0.0.n/DAY, event-day/EVENT/DAY or forever-mint/EVENT.") };
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;

const list = command({
  description: "List the actors starred most recently.",
  args: {
    type: option(`One of ${ACTOR_TYPES.join(", ")}.`),
    q: option("A wallet, a day, or part of an event's id or title."),
    limit: option(`At most so many; default ${LIMIT_DEFAULT}.`),
  },
  async work({ type, q, limit: given = String(LIMIT_DEFAULT) }) {
    const wanted = ACTOR_TYPES.find((each) => each === type);
    if (type !== undefined && wanted === undefined) {
      throw new Error(`--type must be one of ${ACTOR_TYPES.join(", ")}`);
    }
    const limit = readWhole(given, { name: "--limit", min: 1, max: LIMIT_MAX });
    const actors = await withDatabase((sql) => listActors(sql, { type: wanted, q, limit }));
    return actors.map(withInstants);
  },
  text: (actors) => table(actors, { actor: "id", stars: "version", "last star": "lastAt" }),
});

const show = command({
  description: "Show an actor's state, context and version.",
  args: ID,
  async work({ id }) {
    const name = readName(id);
    // An event's actors are read from the journal: a snapshot of a large mint takes longer.
    const from = name.type === "wallet-day" ? "snapshots" : "journal";
    return actorBody(await inspect(name, from, showActor));
  },
  text: (actor) => JSON.stringify(actor, null, 2),
});

const replay = command({
  description: "Rebuild an actor from the journal and hold it against what is live.",
  args: ID,
  async work({ id }) {
    const replayed = await inspect(readName(id), "snapshots", replayActor);
    if (!replayed.equal) process.exitCode = 1;
    return { ...replayed, replayed: actorBody(replayed.replayed) };
  },
  text: replayText,
});

/** A mistyped id names an actor without stars: its answer must not look fine. */
function replayText({ id, equal, differences, rules, replayed }: Replay): string {
  if (!equal) return [`${id} differs from its journal:`, ...differences].join("\n  ");
  if (replayed.version === 0) return `${id} has no star in the journal: is it the one you mean?`;
  const decided = `decided under rules ${rules.join(", ")}`;
  return `${id} equals its journal: ${replayed.state}, ${counted(replayed.version, "star")}, ${decided}`;
}

export const subcommand = defineCommand({ subCommands: { list, show, replay } });

async function inspect<T>(
  name: ActorName,
  from: "snapshots" | "journal",
  look: (sql: Sql, resting: Resting, name: ActorName) => Promise<T>,
): Promise<T> {
  const { REDIS_URL } = readCommandSettings(["DATABASE_URL"]);
  const inspected = (resting: Resting) => withDatabase((sql) => look(sql, resting, name));
  if (from === "journal" || REDIS_URL === undefined) return inspected({});
  const { withRestingActors } = await import("./resting-actors.ts");
  return withRestingActors(REDIS_URL, inspected);
}

function readName(id: string): ActorName {
  const name = parseActorName(id);
  if (name === undefined) throw new Error(`${id} names no actor: see --help`);
  return name;
}
