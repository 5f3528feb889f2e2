import { defineCommand } from "citty";
import { withInstants } from "../../actors/day.ts";
import { creditXp } from "../catalogue/credit-xp.ts";
import { needed, WALLET, word } from "./arguments.ts";
import { act } from "./database.ts";
import { command } from "./output.ts";

const credit = command({
  description: "Book points to a wallet, once per id. To take points back, end with `-- -5`.",
  args: {
    wallet: WALLET,
    points: word("Whole number other than 0."),
    reason: needed("What they are for."),
    id: needed("Your name for this credit."),
  },
  async work({ wallet, points, reason, id }) {
    const asked = { id, wallet, points: readPoints(points), reason };
    const booked = await act(
      { name: "xp.credit", subject: wallet, reason },
      (sql) => creditXp(sql, asked),
      (booked) => ({ details: withInstants(booked) }),
    );
    return withInstants(booked);
  },
  text: ({ wallet, points, seasonId }) =>
    `booked: ${points} to ${wallet}, ${seasonId === null ? "while no season is on" : `season ${seasonId}`}`,
});

export const subcommand = defineCommand({ subCommands: { credit } });

/** What is no such number becomes NaN, which is refused. */
function readPoints(text: string): number {
  return /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
