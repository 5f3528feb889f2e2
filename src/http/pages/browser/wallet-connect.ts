import { SignClient } from "@walletconnect/sign-client";
import { renderSVG } from "uqr";
import { element } from "./element.ts";
import { type Account, type Asking, WalletError } from "./wallets.ts";

const SIGN = "hedera_signMessage";
/** WalletConnect's code for "the session is over". */
const DONE = { code: 6000, message: "The account is known." };

interface Network {
  readonly projectId: string;
  /** `hedera:mainnet` */
  readonly chainId: string;
}

/** A relay that works answers within a second or two. */
const RELAY_WITHIN_MS = 15_000;
const LEAVE_WITHIN_MS = 1_000;
const NO_RELAY =
  "WalletConnect cannot be reached. Check your connection and try again, or use another wallet.";
const TOO_LATE = "The wallet did not answer within five minutes. Try again.";

type Client = Awaited<ReturnType<typeof SignClient.init>>;
/** One client for each page: a second sign-in uses the first one's client. */
let client: Promise<Client> | undefined;

async function openClient(projectId: string): Promise<Client> {
  const opened = await SignClient.init({
    projectId,
    metadata: metadata(),
    storage: forgetful(),
    telemetryEnabled: false,
    logger: "silent",
  });
  // Off, because it loads a page of WalletConnect in a frame. The text to sign names this site, and
  // the service checks it.
  opened.core.verify.register = async () => "";
  return opened;
}

/**
 * Shows how to reach this page from a wallet, waits until one opens an account, and lets it sign
 * once: what stays is the service's session, so nothing is kept in the browser.
 */
export async function openAccount(
  { projectId, chainId }: Network,
  { tell, signal }: Asking,
): Promise<Account> {
  const { relay, uri, approval } = await within(RELAY_WITHIN_MS, invite({ projectId, chainId }));
  tell("Scan the code with your wallet.", invitation(uri));
  const { topic, namespaces } = await approval().catch(sayIfLate);
  const end = () => leave(relay.disconnect({ topic, reason: DONE }));
  const account = namespaces.hedera?.accounts.find((each) => each.startsWith(`${chainId}:`));
  if (account === undefined || signal.aborted) {
    await end();
    const network = chainId.replace("hedera:", "");
    throw new WalletError(
      `The wallet opened no account of the network ${network}. Choose one there.`,
    );
  }
  tell("Your wallet is connected. Confirm the text there.");
  return {
    wallet: account.slice(chainId.length + 1),
    async sign(message) {
      const params = { signerAccountId: account, message };
      const asked = { topic, chainId, request: { method: SIGN, params } };
      const { signatureMap } = await relay
        .request<{ signatureMap: string }>(asked)
        .catch(sayIfLate);
      return { scheme: "hip820", signature: signatureMap };
    },
    leave: end,
  };
}

async function invite({ projectId, chainId }: Network) {
  client ??= openClient(projectId).catch((error: unknown) => {
    client = undefined;
    throw error;
  });
  const relay = await client;
  const events = ["accountsChanged", "chainChanged"];
  const optionalNamespaces = { hedera: { chains: [chainId], methods: [SIGN], events } };
  const { uri = "", approval } = await relay.connect({ optionalNamespaces });
  return { relay, uri, approval };
}

/** Waits a moment for the wallet to hear of the session's end, and no longer. */
function leave(disconnected: Promise<void>): Promise<void> {
  return within(LEAVE_WITHIN_MS, disconnected).catch(() => undefined);
}

/** @throws WalletError when the relay does not answer in time, or says no */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(reject, ms);
  });
  return Promise.race([work, late]).catch((cause: unknown) => {
    throw new WalletError(NO_RELAY, { cause });
  });
}

/** The library's own words for it differ from step to step. */
function sayIfLate(error: unknown): never {
  throw /expired/i.test(String((error as Error | null)?.message))
    ? new WalletError(TOO_LATE)
    : error;
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
  const innerHTML = renderSVG(uri, { border: 2 });
  const place = element("div", { className: "invitation", innerHTML });
  const picture = place.querySelector("svg");
  picture?.setAttribute("role", "img");
  picture?.setAttribute("aria-label", "QR code for your wallet");
  const link = element("a", { href: uri, textContent: "Open a wallet on this device" });
  const text = element("input", { readOnly: true, value: uri });
  text.addEventListener("focus", () => text.select());
  place.append(link, element("label", {}, "Or copy this into your wallet ", text));
  return place;
}

/** A storage that lasts as long as the page. */
function forgetful(): NonNullable<Parameters<typeof SignClient.init>[0]>["storage"] & {} {
  const kept = new Map<string, unknown>();
  return {
    getKeys: async () => [...kept.keys()],
    getEntries: async <T>() => [...kept] as [string, T][],
    getItem: async <T>(key: string) => kept.get(key) as T | undefined,
    setItem: async (key, value) => void kept.set(key, value),
    removeItem: async (key) => void kept.delete(key),
  };
}
