import type {
  AccountVersion,
  LedgerEvent,
  Message,
  NftChange,
  Transaction,
} from "../../../src/local/hedera/state/events.ts";
import { openLedgerFile } from "../../../src/local/hedera/state/ledger-file.ts";

/**
 * The events behind `tests/golden/mirror-golden.json`, worked out from the recorded answers:
 * what had happened when a real mirror node gave them.
 */

const GENESIS = 1_700_000_000_000_000_000n;
const SECOND = 1_000_000_000n;

const KEY_A = "a9788bafc2450b8b2ea67c5ae824b487296c34b03ab4b83f43afeedfe4faad8e";
const KEY_B = "88f5f0fbc2d8bd7b17d963d2f7b94a622aeb98d2efdfeee45d8677f02cb02a94";
const KEY_C = "038b5e07d44c0e67bb0919b5bb55f0eaaf6debd30d0662ae3ab675a03a1e76b878";
const KEY_D = "4e4ac7079a5ad754c5ccdc396ec9cd6441a0faa71089abc31ab418146ee7ba13";
const EVM = "b19fff45cb18519ac5be4fb475fb1bac02d2734b";

function account(num: number, key: string, more: Partial<AccountVersion> = {}): AccountVersion {
  return {
    kind: "account",
    at: GENESIS,
    num,
    deleted: false,
    memo: "",
    key,
    evmAddress: null,
    balance: 12_345n,
    balanceAt: GENESIS,
    autoRenewPeriod: 7_776_000,
    maxAssociations: -1,
    receiverSigRequired: false,
    ...more,
  };
}

const accounts: LedgerEvent[] = [
  account(1001, `1220${KEY_A}`),
  account(1002, `3a21${KEY_C}`, { evmAddress: EVM }),
  account(1003, `2a710802126d0a221220${KEY_A}0a233a21${KEY_C}0a221220${KEY_B}`),
  // A list of one key: recorded as the plain key.
  account(1004, `32240a221220${KEY_B}`),
  account(1005, "3200"),
  account(1006, `32480a221220${KEY_A}0a221220${KEY_D}`),
  account(1009, `1220${KEY_A}`, {
    deleted: true,
    balance: null,
    balanceAt: null,
    autoRenewPeriod: null,
    maxAssociations: null,
    receiverSigRequired: null,
  }),
];

const collections: LedgerEvent[] = [5001, 5002].map((num) => ({
  kind: "collection",
  at: GENESIS,
  num,
  deleted: false,
  memo: "",
  treasury: 1001,
  name: `Collection ${num}`,
  symbol: "C",
}));

function mint(
  token: number,
  serial: number,
  data: string,
  holder: number | null = 1001,
): NftChange {
  const at = GENESIS + BigInt(serial);
  const hops = [{ from: null, to: holder }];
  return { kind: "nft", at, token, serial, holder, hops, metadata: base64(data) };
}

function hop(at: bigint, from: number, to: number): NftChange {
  const metadata = base64("ipfs://x1");
  return { kind: "nft", at, token: 5001, serial: 1, holder: to, hops: [{ from, to }], metadata };
}

const nfts: LedgerEvent[] = [
  ...Array.from({ length: 250 }, (_, index) =>
    mint(5001, index + 1, `ipfs://x${index + 1}`, index < 230 ? 1001 : 1002),
  ),
  hop(GENESIS + SECOND, 1001, 1002),
  hop(GENESIS + 3n * SECOND, 1002, 1001),
  mint(5002, 1, "b1"),
  mint(5002, 2, "b2"),
  mint(5002, 3, "b3", null),
];

function transaction(
  at: bigint,
  validStart: bigint,
  type: string,
  more: Partial<Transaction> = {},
): Transaction {
  return {
    kind: "transaction",
    at,
    payer: 1001,
    validStart,
    type,
    result: "SUCCESS",
    entity: 5001,
    node: 3,
    maxFee: 200_000_000n,
    chargedFee: 123_456,
    memo: "",
    validDuration: 120,
    hash: hash(0),
    ...more,
  };
}

const START = GENESIS - 7n * SECOND;
const DOUBLE = { entity: 7001, memo: base64("m") };
const SUBMIT = "CONSENSUSSUBMITMESSAGE";

const transactions: LedgerEvent[] = [
  transaction(GENESIS + 1n, START + 1n, "TOKENMINT"),
  transaction(GENESIS + SECOND, START + SECOND, "CRYPTOTRANSFER"),
  transaction(GENESIS + 3n * SECOND, START + 3n * SECOND, "CRYPTOTRANSFER"),
  transaction(GENESIS + SECOND + 123n, START + 123n, SUBMIT, { ...DOUBLE, hash: hash(9) }),
  transaction(GENESIS + 2n * SECOND + 123n, START + 123n, SUBMIT, {
    ...DOUBLE,
    node: 4,
    result: "DUPLICATE_TRANSACTION",
    hash: hash(8),
  }),
  transaction(1_795_163_145_197_000_000n, 1_795_163_138_615_860_746n, SUBMIT, {
    entity: 9001,
    chargedFee: 1,
  }),
];

const topic: LedgerEvent = {
  kind: "topic",
  at: GENESIS,
  num: 7001,
  deleted: false,
  memo: "",
  adminKey: null,
  submitKey: null,
  feeScheduleKey: null,
  autoRenewAccount: null,
  autoRenewPeriod: 7_890_000,
  customFees: [],
};

function message(
  at: bigint,
  sequence: number,
  text: string,
  more: Pick<Message, "chunk" | "runningHash">,
): Message {
  const shared = { topic: 7001, payer: 1001 };
  return { kind: "message", at, sequence, message: base64(text), ...shared, ...more };
}

const messages: LedgerEvent[] = [
  ...Array.from({ length: 130 }, (_, index) => {
    const sequence = index + 1;
    const at = GENESIS + BigInt(sequence) * SECOND + 123n;
    const validStart = START + BigInt(index) * SECOND + 123n;
    return message(at, sequence, JSON.stringify({ n: sequence }), {
      runningHash: hash(sequence),
      chunk: { payer: 1001, validStart, number: 1, total: 1 },
    });
  }),
  message(GENESIS + 900n * SECOND, 131, "legacy no chunk", { runningHash: hash(0), chunk: null }),
];

/** Writes them as a ledger's file into an empty folder, in consensus order. */
export async function writeGoldenEvents(folder: string): Promise<void> {
  const all = [accounts, collections, topic, nfts, transactions, messages].flat();
  const file = openLedgerFile(folder, () => undefined);
  const instants = [...new Set(all.map(({ at }) => at))].sort((a, b) => (a < b ? -1 : 1));
  for (const instant of instants) file.append(all.filter(({ at }) => at === instant));
  await file.close();
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** 48 times the same byte. */
function hash(byte: number): string {
  return Buffer.alloc(48, byte).toString("base64");
}
