import { defineCommand } from "citty";
import { withInstants } from "../../actors/day.ts";
import { type BookedCredit, creditXp } from "../catalogue/credit-xp.ts";
import { act } from "./act.ts";
import { command } from "./output.ts";

const credit = command({
  name: "credit",
  description: "Book points to a wallet, once per id. To take points back, end with `-- -5`.",
  args: {
    wallet: { type: "positional", description: "Account id, such as 0.0.1001.", required: true },
    points: { type: "positional", description: "Whole number other than 0.", required: true },
    reason: { type: "string", description: "What they are for.", required: true },
    id: { type: "string", description: "Your name for this credit.", required: true },
  },
  async work({ wallet, points, reason, id }) {
    const asked = { id, wallet, points: readPoints(points), reason };
    const how = {
      name: "xp.credit",
      subject: wallet,
      reason,
      end: (booked: BookedCredit) => ({ details: withInstants(booked) }),
    };
    return withInstants(await act(how, (sql) => creditXp(sql, asked)));
  },
  text: ({ wallet, points, seasonId }) =>
    `booked: ${points} to ${wallet}, ${seasonId === null ? "while no season is on" : `season ${seasonId}`}`,
});

/** `starboard xp credit` */
export const xpCommand = defineCommand({
  meta: { name: "xp", description: "Points of the leaderboard that stars do not bring." },
  subCommands: { credit },
});

/** What is no such number becomes NaN, which is refused. */
function readPoints(text: string): number {
  return /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
