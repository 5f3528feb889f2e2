import { entityId, entityNum } from "../entity-id.ts";
import type { KeyBytes } from "../keys.ts";
import { LedgerRefusal } from "../refusal.ts";
import type { AccountRow } from "./rows.ts";
import { entityExists, type State, type Step, type Turn, takeEntityNum } from "./state.ts";
import { addOwnTransaction } from "./transactions.ts";

/** What an account is made with. */
export interface NewAccount {
  /** `0.0.n` to be; the next free number when absent. */
  readonly id?: string;
  /** Protobuf `Key` (see `keys.ts`); null makes an account nobody can sign for. */
  readonly key: KeyBytes | null;
  /** 20 bytes in hex, with or without `0x`: fixed for ever, whatever becomes of the key. */
  readonly evmAddress?: string;
  readonly memo?: string;
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
    const { state, rows, at } = turn;
    const evmAddress = readEvmAddress(state, given.evmAddress);
    const num = given.id === undefined ? takeEntityNum(state) : claimNum(state, given.id);
    const row: AccountRow = {
      num,
      valid_from: at,
      created_at: at,
      deleted: false,
      key: given.key,
      alias: evmAddress,
      evm_address: evmAddress,
      memo: given.memo ?? "",
      balance: given.balance ?? BALANCE,
      balance_at: at,
      auto_renew_period: NINETY_DAYS_S,
      max_associations: -1,
      receiver_sig_required: false,
    };
    state.accounts.set(num, row);
    if (evmAddress !== null) state.evmAddresses.set(evmAddress.toString("hex"), num);
    rows.account.push(row);
    addOwnTransaction(turn, "CRYPTOCREATEACCOUNT", num);
    return entityId(num);
  };
}

/** Gives an account another key; its EVM address stays. */
export function rotateAccountKey(id: string, key: KeyBytes | null): Step<void> {
  return (turn) => {
    replace(turn, { ...livingAccount(turn.state, id), key });
    addOwnTransaction(turn, "CRYPTOUPDATEACCOUNT", entityNum(id));
  };
}

/** An account that holds NFTs cannot be deleted, as on the network. */
export function deleteAccount(id: string): Step<void> {
  return (turn) => {
    const account = livingAccount(turn.state, id);
    for (const collection of turn.state.collections.values()) {
      for (const nft of collection.row.deleted ? [] : collection.nfts.values()) {
        if (nft.account !== account.num) continue;
        throw new LedgerRefusal("TRANSACTION_REQUIRES_ZERO_TOKEN_BALANCES", `${id} holds NFTs`);
      }
    }
    replace(turn, { ...account, deleted: true, balance: 0n, balance_at: turn.at });
    addOwnTransaction(turn, "CRYPTODELETE", account.num);
  };
}

/** @throws LedgerRefusal when there is none, or it was deleted */
export function livingAccount(state: State, id: string): AccountRow {
  const account = state.accounts.get(entityNum(id));
  if (account === undefined) throw new LedgerRefusal("INVALID_ACCOUNT_ID", `no account ${id}`);
  if (account.deleted) throw new LedgerRefusal("ACCOUNT_DELETED", `${id} was deleted`);
  return account;
}

function replace({ state, rows, at }: Turn, next: AccountRow): void {
  const row = { ...next, valid_from: at };
  state.accounts.set(row.num, row);
  rows.account.push(row);
}

function claimNum(state: State, id: string): number {
  const num = entityNum(id);
  if (num === 0 || entityExists(state, num)) {
    throw new LedgerRefusal("INVALID_ACCOUNT_ID", `${id} is taken`);
  }
  state.nextEntity = Math.max(state.nextEntity, num + 1);
  return num;
}

function readEvmAddress(state: State, text: string | undefined): Buffer | null {
  if (text === undefined) return null;
  const hex = EVM_ADDRESS.exec(text)?.[1]?.toLowerCase();
  if (hex === undefined) throw new RangeError(`"${text}" is not an EVM address`);
  if (state.evmAddresses.has(hex)) {
    throw new LedgerRefusal("ALIAS_ALREADY_ASSIGNED", `0x${hex} has an account`);
  }
  return Buffer.from(hex, "hex");
}
