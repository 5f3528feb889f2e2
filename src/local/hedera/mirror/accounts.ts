import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import type { AccountVersion } from "../state/events.ts";
import type { Versions } from "../state/state.ts";
import { SECOND } from "../timestamps.ts";
import { readAccountReference, readEntityNum, toBase32 } from "./account-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, MAX_AGE } from "./exchange.ts";
import { showKey } from "./key.ts";
import { checkQuery, isFlag } from "./parameters.ts";
import { creationOf, deletedOf, optionalTime, type View, versionOf } from "./view.ts";

/**
 * `GET /accounts/{idOrAliasOrEvmAddress}`: deleted accounts are there, with the key they had. What an
 * account paid for is not listed with it.
 */
export const getAccount: Endpoint = ({ view, query, part }) => {
  checkQuery(query, { transactions: isFlag });
  const versions = view.state.accounts.get(findAccountNum(view, part("account"))) ?? [];
  const account = versionOf(view, versions);
  if (account === undefined) throw notFound();
  return {
    body: { ...showAccount(view, account, versions), transactions: [], links: { next: null } },
    maxAge: MAX_AGE.account,
  };
};

/** `GET /contracts/{id}`: 404 for an account that is no contract. */
export const getContract: Endpoint = ({ view, query, part }) => {
  const num = readEntityNum(part("contract"), "contractid");
  checkQuery(query, {});
  const versions = view.state.accounts.get(num) ?? [];
  const contract = versionOf(view, versions);
  if (!contract?.isContract) throw notFound();
  return {
    maxAge: MAX_AGE.list,
    body: {
      admin_key: showKey(contract.key),
      auto_renew_account: null,
      auto_renew_period: contract.autoRenewPeriod,
      bytecode: null,
      contract_id: entityId(num),
      created_timestamp: optionalTime(creationOf(view, versions)),
      deleted: deletedOf(view, versions, contract),
      evm_address: evmAddressOf(contract),
      expiration_timestamp: null,
      file_id: null,
      max_automatic_token_associations: contract.maxAssociations,
      memo: contract.memo,
      nonce: 1,
      obtainer_id: null,
      permanent_removal: null,
      proxy_account_id: null,
      runtime_bytecode: null,
      timestamp: { from: formatTimestamp(contract.at), to: null },
    },
  };
};

/**
 * The number of the account a path names.
 *
 * @throws MirrorError 400 for a bad spelling, 404 for an alias or EVM address that no account
 *   has; a number that no account has is returned as it is
 */
export function findAccountNum({ state, asOf }: View, text: string): number {
  const reference = readAccountReference(text);
  if (typeof reference === "number") return reference;
  const num = state.evmAddresses.get(reference);
  const [first] = state.accounts.get(num ?? 0) ?? [];
  if (num === undefined || first === undefined || first.at > asOf) throw notFound();
  return num;
}

function showAccount(view: View, account: AccountVersion, versions: Versions<AccountVersion>) {
  const created = creationOf(view, versions);
  const { num, evmAddress, autoRenewPeriod: period, balance, balanceAt } = account;
  return {
    account: entityId(num),
    alias: evmAddress === null ? null : toBase32(evmAddress),
    auto_renew_period: period,
    balance: {
      balance,
      timestamp: balanceAt === null ? null : formatTimestamp(balanceAt),
      tokens: [],
    },
    created_timestamp: optionalTime(created),
    decline_reward: false,
    deleted: deletedOf(view, versions, account),
    ethereum_nonce: 0,
    evm_address: evmAddressOf(account),
    expiry_timestamp:
      period === null || created === undefined
        ? null
        : formatTimestamp(created + BigInt(period) * SECOND),
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
