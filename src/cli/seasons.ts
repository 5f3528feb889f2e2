import { defineCommand } from "citty";
import { addSeason, FOLD_TIMEOUT_MS, listSeasons, type Season } from "../catalogue/seasons.ts";
import { act } from "./act.ts";
import { withDatabase } from "./database.ts";
import { command, instantOrNull, table } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

const add = command({
  name: "add",
  description: "Add a season; seasons must not overlap.",
  args: {
    name: { type: "string", description: "Its name.", required: true },
    starts: { type: "string", description: "First instant, RFC 3339.", required: true },
    ends: { type: "string", description: "First instant after it, RFC 3339.", required: true },
  },
  async work({ name, starts, ends }) {
    const season = {
      name,
      startsAt: readInstant("starts", starts),
      endsAt: readInstant("ends", ends),
    };
    const { DATABASE_URL } = readCommandSettings(["DATABASE_URL"]);
    const how = {
      name: "seasons.add",
      subject: name,
      pool: { statementTimeoutMs: FOLD_TIMEOUT_MS },
      end: (details: Season) => ({ details: { ...details } }),
    };
    return shown(await act(DATABASE_URL, how, (sql) => addSeason(sql, season)));
  },
  text: ({ id, name, startsAt, endsAt }) => `${id}  ${name}: ${startsAt} to ${endsAt}`,
});

const list = command({
  name: "list",
  description: "List all seasons.",
  args: {},
  async work() {
    const { DATABASE_URL } = readCommandSettings(["DATABASE_URL"]);
    return (await withDatabase(DATABASE_URL, listSeasons)).map(shown);
  },
  text: (seasons) =>
    table(
      ["id", "name", "starts", "ends"],
      seasons.map(({ id, name, startsAt, endsAt }) => [id, name, startsAt, endsAt]),
    ),
});

/** `starboard seasons add|list` */
export const seasonsCommand = defineCommand({
  meta: { name: "seasons", description: "Seasons: of the leaderboard and of premium passes." },
  subCommands: { add, list },
});

function shown(season: Season) {
  return {
    ...season,
    startsAt: instantOrNull(season.startsAt),
    endsAt: instantOrNull(season.endsAt),
  };
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** A date alone means 00:00 UTC. */
function readInstant(option: string, text: string): number {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const at = isDate || RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new Error(`--${option} must be an instant such as 2026-11-20T00:00:00Z`);
  return at;
}
