import { type Config, StarboardError } from "../../../../packages/client/src/index.ts";
import { element } from "./element.ts";
import { now } from "./page-clock.ts";
import { NO_ANSWER, refusalSentence } from "./refusals.ts";
import { deadline, service } from "./service.ts";
import { type Asking, browserWallets, demoWallets, isWalletError, type Wallet } from "./wallets.ts";

/**
 * Asks which wallet to sign in with, and signs in; the page is then drawn for that wallet.
 *
 * @param why it is asked, where something was refused
 */
export async function signIn(why?: string): Promise<void> {
  // A double click.
  if (document.querySelector("dialog") !== null) return;
  const sheet = openSheet(why);
  try {
    const config = await service.config(deadline());
    const groups = await findWallets(config);
    sheet.show(groups);
  } catch (error) {
    sheet.say(sentenceOf(error));
  }
}

interface Group {
  readonly title: string;
  readonly wallets: readonly Wallet[];
}

async function findWallets(config: Config): Promise<readonly Group[]> {
  const inBrowser = await browserWallets();
  const demo = config.demoWallets ? await demoWallets() : [];
  const { walletConnectProjectId: projectId, chainId } = config;
  return [
    { title: "Wallets in this browser", wallets: inBrowser },
    {
      title: "Wallets elsewhere",
      wallets: projectId === null ? [] : [hederaWallet(projectId, chainId)],
    },
    { title: "Demo wallets of this machine", wallets: demo },
  ].filter(({ wallets }) => wallets.length > 0);
}

/**
 * Any Hedera wallet that speaks WalletConnect (HIP-820), on this device or another. The library is
 * many times the page: it is loaded when this wallet is chosen.
 */
function hederaWallet(projectId: string, chainId: string): Wallet {
  return {
    name: "Hedera wallet",
    note: "by WalletConnect",
    async connect(asking) {
      const { openAccount } = await import("./wallet-connect.ts");
      return openAccount({ projectId, chainId }, asking);
    },
  };
}

async function signInWith(wallet: Wallet, asking: Asking): Promise<void> {
  const account = await wallet.connect(asking);
  await service.signIn(account, { signal: asking.signal }).finally(() => account.leave?.());
  location.reload();
}

const DECLINED = "The wallet declined. Nothing was signed.";
const NOT_HERE = "This wallet does not know this network, or cannot sign in on it. Choose another.";
/** Error codes of wallets: in a browser (EIP-1193), and by WalletConnect. */
const WALLET_SENTENCES: Readonly<Record<number, string>> = {
  4001: DECLINED,
  [-32002]: "The wallet has a question open already. Answer it there, and try again.",
  5000: DECLINED,
  5001: DECLINED,
  5002: DECLINED,
  5100: NOT_HERE,
  5101: NOT_HERE,
  5104: NOT_HERE,
};

function sentenceOf(error: unknown): string {
  if (error instanceof StarboardError) return refusalSentence(error, now());
  if (isWalletError(error)) return error.message;
  if (error instanceof TypeError || error instanceof DOMException) return NO_ANSWER;
  const code = Number((error as { code?: unknown } | null)?.code);
  return WALLET_SENTENCES[code] ?? "The wallet did not sign. Try again.";
}

const NO_WALLET =
  "No wallet was found in this browser. Install one that supports Hedera or EVM accounts, and open this page again.";

/** A dialog of the browser's own: it holds the focus, and Escape closes it. */
function openSheet(why = "Your wallet signs a text. That costs nothing and moves nothing.") {
  const title = element("h2", { id: "sign-in-title", textContent: "Sign in with a wallet" });
  const lead = element("p", { id: "sign-in-why", className: "lead", textContent: why });
  const list = element("div", { className: "wallets" });
  const note = element("p", { textContent: "Looking for wallets…" });
  note.setAttribute("role", "status");
  const more = element("div");
  const close = element("button", { type: "button", textContent: "Close" });
  close.addEventListener("click", () => dialog.close());
  const dialog = element("dialog", {}, title, lead, list, note, more, close);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.setAttribute("aria-describedby", lead.id);
  const leaving = new AbortController();
  dialog.addEventListener("close", () => {
    leaving.abort();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  const say = (text: string): void => {
    note.textContent = text;
  };
  let newest = 0;
  const choose = async (wallet: Wallet, button: HTMLElement): Promise<void> => {
    newest += 1;
    const choice = newest;
    // A wallet that was chosen before another may still sign in, and says nothing here.
    const tell = (text: string, ...content: readonly HTMLElement[]): void => {
      if (choice !== newest) return;
      say(text);
      more.replaceChildren(...content);
      const wasHidden = list.hidden;
      list.hidden = content.length > 0;
      // What had the focus is gone.
      (more.querySelector("a") ?? (wasHidden ? button : null))?.focus();
    };
    tell(`Waiting for ${wallet.name}…`);
    await signInWith(wallet, { tell, signal: leaving.signal }).catch((error: unknown) =>
      tell(sentenceOf(error)),
    );
  };
  return {
    say,
    show(groups: readonly Group[]) {
      say(groups.length === 0 ? NO_WALLET : "");
      for (const { title, wallets } of groups) {
        const buttons = wallets.map((wallet) => walletButton(wallet, choose));
        list.append(element("h3", { textContent: title }), ...buttons);
      }
      list.querySelector("button")?.focus();
    },
  };
}

function walletButton(
  wallet: Wallet,
  choose: (wallet: Wallet, button: HTMLElement) => Promise<void>,
): HTMLElement {
  const button = element("button", { type: "button" }, element("strong", {}, wallet.name));
  button.append(element("span", {}, wallet.note));
  button.addEventListener("click", () => void choose(wallet, button));
  return button;
}
