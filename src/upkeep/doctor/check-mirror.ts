import { COLLECTION_SETTINGS, type Settings } from "../../config.ts";
import { TREASURY } from "../../ledger/entity-id.ts";
import { MirrorError } from "../../ledger/mirror/error.ts";
import { MirrorClient, type MirrorNode } from "../../ledger/mirror/node.ts";
import { msOf } from "../../ledger/transaction-id.ts";
import { silentLogger } from "../../log.ts";
import { type Finding, reasonOf, unset, well, wrong } from "../finding.ts";
import { MIRROR_BEHIND_MS } from "../judge-reports.ts";

const LIMITS = { deadlineMs: 4_000 } as const;
const NO_TRANSACTION = "1.000000000";

/** A route of the mirror node that the service uses, the id it is asked for, and what asks it. */
type Route = readonly [
  route: string,
  id: string | undefined,
  /** Answers with text where the answer itself is a fault. */
  ask: (id: string) => Promise<unknown>,
];

/** Each mirror node by itself, with every route that the service uses. */
export async function checkMirror(settings: Settings, now: number): Promise<Finding> {
  const { MIRROR_NODE_URL: urls } = settings;
  if (urls === undefined) return unset("MIRROR_NODE_URL");
  // No process starts without these: which NFTs it asks for, and what they are called.
  const missing = COLLECTION_SETTINGS.find((name) => settings[name] === undefined);
  if (missing !== undefined) return unset(missing);
  const faults = await Promise.all(urls.map((url) => faultOf(url, settings, now)));
  const faulty = faults.flatMap((fault, index) =>
    fault === undefined ? [] : [`${originOf(urls[index] ?? "")} ${fault}`],
  );
  if (faulty.length > 0) {
    return wrong(
      faulty.join("; "),
      "see MIRROR_NODE_URL, that this machine reaches it, and each setting that is named; a second URL, after a comma, stands in for one that fails or is behind",
    );
  }
  return well(
    `answers every route that is used${urls.length > 1 ? `, at each of ${urls.length}` : ""}`,
  );
}

async function faultOf(url: string, settings: Settings, now: number): Promise<string | undefined> {
  const mirror = new MirrorClient({ urls: [url], log: silentLogger });
  try {
    const block = await mirror.newestBlock(LIMITS);
    const behindMs = block === null ? 0 : now - msOf(block.to);
    if (behindMs > MIRROR_BEHIND_MS) return `is ${Math.round(behindMs / 60_000)} minutes behind`;
    const failed = await Promise.all(routesOf(mirror, settings).map(failureOf));
    return failed.filter((fault) => fault !== undefined).join(", ") || undefined;
  } catch (error) {
    return `does not answer (${reasonOf(error)})`;
  } finally {
    await mirror.close();
  }
}

/** @returns undefined also where the settings give no id for the route */
async function failureOf([route, id, ask]: Route): Promise<string | undefined> {
  try {
    const found = id === undefined ? undefined : await ask(id);
    return typeof found === "string" ? found : undefined;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    return `fails at ${route} (${error.message.replace(/^mirror node: /, "").slice(0, 120)})`;
  }
}

/** Every route, with the first id of each kind. */
function routesOf(mirror: MirrorNode, settings: Settings): readonly Route[] {
  const { HEDERA_OPERATOR_ID: payer, EVENT_VOTES_TOPIC_ID: topic } = settings;
  // A web process has no payer, and reads accounts more than any other.
  const account = payer ?? TREASURY;
  const { COLLECTION_A_ID: a, COLLECTION_B_ID: b } = settings;
  const tokens = [a, b].filter((id) => id !== undefined);
  return [
    ["/accounts/{id}", account, (id) => mirror.account(id, LIMITS)],
    ["/contracts/{id}", account, (id) => mirror.isContract(id, LIMITS)],
    ["/accounts/{id}/nfts", account, (id) => mirror.nftsOf(id, tokens, LIMITS)],
    ["/transactions/{id}", payer, (id) => mirror.transactions(`${id}@${NO_TRANSACTION}`, LIMITS)],
    ["/transactions", payer, (id) => firstOf(mirror.messageMemos(id, SPAN, LIMITS))],
    ["/topics/{id}/messages", topic, (id) => mirror.topicMessages(id, { limit: 1 }, LIMITS)],
    ["/tokens/{id}/nfts", a, (id) => askNfts(mirror, id)],
    ["/tokens/{id}", a, (id) => collectionFault(mirror, id, "COLLECTION_A_ID")],
    ["/tokens/{id}", b, (id) => collectionFault(mirror, id, "COLLECTION_B_ID")],
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

async function collectionFault(
  mirror: MirrorNode,
  id: string,
  setting: string,
): Promise<string | undefined> {
  const token = await mirror.token(id, LIMITS);
  if (token === null) return `knows no token ${id} (${setting})`;
  if (token.type === "NON_FUNGIBLE_UNIQUE") return undefined;
  return `says that ${id} (${setting}) is no NFT collection`;
}

/** A path may hold an access key. */
function originOf(url: string): string {
  return new URL(url).host;
}
