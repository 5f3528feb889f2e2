import type { Network } from "./wallet-connect.ts";
import type { Wallet } from "./wallets.ts";

/**
 * Any Hedera wallet that speaks WalletConnect (HIP-820), on this device or another. The library is
 * many times the page: it is loaded when this wallet is chosen.
 */
export function hederaWallet(network: Network): Wallet {
  return {
    name: "Hedera wallet",
    note: "by WalletConnect",
    async connect(asking) {
      const { openAccount } = await import("./wallet-connect.ts");
      return openAccount(network, asking);
    },
  };
}
