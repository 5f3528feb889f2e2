import { type Context, Hono } from "hono";
import { z } from "zod";
import type { Holdings } from "../../../actors/weight.ts";
import { type SigningWallet, signChallenge } from "../../cli/demo-wallet.ts";
import { badField, TerminalError } from "../../errors.ts";
import { refuseOtherMethods } from "../app.ts";
import { readJson } from "../middleware/read-json.ts";

export interface DemoSigning {
  /** The wallets of this machine's own ledger, with their keys of play money. */
  readonly wallets: readonly SigningWallet[];
  readonly readHoldings: (wallet: string) => Promise<Holdings>;
  /** @throws TerminalError where a request comes from no page of ours */
  readonly requireOwnPage: (c: Context) => void;
}

const asked = z.strictObject({ wallet: z.string(), message: z.string() });

/**
 * `/demo`: signs for the visitor, so that a first star needs no wallet to be installed. It is
 * there only where `npm start` brought its own ledger; it signs for pages of ours, for the wallets
 * of that ledger, and nothing but a text to sign in with.
 */
export function demoRoutes({ wallets, readHoldings, requireOwnPage }: DemoSigning): Hono {
  const app = new Hono();
  app.get("/wallets", async (c) => {
    const shown = wallets.map(async ({ id }) => {
      const { collectionA, collectionB } = await readHoldings(id);
      return {
        id,
        holds: `holds ${collectionA.length} of collection A, ${collectionB.length} of B`,
      };
    });
    c.header("Cache-Control", "no-store");
    return c.json(await Promise.all(shown));
  });
  app.post("/signatures", async (c) => {
    requireOwnPage(c);
    const { wallet: id, message } = await readJson(c, asked);
    const wallet = wallets.find((each) => each.id === id);
    if (wallet === undefined) throw new TerminalError("UNKNOWN_WALLET", "there is no such wallet");
    if (!isSignIn(message, id)) throw badField("message", "message is no text to sign in with");
    c.header("Cache-Control", "no-store");
    return c.json(signChallenge(wallet, message));
  });
  refuseOtherMethods(app);
  return app;
}

/** Whether a text is laid out as our challenges are, for this wallet. */
function isSignIn(message: string, wallet: string): boolean {
  const [first = "", second, third] = message.split("\n", 3);
  const isOurs = first.endsWith(" wants you to sign in with your Hedera account:");
  return isOurs && second === wallet && third === "";
}
