import type { Settings } from "../../config.ts";
import { MirrorError } from "../../ledger/mirror/error.ts";
import { createMirrorNode, type MirrorNode } from "../../ledger/mirror/node.ts";
import { parseTimestamp } from "../../ledger/transaction-id.ts";
import { silentLogger } from "../../log.ts";
import { MIRROR_BEHIND_MS } from "../judge-reports.ts";
import { type Finding, reasonOf, unset, well, wrong } from "./finding.ts";

const LIMITS = { deadlineMs: 4_000 } as const;
/** An id that no transaction has. */
const NO_TRANSACTION = "1.000000000";
const NS_PER_MS = 1_000_000n;

/** A route of the mirror node that the service uses, and what asks it. */
interface Route {
  readonly route: string;
  readonly ask: () => Promise<unknown>;
}

/** Each mirror node by itself, with every route that the service uses. */
export async function checkMirror(settings: Settings, now: number): Promise<Finding> {
  const { MIRROR_NODE_URL: urls } = settings;
  if (urls === undefined) return unset("MIRROR_NODE_URL");
  const faults = await Promise.all(urls.map((url) => faultOf(url, settings, now)));
  const faulty = faults.flatMap((fault, index) =>
    fault === undefined ? [] : [`${originOf(urls[index] ?? "")} ${fault}`],
  );
  if (faulty.length > 0) {
    return wrong(
      faulty.join("; "),
      "see MIRROR_NODE_URL, and that this machine reaches it; a second one, after a comma, stands in for one that fails or is behind",
    );
  }
  return well(
    `answers every route that is used${urls.length > 1 ? `, at each of ${urls.length}` : ""}`,
  );
}

async function faultOf(url: string, settings: Settings, now: number): Promise<string | undefined> {
  const mirror = createMirrorNode({ urls: [url], log: silentLogger });
  try {
    const block = await mirror.newestBlock(LIMITS);
    const behindMs = block === null ? 0 : now - Number(parseTimestamp(block.to) / NS_PER_MS);
    if (behindMs > MIRROR_BEHIND_MS) return `is ${Math.round(behindMs / 60_000)} minutes behind`;
    const failed = await Promise.all([
      ...routesOf(mirror, settings).map(failureOf),
      ...collectionsOf(settings).map((each) => collectionFault(mirror, each)),
    ]);
    return failed.filter((fault) => fault !== undefined).join(", ") || undefined;
  } catch (error) {
    return `does not answer (${reasonOf(error)})`;
  } finally {
    await mirror.close();
  }
}

async function failureOf({ route, ask }: Route): Promise<string | undefined> {
  try {
    await ask();
    return undefined;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    return `fails at ${route} (${error.message.replace(/^mirror node: /, "").slice(0, 120)})`;
  }
}

/** Routes that the settings give an id for; the first of each kind will do. */
function routesOf(mirror: MirrorNode, settings: Settings): readonly Route[] {
  const {
    HEDERA_OPERATOR_ID: payer,
    EVENT_VOTES_TOPIC_ID: topic,
    COLLECTION_A_ID: token,
  } = settings;
  const collections = collectionsOf(settings).map(({ id }) => id);
  const ofPayer = (id: string): readonly Route[] => [
    { route: "/accounts/{id}", ask: () => mirror.account(id, LIMITS) },
    { route: "/contracts/{id}", ask: () => mirror.isContract(id, LIMITS) },
    { route: "/accounts/{id}/nfts", ask: () => mirror.nftsOf(id, collections, LIMITS) },
    {
      route: "/transactions/{id}",
      ask: () => mirror.transactions(`${id}@${NO_TRANSACTION}`, LIMITS),
    },
    { route: "/transactions", ask: () => firstOf(mirror.messageMemos(id, SPAN, LIMITS)) },
  ];
  const ofTopic = (id: string): readonly Route[] => [
    { route: "/topics/{id}/messages", ask: () => mirror.topicMessages(id, { limit: 1 }, LIMITS) },
  ];
  const ofToken = (id: string): readonly Route[] => [
    { route: "/tokens/{id}/nfts", ask: () => askNfts(mirror, id) },
  ];
  return [
    ...(payer === undefined ? [] : ofPayer(payer)),
    ...(topic === undefined ? [] : ofTopic(topic)),
    ...(token === undefined ? [] : ofToken(token)),
  ];
}

/** One nanosecond in which nothing happened. */
const SPAN = { from: NO_TRANSACTION, to: NO_TRANSACTION } as const;

async function askNfts(mirror: MirrorNode, token: string): Promise<void> {
  const [nft] = (await firstOf(mirror.nftOwners(token, LIMITS))) ?? [];
  if (nft === undefined) return;
  await mirror.nft(token, nft.serial, LIMITS);
  await mirror.nftTransactions(token, nft.serial, LIMITS);
}

async function firstOf<T>(pages: AsyncIterable<T>): Promise<T | undefined> {
  for await (const page of pages) return page;
  return undefined;
}

interface Collection {
  readonly setting: string;
  readonly id: string;
}

function collectionsOf({
  COLLECTION_A_ID: a,
  COLLECTION_B_ID: b,
}: Settings): readonly Collection[] {
  return [
    ...(a === undefined ? [] : [{ setting: "COLLECTION_A_ID", id: a }]),
    ...(b === undefined ? [] : [{ setting: "COLLECTION_B_ID", id: b }]),
  ];
}

async function collectionFault(
  mirror: MirrorNode,
  { setting, id }: Collection,
): Promise<string | undefined> {
  let kind: string | undefined;
  const failure = await failureOf({
    route: "/tokens/{id}",
    async ask() {
      kind = (await mirror.token(id, LIMITS))?.type;
    },
  });
  if (failure !== undefined) return failure;
  if (kind === undefined) return `knows no token ${id} (${setting})`;
  return kind === "NON_FUNGIBLE_UNIQUE"
    ? undefined
    : `says that ${id} (${setting}) is no NFT collection`;
}

/** A path may hold an access key. */
function originOf(url: string): string {
  return new URL(url).host;
}
