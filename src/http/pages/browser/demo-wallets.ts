import { readReply } from "../../../../packages/client/src/request.ts";
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

function ask<T>(path: string, json?: object): Promise<T> {
  const posted = json && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(json),
  };
  return readReply<T>(fetch, path, { ...posted });
}
