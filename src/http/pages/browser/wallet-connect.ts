import { SignClient } from "@walletconnect/sign-client";
import { renderSVG } from "uqr";
import type { Signer } from "../../../../packages/client/src/index.ts";
import type { Asking } from "./wallets.ts";

const SIGN = "hedera_signMessage";
/** WalletConnect's code for "the session is over". */
const DONE = { code: 6000, message: "The account is known." };

/** Where wallets are looked for. */
export interface Network {
  readonly projectId: string;
  /** `hedera:mainnet` */
  readonly chainId: string;
}

type Client = Awaited<ReturnType<typeof SignClient.init>>;
/** The library is one for a page: it goes on where somebody asks again. */
let client: Promise<Client> | undefined;

async function openClient(projectId: string): Promise<Client> {
  const opened = await SignClient.init({
    projectId,
    metadata: metadata(),
    storage: new Forgetful(),
    telemetryEnabled: false,
    logger: "silent",
  });
  // It would frame a page of theirs; the text to sign names this site, and the service checks it.
  opened.core.verify.register = async () => "";
  return opened;
}

/**
 * Shows how to reach this page from a wallet, waits until one opens an account, and lets it sign
 * once: what stays is the service's session, so nothing is kept in the browser.
 */
export async function openAccount(
  { projectId, chainId }: Network,
  { show, signal }: Asking,
): Promise<Signer> {
  client ??= openClient(projectId).catch((error: unknown) => {
    client = undefined;
    throw error;
  });
  const relay = await client;
  const { uri = "", approval } = await relay.connect({
    optionalNamespaces: {
      hedera: { chains: [chainId], methods: [SIGN], events: ["accountsChanged", "chainChanged"] },
    },
  });
  show(invitation(uri));
  const { topic, namespaces } = await approval();
  const end = () => relay.disconnect({ topic, reason: DONE }).catch(() => undefined);
  const account = namespaces.hedera?.accounts.find((each) => each.startsWith(`${chainId}:`));
  if (account === undefined || signal.aborted) {
    await end();
    throw new Error("The wallet opened no account of this network, or is no longer asked.");
  }
  show(lookAtWallet());
  return {
    wallet: account.slice(chainId.length + 1),
    async sign(message) {
      const params = { signerAccountId: account, message };
      const asked = { topic, chainId, request: { method: SIGN, params } };
      try {
        const { signatureMap } = await relay.request<{ signatureMap: string }>(asked);
        return { scheme: "hip820", signature: signatureMap };
      } finally {
        await end();
      }
    },
  };
}

/** How the wallet names this page. */
function metadata() {
  const { origin } = location;
  const name = document.querySelector(".brand")?.lastChild?.textContent?.trim() ?? document.title;
  const icons = [`${origin}/assets/icon.svg`];
  return { name, description: "Stars for the Hedera ecosystem", url: origin, icons };
}

/** The pairing's address: to be scanned, opened on this device, or copied. */
function invitation(uri: string): HTMLElement {
  const place = Object.assign(document.createElement("div"), { className: "invitation" });
  place.innerHTML = renderSVG(uri, { border: 2 });
  const picture = place.querySelector("svg");
  picture?.setAttribute("role", "img");
  picture?.setAttribute("aria-label", "QR code for your wallet");
  const link = Object.assign(document.createElement("a"), {
    href: uri,
    textContent: "Open a wallet on this device",
  });
  const text = Object.assign(document.createElement("input"), { readOnly: true, value: uri });
  text.addEventListener("focus", () => text.select());
  const label = document.createElement("label");
  label.append("Or copy this into your wallet ", text);
  place.append(link, label);
  return place;
}

function lookAtWallet(): HTMLElement {
  return Object.assign(document.createElement("p"), {
    textContent: "Your wallet is connected. Confirm the text there.",
  });
}

/** A storage that lasts as long as the page. */
class Forgetful {
  readonly #kept = new Map<string, unknown>();

  async getKeys(): Promise<string[]> {
    return [...this.#kept.keys()];
  }

  async getEntries<T>(): Promise<[string, T][]> {
    return [...this.#kept] as [string, T][];
  }

  async getItem<T>(key: string): Promise<T | undefined> {
    return this.#kept.get(key) as T | undefined;
  }

  async setItem<T>(key: string, value: T): Promise<void> {
    this.#kept.set(key, value);
  }

  async removeItem(key: string): Promise<void> {
    this.#kept.delete(key);
  }
}
