import type { Signer } from "../../../../packages/client/src/index.ts";

/** A challenge's text as a wallet signed it. */
export type Signed = Awaited<ReturnType<Signer["sign"]>>;

/** A wallet that cannot sign in; its message is a sentence for people. */
export class WalletError extends Error {}

/** A wallet that can be chosen: the one shape for every kind of them. */
export interface Wallet {
  readonly name: string;
  readonly note: string;
  /** Opens an account for this page; people may be asked by the wallet itself. */
  connect(asking: Asking): Promise<Signer>;
}

/** The person who has chosen a wallet. */
export interface Asking {
  /** Shows what has to be done to reach the wallet. */
  show(content: HTMLElement): void;
  /** Aborts when it is no longer wanted. */
  readonly signal: AbortSignal;
}
