import { entityId } from "../entity-id.ts";
import { timestampText } from "../timestamps.ts";
import { readEntityNum } from "./account-reference.ts";
import { evmAddressOf } from "./accounts.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, MAX_AGE } from "./exchange.ts";
import { showKey } from "./key.ts";
import { checkQuery, isTimestamp } from "./parameters.ts";
import { creationOf, deletedOf, optionalTime, versionOf } from "./view.ts";

/** `GET /contracts/{id}`: 404 for an account that is no contract. */
export const getContract: Endpoint = ({ view, query, part }) => {
  const num = readEntityNum(part("contract"), "contractid");
  checkQuery(query, { timestamp: isTimestamp });
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
      timestamp: { from: timestampText(contract.at), to: null },
    },
  };
};
