import { defineCommand } from "citty";
import { dayOf, isDay, withInstants } from "../../actors/day.ts";
import { addSeason, FOLD_TIMEOUT_MS, listSeasons } from "../catalogue/seasons.ts";
import { needed } from "./arguments.ts";
import { act, withDatabase } from "./database.ts";
import { command, table } from "./output.ts";

const add = command({
  description: "Add a season; seasons must not overlap.",
  args: {
    name: needed("Its name."),
    starts: needed("First instant, RFC 3339."),
    ends: needed("First instant after it, RFC 3339."),
  },
  async work({ name, starts, ends }) {
    const season = {
      name,
      startsAt: readInstant("starts", starts),
      endsAt: readInstant("ends", ends),
    };
    const added = await act(
      { name: "seasons.add", subject: name, pool: { statementTimeoutMs: FOLD_TIMEOUT_MS } },
      (sql) => addSeason(sql, season),
      (added) => ({ details: withInstants(added) }),
    );
    return withInstants(added);
  },
  text: ({ id, name, startsAt, endsAt }) => `${id}  ${name}: ${startsAt} to ${endsAt}`,
});

const list = command({
  description: "List all seasons.",
  work: async () => (await withDatabase(listSeasons)).map(withInstants),
  text: (seasons) => table(seasons, { id: "id", name: "name", starts: "startsAt", ends: "endsAt" }),
});

export const subcommand = defineCommand({ subCommands: { add, list } });

/** As RFC 3339 has it, with any fraction; the seconds may be left out. */
const TIME = /^([01]\d|2[0-3]):\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A date alone means 00:00 UTC. */
function readInstant(option: string, text: string): number {
  // `Date.parse` reads 30 February as 2 March, and 24:00 as the next day.
  const [date = "", time] = text.split("T");
  const isInstant = isDay(date) && (time === undefined || TIME.test(time));
  const at = isInstant ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new Error(`--${option} must be an instant such as 2026-11-20T00:00:00Z`);
  // The last hours of 9999 of a place to the west are in the year 10000 by UTC.
  if (at < 0 || !isDay(dayOf(at))) throw new Error(`--${option} must be from 1970 to 9999 by UTC`);
  return at;
}
