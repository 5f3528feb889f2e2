import type { Signer } from "../../../../packages/client/src/index.ts";

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
