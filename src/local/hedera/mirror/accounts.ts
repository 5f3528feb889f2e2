import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import type { AccountVersion } from "../state/events.ts";
import type { Standing, State } from "../state/state.ts";
import { SECOND } from "../timestamps.ts";
import { readAccountReference, readEntityNum, toBase32 } from "./entity-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, MAX_AGE } from "./exchange.ts";
import { showKey } from "./key.ts";
import { checkQuery, isFlag } from "./parameters.ts";

/**
 * `GET /accounts/{idOrAliasOrEvmAddress}`: deleted accounts are there, with the key they had. What an
 * account paid for is not listed with it.
 */
export const getAccount: Endpoint = ({ state, query, part }) => {
  checkQuery(query, { transactions: isFlag });
  const account = state.accounts.get(findAccountNum(state, part("account"))) ?? notFound();
  return {
    body: { ...showAccount(account), transactions: [], links: { next: null } },
    maxAge: MAX_AGE.account,
  };
};

/** `GET /contracts/{id}`: 404 for an account that is no contract. */
export const getContract: Endpoint = ({ state, query, part }) => {
  const num = readEntityNum(part("contract"), "contractid");
  checkQuery(query, {});
  const contract = state.accounts.get(num);
  if (!contract?.isContract) return notFound();
  return {
    maxAge: MAX_AGE.list,
    body: {
      contract_id: entityId(num),
      created_timestamp: formatTimestamp(contract.created),
      deleted: contract.deleted,
      evm_address: evmAddressOf(contract),
      memo: contract.memo,
    },
  };
};

/**
 * The number of the account a path names.
 *
 * @throws MirrorError 400 for a bad spelling, 404 for an alias or EVM address that no account
 *   has; a number that no account has is returned as it is
 */
export function findAccountNum({ evmAddresses }: State, text: string): number {
  const reference = readAccountReference(text);
  return typeof reference === "number" ? reference : (evmAddresses.get(reference) ?? notFound());
}

function showAccount(account: Standing<AccountVersion>) {
  const { num, created, evmAddress, autoRenewPeriod: period, balance, balanceAt } = account;
  return {
    account: entityId(num),
    alias: evmAddress === null ? null : toBase32(evmAddress),
    auto_renew_period: period,
    balance: {
      balance,
      timestamp: balanceAt === null ? null : formatTimestamp(balanceAt),
      tokens: [],
    },
    created_timestamp: formatTimestamp(created),
    decline_reward: false,
    deleted: account.deleted,
    ethereum_nonce: 0,
    evm_address: evmAddressOf(account),
    expiry_timestamp: period === null ? null : formatTimestamp(created + BigInt(period) * SECOND),
    key: showKey(account.key),
    max_automatic_token_associations: account.maxAssociations,
    memo: account.memo,
    pending_reward: 0,
    receiver_sig_required: account.receiverSigRequired,
    staked_account_id: null,
    staked_node_id: null,
    stake_period_start: null,
  };
}

/** Its own, or the long-zero one that its number makes. */
function evmAddressOf({ evmAddress, num }: AccountVersion): string {
  return `0x${evmAddress ?? num.toString(16).padStart(40, "0")}`;
}
