import type { Sql } from "../../../src/store/postgres.ts";

/**
 * The rows behind `tests/golden/mirror-golden.json`, worked out from the recorded answers:
 * what a real mirror node held when it gave them.
 */

const GENESIS = 1_700_000_000_000_000_000n;
const SECOND = 1_000_000_000n;

const KEY_A = "a9788bafc2450b8b2ea67c5ae824b487296c34b03ab4b83f43afeedfe4faad8e";
const KEY_B = "88f5f0fbc2d8bd7b17d963d2f7b94a622aeb98d2efdfeee45d8677f02cb02a94";
const KEY_C = "038b5e07d44c0e67bb0919b5bb55f0eaaf6debd30d0662ae3ab675a03a1e76b878";
const KEY_D = "4e4ac7079a5ad754c5ccdc396ec9cd6441a0faa71089abc31ab418146ee7ba13";
const EVM = "\\xb19fff45cb18519ac5be4fb475fb1bac02d2734b";

type Row = Readonly<Record<string, unknown>>;

function account(num: number, key: string, more: Row = {}): Row {
  return {
    num,
    valid_from: String(GENESIS),
    created_at: String(GENESIS),
    deleted: false,
    key: `\\x${key}`,
    memo: "",
    balance: 12_345,
    balance_at: String(GENESIS),
    auto_renew_period: 7_776_000,
    max_associations: -1,
    receiver_sig_required: false,
    ...more,
  };
}

const accounts: Row[] = [
  account(1001, `1220${KEY_A}`),
  account(1002, `3a21${KEY_C}`, { alias: EVM, evm_address: EVM }),
  account(1003, `2a710802126d0a221220${KEY_A}0a233a21${KEY_C}0a221220${KEY_B}`),
  // A list of one key: recorded as the plain key.
  account(1004, `32240a221220${KEY_B}`),
  account(1005, "3200"),
  account(1006, `32480a221220${KEY_A}0a221220${KEY_D}`),
  account(1009, `1220${KEY_A}`, {
    deleted: true,
    balance: null,
    balance_at: null,
    auto_renew_period: null,
    max_associations: null,
    receiver_sig_required: null,
  }),
];

const tokens: Row[] = [5001, 5002].map((num) => ({
  num,
  valid_from: String(GENESIS),
  created_at: String(GENESIS),
  deleted: false,
  treasury: 1001,
  name: `Collection ${num}`,
  symbol: "C",
  memo: "",
  max_supply: 0,
}));

function nft(token: number, serial: number, metadata: string, more: Row = {}): Row {
  const created = String(GENESIS + BigInt(serial));
  return {
    token,
    serial,
    valid_from: created,
    created_at: created,
    deleted: false,
    account: 1001,
    metadata: hex(metadata),
    ...more,
  };
}

const nfts: Row[] = [
  ...Array.from({ length: 250 }, (_, index) => {
    const serial = index + 1;
    const back = serial === 1 ? { valid_from: String(GENESIS + 3n * SECOND) } : {};
    return nft(5001, serial, `ipfs://x${serial}`, {
      account: serial <= 230 ? 1001 : 1002,
      ...back,
    });
  }),
  nft(5002, 1, "b1"),
  nft(5002, 2, "b2"),
  nft(5002, 3, "b3", { account: null, deleted: true }),
];

function transaction(at: bigint, start: bigint, type: string, more: Row = {}): Row {
  return {
    consensus_ns: String(at),
    payer: 1001,
    valid_start: String(start),
    nonce: 0,
    scheduled: false,
    type,
    result: "SUCCESS",
    entity: 5001,
    node: 3,
    max_fee: 200_000_000,
    charged_fee: 123_456,
    memo: "\\x",
    valid_duration: 120,
    hash: `\\x${"00".repeat(48)}`,
    ...more,
  };
}

const START = GENESIS - 7n * SECOND;
const DOUBLE = { entity: 7001, memo: hex("m") };
const SUBMIT = "CONSENSUSSUBMITMESSAGE";

const transactions: Row[] = [
  transaction(GENESIS + 1n, START + 1n, "TOKENMINT"),
  transaction(GENESIS + SECOND, START + SECOND, "CRYPTOTRANSFER"),
  transaction(GENESIS + 3n * SECOND, START + 3n * SECOND, "CRYPTOTRANSFER"),
  transaction(GENESIS + SECOND + 123n, START + 123n, SUBMIT, {
    ...DOUBLE,
    hash: `\\x${"09".repeat(48)}`,
  }),
  transaction(GENESIS + 2n * SECOND + 123n, START + 123n, SUBMIT, {
    ...DOUBLE,
    node: 4,
    result: "DUPLICATE_TRANSACTION",
    hash: `\\x${"08".repeat(48)}`,
  }),
  transaction(1_795_163_145_197_000_000n, 1_795_163_138_615_860_746n, SUBMIT, {
    entity: 9001,
    charged_fee: 1,
  }),
];

const hops: Row[] = [
  { consensus_ns: String(GENESIS + 1n), sender: null, receiver: 1001 },
  { consensus_ns: String(GENESIS + SECOND), sender: 1001, receiver: 1002 },
  { consensus_ns: String(GENESIS + 3n * SECOND), sender: 1002, receiver: 1001 },
].map((hop) => ({ token: 5001, serial: 1, ...hop }));

function message(sequence: number, text: string, more: Row): Row {
  return {
    topic: 7001,
    sequence,
    payer: 1001,
    message: hex(text),
    running_hash_version: 3,
    ...more,
  };
}

const messages: Row[] = [
  ...Array.from({ length: 130 }, (_, index) => {
    const sequence = index + 1;
    return message(sequence, JSON.stringify({ n: sequence }), {
      consensus_ns: String(GENESIS + BigInt(sequence) * SECOND + 123n),
      running_hash: `\\x${Buffer.alloc(48, sequence).toString("hex")}`,
      chunk_payer: 1001,
      chunk_valid_start: String(START + BigInt(index) * SECOND + 123n),
      chunk_nonce: 0,
      chunk_scheduled: false,
      chunk_number: 1,
      chunk_total: 1,
    });
  }),
  message(131, "legacy no chunk", {
    consensus_ns: String(GENESIS + 900n * SECOND),
    running_hash: `\\x${"00".repeat(48)}`,
  }),
];

/** Fills an opened, empty ledger schema with them. */
export async function insertGoldenRows(sql: Sql, schema: string): Promise<void> {
  const tables = {
    account: accounts,
    token: tokens,
    nft: nfts,
    transaction: transactions,
    nft_transfer: hops,
    topic_message: messages,
  };
  for (const [name, rows] of Object.entries(tables)) {
    const table = sql(`${schema}.${name}`);
    await sql`insert into ${table}
      select * from jsonb_populate_recordset(null::${table}, ${JSON.stringify(rows)}::text::jsonb)`;
  }
}

function hex(text: string): string {
  return `\\x${Buffer.from(text).toString("hex")}`;
}
