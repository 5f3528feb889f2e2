import type { Settings } from "../../config.ts";
import { MirrorError } from "../../ledger/mirror/error.ts";
import { MirrorClient, type MirrorNode } from "../../ledger/mirror/node.ts";
import { silentLogger } from "../../log.ts";
import { withDeadline } from "../../with-deadline.ts";
import { type Finding, reasonOf, unset, well, wrong } from "../finding.ts";
import { checkClock } from "./check-clock.ts";
import { checkBalance, checkConsensus, checkOperatorKey, checkTopics } from "./check-ledger.ts";
import { checkMirror } from "./check-mirror.ts";
import { checkPostgres } from "./check-postgres.ts";
import { checkRedis } from "./check-redis.ts";

export interface DoctorCheck extends Pick<Finding, "message" | "fix"> {
  readonly name: string;
  readonly ok: boolean;
}

export type Diagnosis = Awaited<ReturnType<typeof examine>>;

/** Every connection and request of a check has a shorter deadline of its own. */
const CHECK_WITHIN_MS = 15_000;
/** Loading the ledger SDK is a part of it: seconds on a machine that is busy. */
const CONSENSUS_WITHIN_MS = 60_000;

/**
 * Asks everything that an environment names, and writes nothing but one key in Redis, which
 * expires within a minute. Does not reject because of what it finds.
 *
 * @param forProcess which process is to start with these settings; both when absent
 */
export async function examine(settings: Settings, forProcess?: "serve" | "work") {
  const { MIRROR_NODE_URL: urls } = settings;
  const mirror = urls && new MirrorClient({ urls, log: silentLogger });
  const asking = checksOf(settings, mirror, forProcess === "serve");
  const names = Object.keys(asking) as (keyof typeof asking)[];
  const found = new Map<string, DoctorCheck>();
  const ask = async (name: (typeof names)[number], withinMs?: number): Promise<unknown> =>
    found.set(name, await conclude(name, asking[name], withinMs));
  try {
    await Promise.all(names.filter((name) => name !== "consensus").map((name) => ask(name)));
    // Last: loading the ledger SDK holds up every answer that comes meanwhile.
    await ask("consensus", CONSENSUS_WITHIN_MS);
    const checks = names.flatMap((name) => found.get(name) ?? []);
    return { ok: checks.every(({ ok }) => ok), checks };
  } finally {
    await mirror?.close();
  }
}

/** What is asked, in this order (contract, section 7). */
function checksOf(settings: Settings, mirror: MirrorNode | undefined, isWeb: boolean) {
  const ofMirror = async (check: (node: MirrorNode) => Promise<Finding>): Promise<Finding> => {
    if (mirror === undefined) return unset("MIRROR_NODE_URL");
    return check(mirror).catch((error: unknown) => {
      if (!(error instanceof MirrorError)) throw error;
      return wrong(`not known: ${reasonOf(error)}`, "cure `mirror` first, then ask again");
    });
  };
  const ofWorker = async (check: () => Promise<Finding>): Promise<Finding> =>
    isWeb ? well("a web process needs none; `work --check` asks") : check();
  return {
    postgres: () => checkPostgres(settings),
    redis: () => checkRedis(settings),
    mirror: () => checkMirror(settings, Date.now()),
    consensus: () => ofWorker(() => checkConsensus(settings)),
    topics: () => ofMirror((node) => checkTopics(settings, node, isWeb)),
    "operator-key": () => ofWorker(() => ofMirror((node) => checkOperatorKey(settings, node))),
    balance: () => ofWorker(() => ofMirror((node) => checkBalance(settings, node))),
    clock: () => checkClock(settings, mirror),
  };
}

async function conclude(
  name: string,
  ask: () => Promise<Finding>,
  withinMs: number = CHECK_WITHIN_MS,
): Promise<DoctorCheck> {
  const { message, fix } = await withDeadline(ask(), withinMs).catch((error: unknown) =>
    wrong(`could not be asked: ${reasonOf(error)}`, "ask again; should it stay so, it is a defect"),
  );
  return { name, ok: fix === null, message, fix };
}
