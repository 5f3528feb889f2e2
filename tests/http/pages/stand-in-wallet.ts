import { type SigningWallet, signChallenge } from "../../../src/cli/demo-wallet.ts";
import type { StandInRelay } from "./relay-stand-in.ts";

/**
 * What a wallet may do in place of opening its account and signing; `key` signs with another's key.
 */
type Answer =
  | "declines"
  | "lacks the network"
  | "opens another network"
  | "declines to sign"
  | { readonly key: string };

/** A wallet that a page reaches by WalletConnect. */
export interface StandInWallet {
  /** Follows the address of a page's code. */
  pair(uri: string): Promise<void>;
  /** How it answers the next page that asks; then it opens its account and signs again. */
  answerNext(answer: Answer): void;
  /** How many pages it is connected to. */
  connections(): number;
  close(): Promise<void>;
}

const REFUSALS: ReadonlyMap<Answer, { code: number; message: string }> = new Map([
  ["declines", { code: 5000, message: "User rejected." }],
  ["lacks the network", { code: 5100, message: "Unsupported chains." }],
]);

/**
 * A Hedera wallet of the library that real ones are made with, beside a relay of the test's own: it
 * opens its account to each page that asks, and signs by HIP-820.
 */
export async function startWallet(
  relay: StandInRelay,
  given: SigningWallet & { readonly chainId: string },
): Promise<StandInWallet> {
  // The library takes the platform's own, or one from a package, when it is loaded.
  Object.assign(globalThis, { WebSocket: socketTo(relay) });
  const { SignClient } = await import("@walletconnect/sign-client");
  const client = await SignClient.init({
    projectId: "stand-in",
    metadata: { name: "Stand-in", description: "", url: "https://wallet.example", icons: [] },
    storageOptions: { database: ":memory:" },
    telemetryEnabled: false,
    logger: "silent",
  });
  let next: Answer | undefined;
  client.on("session_proposal", ({ id, params: { optionalNamespaces } }) => {
    const refusal = next === undefined ? undefined : REFUSALS.get(next);
    if (refusal !== undefined) {
      next = undefined;
      void client.reject({ id, reason: refusal });
      return;
    }
    const { methods = [], events = [] } = optionalNamespaces.hedera ?? {};
    const chainId = next === "opens another network" ? "hedera:mainnet" : given.chainId;
    if (chainId !== given.chainId) next = undefined;
    const hedera = { chains: [chainId], methods, events, accounts: [`${chainId}:${given.id}`] };
    void client.approve({ id, namespaces: { hedera } });
  });
  client.on("session_request", ({ id, topic, params: { request } }) => {
    const answer = next;
    next = undefined;
    const isOurs = request.params.signerAccountId === `${given.chainId}:${given.id}`;
    const isSigned =
      request.method === "hedera_signMessage" && isOurs && answer !== "declines to sign";
    const signer = typeof answer === "object" ? { ...given, ...answer } : given;
    const reply = isSigned
      ? { result: { signatureMap: signChallenge(signer, request.params.message).signature } }
      : { error: { code: 5001, message: "User rejected methods." } };
    void client.respond({ topic, response: { id, jsonrpc: "2.0", ...reply } });
  });
  return {
    pair: async (uri) => void (await client.pair({ uri })),
    answerNext(answer) {
      next = answer;
    },
    connections: () => client.session.length,
    async close() {
      await client.core.relayer.transportClose();
      client.core.heartbeat.stop();
    },
  };
}

/** A WebSocket that leads to the relay without a network. */
function socketTo(relay: StandInRelay) {
  return class {
    readonly #connection = relay.connect((data) =>
      queueMicrotask(() => this.onmessage?.({ data })),
    );
    readyState = 0;
    onopen?: (event: object) => void;
    onmessage?: (event: { readonly data: string }) => void;
    onclose?: (event: object) => void;
    onerror?: (event: object) => void;

    constructor() {
      setImmediate(() => {
        this.readyState = 1;
        this.onopen?.({});
      });
    }

    send(text: string): void {
      this.#connection.receive(text);
    }

    close(): void {
      this.readyState = 3;
      this.#connection.close();
      this.onclose?.({});
    }
  };
}
