import type { Signer } from "../../../../packages/client/src/index.ts";
import { readReply } from "../../../../packages/client/src/request.ts";

/** A challenge's text as a wallet signed it. */
export type Signed = Awaited<ReturnType<Signer["sign"]>>;

/** A wallet that cannot sign in; its message is a sentence for people. */
export class WalletError extends Error {
  override readonly name = "WalletError";
}

/** By its name: what is bundled apart has a class of its own. */
export function isWalletError(error: unknown): error is WalletError {
  return error instanceof Error && error.name === "WalletError";
}

/** An account that a wallet opened for this page. */
export interface Account extends Signer {
  /** Lets the wallet know that it is no longer needed, signed or not. */
  leave?(): Promise<void>;
}

/** A wallet that can be chosen: the one shape for every kind of them. */
export interface Wallet {
  readonly name: string;
  readonly note: string;
  /** Opens an account for this page; people may be asked by the wallet itself. */
  connect(asking: Asking): Promise<Account>;
}

/** The person who has chosen a wallet. */
export interface Asking {
  /** Says how far it is, and shows what is needed to reach the wallet. */
  tell(text: string, ...content: readonly HTMLElement[]): void;
  /** Aborts when it is no longer wanted. */
  readonly signal: AbortSignal;
}

/** EIP-1193, as far as signing in needs it. */
interface Provider {
  request(asked: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** EIP-6963: how a wallet in this browser makes itself known. */
interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string; readonly rdns: string };
  readonly provider: Provider;
}

/** Wallets answer at once; some load a little later than the page. */
const ANSWER_WITHIN_MS = 200;

/** The wallets in this browser that announce themselves (EIP-6963). They sign by `personal_sign`. */
export async function browserWallets(): Promise<readonly Wallet[]> {
  const found = new Map<string, Announcement>();
  const note = (event: Event): void => {
    const { detail } = event as CustomEvent<Announcement>;
    // A wallet without a name cannot be chosen.
    const isWhole =
      typeof detail?.info?.name === "string" && typeof detail.provider?.request === "function";
    if (isWhole) found.set(detail.info.uuid, detail);
  };
  addEventListener("eip6963:announceProvider", note);
  dispatchEvent(new Event("eip6963:requestProvider"));
  await new Promise((resolve) => setTimeout(resolve, ANSWER_WITHIN_MS));
  removeEventListener("eip6963:announceProvider", note);
  return [...found.values()].map(walletOf);
}

function walletOf({ info, provider }: Announcement): Wallet {
  return {
    name: info.name,
    note: "in this browser",
    async connect() {
      const accounts = await provider.request({ method: "eth_requestAccounts" });
      const [address] = Array.isArray(accounts) ? accounts : [];
      if (address === undefined)
        throw new WalletError("The wallet opened no account. Open one there, and try again.");
      return {
        wallet: address,
        async sign(message) {
          const signature = await provider.request({
            method: "personal_sign",
            params: [hexOf(message), address],
          });
          return { scheme: "eip191", signature: String(signature) };
        },
      };
    },
  };
}

function hexOf(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

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
