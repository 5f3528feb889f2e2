import { StarboardError } from "../../../../packages/client/src/index.ts";
import type { Signed, Wallet } from "./wallets.ts";

interface DemoWallet {
  readonly id: string;
  readonly holds: string;
}

/** This machine's demo wallets: it signs for them itself, with keys of play money. */
export async function demoWallets(): Promise<readonly Wallet[]> {
  const wallets = await ask<readonly DemoWallet[]>("/demo/wallets");
  return wallets.map(({ id, holds }) => ({
    name: id,
    note: holds,
    async connect() {
      const sign = (message: string): Promise<Signed> =>
        ask("/demo/signatures", { wallet: id, message });
      return { wallet: id, sign };
    },
  }));
}

async function ask<T>(path: string, json?: object): Promise<T> {
  const response = await fetch(path, {
    ...(json !== undefined && {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(json),
    }),
  });
  const body = await response.json();
  if (!response.ok) throw new StarboardError(response, body);
  return body;
}
