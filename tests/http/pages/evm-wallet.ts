import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { type SigningWallet, signChallenge } from "../../../src/cli/demo-wallet.ts";
import { ecdsaKey } from "../../../src/local/hedera/keys.ts";
import type { Service } from "../../support/service.ts";
import type { Tab } from "./browser-place.ts";

/** Puts a browser wallet into a tab as EIP-6963 has it; it signs with a key of the test's own. */
export async function installWallet(
  { page }: Tab,
  address: string,
  wallet: SigningWallet,
): Promise<void> {
  await page.exposeFunction("signForTest", (hex: string) => {
    const message = Buffer.from(hex.slice(2), "hex").toString("utf8");
    return signChallenge(wallet, message).signature;
  });
  await page.addInitScript(`
    const provider = { async request({ method, params }) {
      if (method === "eth_requestAccounts") return ["${address}"];
      if (method === "personal_sign") return window.signForTest(params[0]);
      throw new Error(method);
    } };
    const info = { uuid: "350670db-19fa-4704-a166-e52e178b59d2", name: "Test Wallet", icon: "data:image/svg+xml,", rdns: "test.wallet" };
    addEventListener("eip6963:requestProvider", () => dispatchEvent(new CustomEvent("eip6963:announceProvider",
      { detail: Object.freeze({ info, provider }) })));`);
}

/** An account with an EVM address, and its key. */
export async function newEvmWallet({
  hedera,
}: Service): Promise<{ address: string; wallet: SigningWallet }> {
  const secret = secp256k1.utils.randomSecretKey();
  const point = secp256k1.getPublicKey(secret, false).subarray(1);
  const address = `0x${Buffer.from(keccak_256(point).subarray(12)).toString("hex")}`;
  const key = ecdsaKey(secp256k1.getPublicKey(secret, true));
  const id = await hedera.ledger.createAccount({ key, evmAddress: address.slice(2) });
  return { address, wallet: { id, type: "ecdsa", key: Buffer.from(secret).toString("hex") } };
}
