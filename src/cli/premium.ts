import { defineCommand } from "citty";
import { withInstants } from "../../actors/day.ts";
import {
  grantPass,
  listPasses,
  type Pass,
  type PassName,
  revokePass,
} from "../catalogue/premium.ts";
import type { Sql } from "../store/postgres.ts";
import { act } from "./act.ts";
import { withDatabase } from "./database.ts";
import { command, table } from "./output.ts";

const grant = passCommand("grant", "Give a wallet a pass for one season.", grantPass);
const revoke = passCommand("revoke", "Take a wallet's pass back.", revokePass);

const list = command({
  name: "list",
  description: "List all passes.",
  args: {},
  async work() {
    return (await withDatabase(listPasses)).map(withInstants);
  },
  text: (passes) => table(passes, { wallet: "wallet", season: "seasonId", granted: "grantedAt" }),
});

/** `starboard premium grant|revoke|list` */
export const premiumCommand = defineCommand({
  meta: { name: "premium", description: "Premium passes: 20 votes a day while a season is on." },
  subCommands: { grant, revoke, list },
});

function passCommand(
  name: string,
  description: string,
  change: (sql: Sql, pass: PassName) => Promise<Pass>,
) {
  return command({
    name,
    description,
    args: {
      wallet: { type: "positional", description: "Account id, such as 0.0.1001.", required: true },
      season: { type: "string", description: "Id of the season.", required: true },
    },
    async work({ wallet, season }) {
      const pass = { wallet, seasonId: season };
      const how = {
        name: `premium.${name}`,
        subject: wallet,
        end: () => ({ details: { season } }),
      };
      return withInstants(await act(how, (sql) => change(sql, pass)));
    },
    text: ({ wallet, seasonId }) =>
      `${name === "grant" ? "granted" : "revoked"}: ${wallet}, season ${seasonId}`,
  });
}
