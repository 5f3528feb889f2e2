import { type Target, targetKey } from "../../actors/content.ts";
import { ownOrigins, ownUrl } from "../addresses.ts";
import { bounds } from "../bounds.ts";
import type { SigningWallet } from "../cli/demo-wallet.ts";
import { createHoldingsReader, type HoldingsReader } from "../holdings/read-holdings.ts";
import { createMintSnapshots } from "../hosting/mint-snapshots.ts";
import { createSnapshots, type Snapshots } from "../hosting/snapshots.ts";
import { openQueueBoard } from "../http/console/queue-board.ts";
import {
  type ClientAddress,
  clientAddress,
  socketAddress,
} from "../http/middleware/client-address.ts";
import { loadAssets } from "../http/pages/assets.ts";
import { serveHttp } from "../http/serve.ts";
import { clientConfigOf } from "../http/voting/client-config.ts";
import { itemReader } from "../http/voting/items.ts";
import { liveRoutes } from "../http/voting/live.ts";
import type { VotingDeps } from "../http/voting/routes.ts";
import { sessionTokens } from "../http/voting/session-token.ts";
import { createRefusalTrail, type RefusalTrail } from "../journal/refusal-trail.ts";
import { lastUsed } from "../keys/last-used.ts";
import { revokeSessions } from "../keys/revoke-sessions.ts";
import { keyVerifier } from "../keys/verify-key.ts";
import { entityNumber, TREASURY } from "../ledger/entity-id.ts";
import type { Logger } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { counterChanges } from "../reads/counter-changes.ts";
import { findReceipt, lastStarredDay, receiptsOfDay } from "../reads/receipts.ts";
import type { Service } from "../service.ts";
import { followCommitWatermark } from "../store/commit-watermark.ts";
import { ownVersion } from "../this-build.ts";
import { checkByHand } from "../upkeep/holdings-check/by-hand.ts";
import { startProcessReport } from "../upkeep/report-process.ts";
import { createTroubles, type Troubles, watchRoom } from "../upkeep/troubles.ts";
import { castStar } from "../voting/cast-star.ts";
import { createEngine } from "../voting/engine.ts";
import { LiveCounters } from "../voting/live-counters.ts";
import { openSession, startSignIn } from "../voting/open-session.ts";
import { previewStar } from "../voting/preview-star.ts";
import { readAllowance } from "../voting/read-allowance.ts";
import { closeSession } from "../voting/session.ts";
import { createSignInAccounts } from "../voting/sign-in-account.ts";
import { refreshMetrics } from "./refresh-metrics.ts";
import { connectWeb, type WebConnections, type WebSettings } from "./web-connections.ts";
import { webRoutes } from "./web-routes.ts";

export interface WebParts {
  readonly log: Logger;
  /** Wakes a publisher somewhere; never waits, never throws. */
  readonly wake: () => void;
  /** Of the process, where it has more parts than this; else the web process' own. */
  readonly metrics?: Metrics;
  /** The demo wallets of this machine's own ledger, for which it signs; none when absent. */
  readonly demoWallets?: readonly SigningWallet[] | undefined;
  /** The Redis of BullMQ, for operators to look at; absent where none is fit for it. */
  readonly queueUrl: string | undefined;
}

/**
 * Starts a web process: the public API and the voting API on one port. It never loads the
 * ledger SDK and never sees the operator's key.
 *
 * @throws Error when Postgres is out of reach: a process that does not know the time dates no star
 */
export async function startWeb(
  settings: WebSettings,
  parts: WebParts,
): Promise<Service & { readonly url: string }> {
  const { log, queueUrl, metrics = createMetrics({ process: true }) } = parts;
  // A server that took over may lack the last commits, and stars that came back stand before others.
  const outside = await connectWeb(settings, { log, metrics }, () => engine.casting.host.dropAll());
  const { sql, reader, redis, clock } = outside;
  const given = {
    ...parts,
    ...outside,
    publicUrl: ownUrl(settings),
    troubles: createTroubles(clock),
  };
  const snapshots = createSnapshots(redis);
  const refusals = createRefusalTrail(redis);
  const holdings = openHoldings(given);
  const engine = openEngine({ ...given, snapshots, holdings });
  const used = lastUsed(sql, clock, (error) => log.warn({ err: error }, "last use not noted"));
  const client = clientAddress(settings.TRUSTED_PROXIES);
  const live = openLive(given, client);
  const collections = { A: settings.COLLECTION_A_ID, B: settings.COLLECTION_B_ID };
  const checks = checkByHand({ ...given, sql: outside.checkSql, collections });
  const board = queueUrl === undefined ? undefined : openQueueBoard(queueUrl, () => redis.isReady);
  let isDraining = false;
  const { app, fastPath } = webRoutes({
    ...given,
    client,
    verifyKey: keyVerifier(sql, used.note, clock),
    voting: votingOperations({ ...given, refusals, engine, holdings }),
    live: live.app,
    resting: { host: engine.casting.host, snapshots, mintSnapshots: createMintSnapshots(redis) },
    refusals,
    checks,
    board,
    assets: settings.PAGES === "on" ? await loadAssets() : undefined,
    readHoldings: holdings.read,
    isDraining: () => isDraining,
    refreshMetrics: () => refreshMetrics(reader, metrics, board),
    processes: () => report.webProcesses(),
  });
  const report = startProcessReport({
    ...given,
    role: "web",
    version: ownVersion(),
    sql: reader,
    countActors: engine.casting.host.count,
    // Without NFTs no star is taken, even where the node answers all else.
    askMirror: (limits) => given.mirror.nftsOf(TREASURY, [collections.A], limits),
  });
  const { HOST: host, PORT: port } = settings;
  const sockets = socketAddress(settings.TRUSTED_PROXIES);
  const server = await serveHttp(app, { host, port, fastPath, socketAddress: sockets });
  return {
    url: server.url,
    async close() {
      isDraining = true;
      live.close();
      await server.acceptWaiting();
      await server.close(bounds.drainMs);
      await engine.settled();
      await snapshots.settled();
      await used.close();
      await report.close();
      await Promise.all([checks.close(), board?.close()]);
      await outside.close();
    },
  };
}

