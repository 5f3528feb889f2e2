import { MirrorClient, type MirrorNode } from "../ledger/mirror/node.ts";
import type { Logger } from "../log.ts";

export type AuditMirror = Pick<
  MirrorNode,
  "account" | "close" | "nftOwners" | "nftTransactions" | "token" | "topic" | "topicMessages"
>;

/** No star waits for an audit, and public nodes have been out for minutes. */
const PATIENCE = { attemptMs: 15_000, deadlineMs: 240_000 } as const;
/** A mistyped URL is reported soon. */
const FIRST_ANSWER_MS = 5_000;

/** What public mirror nodes allow. */
export const REQUESTS_PER_SECOND = 50;

/**
 * Opens mirror nodes for reads that are tried for minutes, at a rate they allow.
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
  });
}
