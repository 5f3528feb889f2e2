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
import { needed, WALLET } from "./arguments.ts";
import { act, withDatabase } from "./database.ts";
import { command, table } from "./output.ts";

const grant = passCommand("grant", "Give a wallet a pass for one season.", grantPass);
const revoke = passCommand("revoke", "Take a wallet's pass back.", revokePass);

const list = command({
  description: "List all passes.",
  work: async () => (await withDatabase(listPasses)).map(withInstants),
  text: (passes) => table(passes, { wallet: "wallet", season: "seasonId", granted: "grantedAt" }),
});

export const subcommand = defineCommand({ subCommands: { grant, revoke, list } });

function passCommand(
  name: string,
  description: string,
  change: (sql: Sql, pass: PassName) => Promise<Pass>,
) {
  return command({
    description,
    args: {
      wallet: WALLET,
      season: needed("Id of the season."),
    },
    async work({ wallet, season }) {
      const pass = { wallet, seasonId: season };
      const changed = await act(
        { name: `premium.${name}`, subject: wallet },
        (sql) => change(sql, pass),
        () => ({ details: { season } }),
      );
      return withInstants(changed);
    },
    text: ({ wallet, seasonId }) =>
      `${name === "grant" ? "granted" : "revoked"}: ${wallet}, season ${seasonId}`,
  });
}
