import { type SigningWallet, signChallenge } from "../../../src/cli/demo-wallet.ts";
import type { StandInRelay } from "./relay-stand-in.ts";

/** A wallet that a page reaches by WalletConnect. */
export interface StandInWallet {
  /** Follows the address of a page's code. */
  pair(uri: string): Promise<void>;
  /** The person who has it says no to the next page that asks. */
  declineNext(): void;
  close(): Promise<void>;
}

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
  let isDeclining = false;
  client.on("session_proposal", ({ id, params: { optionalNamespaces } }) => {
    if (isDeclining) {
      isDeclining = false;
      void client.reject({ id, reason: { code: 5000, message: "User rejected." } });
      return;
    }
    const { methods = [], events = [] } = optionalNamespaces.hedera ?? {};
    const accounts = [`${given.chainId}:${given.id}`];
    const hedera = { chains: [given.chainId], methods, events, accounts };
    void client.approve({ id, namespaces: { hedera } });
  });
  client.on("session_request", ({ id, topic, params: { request } }) => {
    const isOurs = request.params.signerAccountId === `${given.chainId}:${given.id}`;
    const reply =
      request.method === "hedera_signMessage" && isOurs
        ? { result: { signatureMap: signChallenge(given, request.params.message).signature } }
        : { error: { code: 5001, message: "User rejected methods." } };
    void client.respond({ topic, response: { id, jsonrpc: "2.0", ...reply } });
  });
  return {
    pair: async (uri) => void (await client.pair({ uri })),
    declineNext() {
      isDeclining = true;
    },
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
