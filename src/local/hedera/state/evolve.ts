import { firstIndex } from "../sorted.ts";
import type { Nanos } from "../timestamps.ts";
import type { LedgerEvent, NftChange } from "./events.ts";
import { type Standing, type State, transactionKey } from "./state.ts";

/** The first number an entity of the public network's users gets. */
const FIRST_ENTITY = 1001;
/** Half a day of an idle ledger: `/blocks` lists no older ones, whose events are kept all the same. */
const BLOCKS_KEPT = 5_000;

export function emptyState(): State {
  return {
    events: [],
    lastConsensus: 0n,
    nextEntity: FIRST_ENTITY,
    accounts: new Map(),
    evmAddresses: new Map(),
    collections: new Map(),
    held: new Map(),
    topics: new Map(),
    transactions: [],
    transactionsByPayer: new Map(),
    transactionsById: new Map(),
    blocks: [],
    unblocked: 0,
  };
}

/** The one place where an event changes the state, live as well as at a replay. */
export function evolve(state: State, event: LedgerEvent): void {
  state.events.push(event);
  state.lastConsensus = event.at;
  switch (event.kind) {
    case "account":
      state.accounts.set(event.num, standing(event, state.accounts.get(event.num)));
      if (event.evmAddress !== null) state.evmAddresses.set(event.evmAddress, event.num);
      break;
    case "collection": {
      const { token, nfts = [] } = state.collections.get(event.num) ?? {};
      state.collections.set(event.num, { token: standing(event, token), nfts });
      break;
    }
    case "nft":
      changeNft(state, event);
      break;
    case "topic": {
      const { topic, messages = [] } = state.topics.get(event.num) ?? {};
      state.topics.set(event.num, { topic: standing(event, topic), messages });
      break;
    }
    case "message":
      state.topics.get(event.topic)?.messages.push(event);
      break;
    case "transaction":
      state.transactions.push(event);
      listAt(state.transactionsByPayer, event.payer).push(event);
      listAt(state.transactionsById, transactionKey(event.payer, event.validStart)).push(event);
      state.unblocked += 1;
      break;
    case "block": {
      const { number, to } = state.blocks.at(-1) ?? { number: -1, to: 0n };
      const transactions = state.unblocked;
      state.blocks.push({ number: number + 1, from: to + 1n, to: event.at, transactions });
      if (state.blocks.length > BLOCKS_KEPT) state.blocks.shift();
      state.unblocked = 0;
      break;
    }
  }
  if ("num" in event) state.nextEntity = Math.max(state.nextEntity, event.num + 1);
}

/** @param before what stood until now; undefined for the first version */
function standing<Version extends { readonly at: Nanos }>(
  version: Version,
  before: Standing<Version> | undefined,
): Standing<Version> {
  return { ...version, created: before?.created ?? version.at };
}

function changeNft(state: State, event: NftChange): void {
  const nfts = state.collections.get(event.token)?.nfts;
  const history = nfts?.[event.serial - 1];
  if (history === undefined) nfts?.push([event]);
  else history.push(event);
  if (event.holder === null) return;
  const ofAccount = entryAt(state.held, event.holder, () => new Map<number, number[]>());
  const serials = listAt(ofAccount, event.token);
  const index = firstIndex(serials, (serial) => serial >= event.serial);
  if (serials[index] !== event.serial) serials.splice(index, 0, event.serial);
}

function listAt<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  return entryAt(lists, key, () => []);
}

function entryAt<Key, Value>(entries: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = entries.get(key) ?? make();
  entries.set(key, found);
  return found;
}
