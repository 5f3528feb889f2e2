import { entityId, entityNumber } from "../../../ledger/entity-id.ts";
import { type KeyBytes, keyHex } from "../keys.ts";
import { LedgerRefusal } from "../refusal.ts";
import type { AccountVersion } from "./events.ts";
import { entityExists, newest, type State, type Step } from "./state.ts";
import { addOwnTransaction } from "./transactions.ts";

/** What an account is made with. */
export interface NewAccount {
  /** `0.0.n` to be; the next free number when absent. */
  readonly id?: string;
  /** Protobuf `Key` (see `keys.ts`); null makes an account that no signature satisfies. */
  readonly key: KeyBytes | null;
  /** 20 bytes in hex, with or without `0x`: it stays when the key changes. */
  readonly evmAddress?: string;
  readonly memo?: string;
  /** A smart contract's account: without a key of its own, and with a place at `/contracts`. */
  readonly isContract?: boolean;
  /** Tinybars. The local ledger prices transactions but takes nothing: a demo never runs dry. */
  readonly balance?: bigint;
}

const NINETY_DAYS_S = 7_776_000;
const EVM_ADDRESS = /^(?:0x)?([0-9a-f]{40})$/i;
/** 10,000 HBAR, in tinybars. */
const BALANCE = 1_000_000_000_000n;

/** @returns the new account's id */
export function createAccount(given: NewAccount): Step<string> {
  return (turn) => {
    const { state, at } = turn;
    const num = given.id === undefined ? state.nextEntity : freeNum(state, given.id);
    turn.add({
      kind: "account",
      at,
      num,
      deleted: false,
      memo: given.memo ?? "",
      key: keyHex(given.key),
      evmAddress: readEvmAddress(state, given.evmAddress),
      balance: given.balance ?? BALANCE,
      balanceAt: at,
      autoRenewPeriod: NINETY_DAYS_S,
      maxAssociations: -1,
      receiverSigRequired: false,
      ...(given.isContract ? { isContract: true } : {}),
    });
    addOwnTransaction(
      turn,
      given.isContract ? "CONTRACTCREATEINSTANCE" : "CRYPTOCREATEACCOUNT",
      num,
    );
    return entityId(num);
  };
}

/** @throws LedgerRefusal when there is none, or it was deleted */
export function livingAccount(state: State, id: string): AccountVersion {
  const account = newest(state.accounts.get(entityNumber(id)));
  if (account === undefined) throw new LedgerRefusal("INVALID_ACCOUNT_ID", `no account ${id}`);
  if (account.deleted) throw new LedgerRefusal("ACCOUNT_DELETED", `${id} was deleted`);
  return account;
}

function freeNum(state: State, id: string): number {
  const num = entityNumber(id);
  if (num !== 0 && !entityExists(state, num)) return num;
  throw new LedgerRefusal("INVALID_ACCOUNT_ID", `${id} is taken`);
}

function readEvmAddress(state: State, text: string | undefined): string | null {
  if (text === undefined) return null;
  const hex = EVM_ADDRESS.exec(text)?.[1]?.toLowerCase();
  if (hex === undefined) throw new RangeError(`"${text}" is not an EVM address`);
  if (state.evmAddresses.has(hex)) {
    throw new LedgerRefusal("ALIAS_ALREADY_ASSIGNED", `0x${hex} has an account`);
  }
  return hex;
}
