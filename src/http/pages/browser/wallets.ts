/** A challenge's text as a wallet signed it. */
export interface Signed {
  readonly scheme: "hip820" | "eip191";
  readonly signature: string;
}

/** An account that a wallet has opened for this page. */
export interface Account {
  /** `0.0.n`, or an EVM address. */
  readonly wallet: string;
  sign(message: string): Promise<Signed>;
}

/** A wallet that can be chosen: the one shape for every kind of them. */
export interface Wallet {
  /** What people call it. */
  readonly name: string;
  /** What is said beside it. */
  readonly note?: string | undefined;
  /** Opens an account; people may be asked by the wallet itself. */
  connect(): Promise<Account>;
}
