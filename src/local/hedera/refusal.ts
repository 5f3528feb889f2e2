/**
 * The ledger's rules forbid what was asked; nothing has changed. `code` is the
 * network's own name for it (`ResponseCodeEnum`), so tests and messages speak one language.
 */
export class LedgerRefusal extends Error {
  override readonly name = "LedgerRefusal";
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}
