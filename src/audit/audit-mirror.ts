import { bounds } from "../bounds.ts";
import { findBehind } from "../ledger/mirror/compare-nodes.ts";
import { MirrorClient, type MirrorNode } from "../ledger/mirror/node.ts";
import { type Logger, silentLogger } from "../log.ts";

export type AuditMirror = Pick<
  MirrorNode,
  "account" | "close" | "nftOwners" | "nftTransactions" | "token" | "topic" | "topicMessages"
>;

/** No star waits for an audit, which reads as much as the daily check; public nodes have been out for minutes. */
const PATIENCE = {
  attemptMs: 15_000,
  deadlineMs: 240_000,
  pagesMax: bounds.collectionPagesMax,
} as const;
/** A mistyped URL is reported soon. */
const FIRST_ANSWER_MS = 5_000;

/** What public mirror nodes allow. */
export const REQUESTS_PER_SECOND = 50;

/**
 * Mirror nodes as they are to be preferred: as given, but those last that are a minute behind another
 * one. What they lack would be missing.
 *
 * @param urls base URLs
 */
export async function newestFirst(urls: readonly string[]): Promise<readonly string[]> {
  if (urls.length < 2) return urls;
  const nodes = urls.map((url) => ({
    url,
    ...new MirrorClient({ urls: [url], log: silentLogger }),
  }));
  const behind = await findBehind(nodes, []);
  await Promise.all(nodes.map((node) => node.close()));
  const late = urls.filter((_, place) => behind.includes(place));
  return [...urls.filter((url) => !late.includes(url)), ...late];
}

/**
 * Opens mirror nodes for reads that are tried for minutes, at a rate they allow. One that falls behind
 * meanwhile is asked last from then on.
 *
 * @param urls base URLs of mirror nodes, the preferred one first, at least one
 */
export function openAuditMirror(options: {
  readonly urls: readonly string[];
  readonly log: Logger;
  readonly requestsPerSecond?: number | undefined;
}): MirrorNode {
  const { requestsPerSecond = REQUESTS_PER_SECOND } = options;
  return new MirrorClient({
    ...options,
    requestsPerSecond,
    firstAnswerMs: FIRST_ANSWER_MS,
    usual: PATIENCE,
    isLasting: true,
  });
}
