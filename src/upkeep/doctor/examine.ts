import type { Settings } from "../../config.ts";
import { createMirrorNode } from "../../ledger/mirror/node.ts";
import { silentLogger } from "../../log.ts";
import { withDeadline } from "../../with-deadline.ts";
import { checkClock } from "./check-clock.ts";
import { checkBalance, checkConsensus, checkOperatorKey, checkTopics } from "./check-ledger.ts";
import { checkMirror } from "./check-mirror.ts";
import { checkPostgres } from "./check-postgres.ts";
import { checkRedis } from "./check-redis.ts";
import { type Finding, reasonOf, unset, well, wrong } from "./finding.ts";

/** What is asked, in this order (contract, section 7). */
const CHECKS = [
  "postgres",
  "redis",
  "mirror",
  "consensus",
  "topics",
  "operator-key",
  "balance",
  "clock",
] as const;
type CheckName = (typeof CHECKS)[number];

/** One thing that an environment names. */
export interface DoctorCheck extends Finding {
  readonly name: CheckName;
  readonly ok: boolean;
}

/** What `starboard doctor` says. */
export interface Diagnosis {
  /** True where every check is. */
  readonly ok: boolean;
  readonly checks: readonly DoctorCheck[];
}

/** Every connection and request of a check has a shorter deadline of its own. */
const CHECK_WITHIN_MS = 15_000;
/** Loading the ledger SDK is a part of it: seconds on a machine that is busy. */
const CONSENSUS_WITHIN_MS = 60_000;
const NOT_FOR_WEB = well("a web process needs none; `work --check` asks");

/**
 * Asks everything that an environment names, and writes nothing but one key in Redis, which
 * expires within a minute. Does not reject because of what it finds.
 *
 * @param forProcess which process is to start with these settings; both when absent
 */
export async function examine(
  settings: Settings,
  forProcess?: "serve" | "work",
): Promise<Diagnosis> {
  const { MIRROR_NODE_URL: urls } = settings;
  const mirror = urls && createMirrorNode({ urls, log: silentLogger });
  const isWeb = forProcess === "serve";
  const ofMirror = async (check: (node: NonNullable<typeof mirror>) => Promise<Finding>) =>
    mirror === undefined ? unset("MIRROR_NODE_URL") : check(mirror);
  const asking: Readonly<Record<CheckName, () => Promise<Finding>>> = {
    postgres: () => checkPostgres(settings),
    redis: () => checkRedis(settings),
    mirror: () => checkMirror(settings, Date.now()),
    consensus: async () => (isWeb ? NOT_FOR_WEB : checkConsensus(settings)),
    topics: () => ofMirror((node) => checkTopics(settings, node, isWeb)),
    "operator-key": async () =>
      isWeb ? NOT_FOR_WEB : ofMirror((node) => checkOperatorKey(settings, node)),
    balance: async () => (isWeb ? NOT_FOR_WEB : ofMirror((node) => checkBalance(settings, node))),
    clock: () => checkClock(settings, mirror),
  };
  try {
    const others = CHECKS.filter((name) => name !== "consensus");
    const found = await Promise.all(others.map((name) => conclude(name, asking[name])));
    // Last: loading the ledger SDK holds up every answer that comes meanwhile.
    const consensus = await conclude("consensus", asking.consensus, CONSENSUS_WITHIN_MS);
    const checks = CHECKS.flatMap((name) =>
      [...found, consensus].filter((check) => check.name === name),
    );
    return { ok: checks.every(({ ok }) => ok), checks };
  } finally {
    await mirror?.close();
  }
}

async function conclude(
  name: CheckName,
  ask: () => Promise<Finding>,
  withinMs: number = CHECK_WITHIN_MS,
): Promise<DoctorCheck> {
  const { message, fix } = await withDeadline(ask(), withinMs).catch((error: unknown) =>
    wrong(`could not be asked: ${reasonOf(error)}`, "ask again; should it stay so, it is a defect"),
  );
  return { name, ok: fix === null, message, fix };
}
