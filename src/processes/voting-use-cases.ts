import { targetKey } from "../../actors/star.ts";
import type { FollowedClock } from "../clock.ts";
import { bounds } from "../config.ts";
import { createHoldingsReader } from "../holdings/read-holdings.ts";
import type { MintSnapshots } from "../hosting/mint-snapshots.ts";
import type { Snapshots } from "../hosting/snapshots.ts";
import type { VotingDeps } from "../http/voting/routes.ts";
import type { RefusalTrail } from "../journal/refusal-trail.ts";
import { accountNumber } from "../journal/star-record.ts";
import type { MirrorNode } from "../ledger/mirror-node.ts";
import type { Metrics } from "../metrics.ts";
import { findReceipt, lastStarredDay, receiptsOfDay } from "../reads/receipts.ts";
import type { Sql } from "../store/postgres.ts";
import { castStar } from "../voting/cast-star.ts";
import { openSession, startSignIn } from "../voting/open-session.ts";
import { previewStar } from "../voting/preview-star.ts";
import { readAllowance } from "../voting/read-allowance.ts";
import { closeSession } from "../voting/session.ts";
import { composeVoting } from "./compose-voting.ts";
import type { WebSettings } from "./web.ts";

interface UseCaseParts {
  readonly settings: WebSettings;
  readonly sql: Sql;
  readonly writer: Sql;
  readonly clock: FollowedClock;
  readonly mirror: MirrorNode;
  readonly metrics: Metrics;
  readonly wake: () => void;
  readonly publicUrl: string;
  readonly snapshots: Snapshots;
  readonly mintSnapshots: MintSnapshots;
  readonly refusals: RefusalTrail;
}

/** The use cases behind the voting routes, each with what it needs. */
export function votingUseCases(parts: UseCaseParts): VotingDeps & {
  settled: () => Promise<void>;
  forgetActors: () => void;
  countActors: () => number;
} {
  const { settings, sql, clock, mirror, metrics } = parts;
  const holdings = createHoldingsReader({
    mirror,
    collectionA: settings.COLLECTION_A_ID,
    collectionB: settings.COLLECTION_B_ID,
    excludedWallets: settings.EXCLUDED_WALLETS,
    clock,
    deadlineMs: bounds.holdingsDeadlineMs,
  });
  const {
    castStar: casting,
    loadWalletDay,
    findTarget,
    findSession,
    settled,
  } = composeVoting({
    ...parts,
    readHoldings: holdings.read,
    collectionKeys: { a: settings.COLLECTION_A_KEY, b: settings.COLLECTION_B_KEY },
    xpPerStar: settings.XP_PER_STAR,
    onAccepted: (star) => {
      metrics.starsAccepted.inc({ target: star.target.type });
      parts.wake();
    },
    onBatch: (stars) => metrics.commitBatch.observe(stars),
  });
  const site = { publicUrl: parts.publicUrl, network: settings.HEDERA_NETWORK };
  const signIn = { sql, clock, mirror, site };
  const previewing = {
    ...casting,
    findTarget,
    loadWalletDay,
    lastStarredDay: (wallet: string, target: Parameters<typeof lastStarredDay>[2]) =>
      lastStarredDay(sql, accountNumber(wallet), target),
  };
  return {
    clock,
    network: settings.HEDERA_NETWORK,
    startSignIn: (wallet) => startSignIn(signIn, wallet),
    openSession: (signed) => openSession(signIn, signed),
    findSession,
    closeSession: (token) => closeSession(sql, token),
    readAllowance: (wallet) => readAllowance({ clock, loadWalletDay }, wallet),
    previewStar: (wallet, target) => previewStar(previewing, wallet, target),
    async castStar(cast) {
      const result = await castStar(casting, cast);
      if (result.kind === "refused") {
        const { wallet, decision } = result;
        metrics.starsRefused.inc({ code: decision.code });
        const target = targetKey(cast.target.type, cast.target.id);
        parts.refusals.note({ at: clock.now(), wallet, target, code: decision.code });
      }
      return result;
    },
    findReceipt: (id, day) => findReceipt(sql, id, day),
    receiptsOfDay: (wallet, day) => receiptsOfDay(sql, accountNumber(wallet), day),
    settled,
    forgetActors: casting.host.dropAll,
    countActors: casting.host.count,
  };
}