interface Given extends WebConnections {
  readonly wake: () => void;
  readonly publicUrl: string;
  readonly troubles: Troubles;
  readonly demoWallets?: readonly SigningWallet[] | undefined;
}

function openHoldings({ settings, mirror, clock }: Given): HoldingsReader {
  return createHoldingsReader({
    mirror,
    collectionA: settings.COLLECTION_A_ID,
    collectionB: settings.COLLECTION_B_ID,
    excludedWallets: settings.EXCLUDED_WALLETS,
    clock,
    deadlineMs: bounds.holdingsDeadlineMs,
  });
}

/** `GET /voting/live` */
function openLive({ reader, clock, log, metrics }: Given, client: ClientAddress) {
  const counters = new LiveCounters({
    lookAtJournal: followCommitWatermark(reader),
    loadChanges: (after, upTo) => counterChanges(reader, after, upTo),
    now: clock.now,
    log,
  });
  return liveRoutes({ counters, client, metrics });
}

/** The voting engine; metrics and publishers are called for what it does. */
function openEngine(
  given: Given & {
    readonly snapshots: Snapshots;
    readonly holdings: HoldingsReader;
  },
) {
  const { settings, holdings, metrics, wake, troubles, log, journal } = given;
  return createEngine({
    ...given,
    readHoldings: holdings.read,
    hasTaken: holdings.hasTaken,
    collectionKeys: { a: settings.COLLECTION_A_KEY, b: settings.COLLECTION_B_KEY },
    xpPerStar: settings.XP_PER_STAR,
    onAccepted: (star) => {
      metrics.starsAccepted.inc({ target: star.target.type });
      troubles.note("databaseFullSince", false);
      wake();
    },
    onBatch: (stars) => metrics.commitBatch.observe(stars),
    onOpen: (source) => metrics.actorsOpened.inc({ source }),
    onContradiction(error) {
      metrics.contradictions.inc();
      log.error({ err: error }, "machine and journal contradict each other");
      journal.contradicted(error);
    },
  });
}

/** What the voting routes ask for, each with what it needs. */
function votingOperations(
  given: Given & {
    readonly holdings: HoldingsReader;
    readonly refusals: RefusalTrail;
    readonly engine: ReturnType<typeof createEngine>;
  },
): VotingDeps {
  const { settings, sql, clock, mirror, journal, metrics, publicUrl, refusals, troubles } = given;
  const { casting, loadWalletDay, findTarget, findSession } = given.engine;
  const network = settings.HEDERA_NETWORK;
  const own = ownOrigins(publicUrl, settings);
  const site = { publicUrl, origins: [...own, ...settings.VOTING_ORIGINS], network };
  const signIn = {
    sql,
    clock,
    readAccount: createSignInAccounts(mirror, given.holdings.isReading),
    site,
  };
  const previewing = {
    ...casting,
    findTarget,
    loadWalletDay,
    lastStarredDay: (wallet: string, target: Target) =>
      lastStarredDay(sql, entityNumber(wallet), target),
  };
  const admitting = { ...casting, admitStar: () => journal.admitStar() };
  return {
    clock,
    network,
    tokens: sessionTokens(publicUrl, own),
    config: clientConfigOf({ ...given, demoWallets: given.demoWallets !== undefined }),
    readItems: itemReader({ sql, clock }),
    startSignIn: (asked) => startSignIn(signIn, asked),
    openSession: (signed) => openSession(signIn, signed),
    findSession,
    closeSession: (token) => closeSession(sql, token),
    revokeSessions: (wallet) => revokeSessions(sql, wallet),
    readAllowance: (wallet) => readAllowance({ clock, loadWalletDay }, wallet),
    previewStar: (wallet, target) => previewStar(previewing, wallet, target),
    async castStar(cast) {
      const result = await watchRoom(troubles, castStar(admitting, cast));
      if (result.kind === "refused") {
        const { wallet, decision } = result;
        metrics.starsRefused.inc({ code: decision.code });
        const target = targetKey(cast.target.type, cast.target.id);
        refusals.note({ at: clock.now(), wallet, target, code: decision.code });
      }
      return result;
    },
    findReceipt: (id, day) => findReceipt(sql, id, day),
    receiptsOfDay: (wallet, day) => receiptsOfDay(sql, entityNumber(wallet), day),
  };
}
