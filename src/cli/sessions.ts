import { defineCommand } from "citty";
import { counted } from "../counted.ts";
import { TerminalError } from "../errors.ts";
import { revokeSessions } from "../keys/revoke-sessions.ts";
import { isEntityId } from "../ledger/entity-id.ts";
import { WALLET } from "./arguments.ts";
import { act } from "./database.ts";
import { command } from "./output.ts";

const revoke = command({
  description: "End all voting sessions of a wallet, at once and in every process.",
  args: {
    wallet: WALLET,
  },
  async work({ wallet }) {
    if (!isEntityId(wallet)) {
      throw new TerminalError("INVALID_REQUEST", "the wallet must be an account id like 0.0.1001");
    }
    const revoked = await act(
      { name: "sessions.revoke", subject: wallet },
      (sql) => revokeSessions(sql, wallet),
      (revoked) => ({ details: { revoked } }),
    );
    return { wallet, revoked };
  },
  text: ({ wallet, revoked }) => `ended ${counted(revoked, "session")} of ${wallet}`,
});

export const subcommand = defineCommand({ subCommands: { revoke } });
