import { type Wallet, WalletError } from "./wallets.ts";

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
