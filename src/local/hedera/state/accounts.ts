import { entityId, entityNumber } from "../../../ledger/entity-id.ts";
import { type KeyBytes, keyHex } from "../keys.ts";
import { LedgerRefusal } from "../refusal.ts";
import type { AccountVersion } from "./events.ts";
import type { State, Step } from "./state.ts";
import { addOwnTransaction } from "./transactions.ts";

/** What an account is made with; its number is the next free one when absent. */
export interface NewAccount
  extends Partial<Pick<AccountVersion, "num" | "evmAddress" | "memo" | "isContract" | "balance">> {
  /** Protobuf `Key` (see `keys.ts`); null makes an account that no signature satisfies. */
  readonly key: KeyBytes | null;
}

const NINETY_DAYS_S = 7_776_000;
/**
 * 10,000 HBAR, in tinybars. The local ledger prices transactions but takes nothing: a demo never
 * runs dry.
 */
const BALANCE = 1_000_000_000_000n;

/** @returns the new account's id */
export function createAccount({ key, ...given }: NewAccount): Step<string> {
  return (turn) => {
    const { state, at } = turn;
    const num = given.num ?? state.nextEntity;
    turn.add({
      kind: "account",
      at,
      num,
      deleted: false,
      memo: "",
      key: keyHex(key),
      evmAddress: null,
      balance: BALANCE,
      balanceAt: at,
      autoRenewPeriod: NINETY_DAYS_S,
      maxAssociations: -1,
      receiverSigRequired: false,
      ...given,
    });
    addOwnTransaction(turn, "CRYPTOCREATEACCOUNT", num);
    return entityId(num);
  };
}

/** @throws LedgerRefusal when there is none, or it was deleted */
export function livingAccount(state: State, id: string): AccountVersion {
  const account = state.accounts.get(entityNumber(id));
  if (account === undefined) throw new LedgerRefusal("INVALID_ACCOUNT_ID", `no account ${id}`);
  if (account.deleted) throw new LedgerRefusal("ACCOUNT_DELETED", `${id} was deleted`);
  return account;
}
