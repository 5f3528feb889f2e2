import type { SubCommandsDef } from "citty";

/** A subcommand: what the list of all says of it, and where it is. */
interface Listed {
  /** As the command itself has it. */
  readonly description: string;
  readonly load: Extract<SubCommandsDef[string], () => unknown>;
}

/**
 * Every `starboard <command>`, one file each, loaded only when it is called: a command needs only
 * the packages and settings that it uses, and the list of all needs none.
 */
export const commands: Readonly<Record<string, Listed>> = {
  dev: {
    description: "Run everything on this machine, with embedded defaults.",
    load: () => import("./dev.ts").then(({ devCommand }) => devCommand),
  },
  serve: {
    description: "Run a web process: public API and voting API.",
    load: () => import("./serve.ts").then(({ serveCommand }) => serveCommand),
  },
  work: {
    description: "Run a worker process: publishing and upkeep.",
    load: () => import("./work.ts").then(({ workCommand }) => workCommand),
  },
  migrate: {
    description: "Apply migrations/; safe to run twice and side by side.",
    load: () => import("../cli/migrate.ts").then(({ migrateCommand }) => migrateCommand),
  },
  doctor: {
    description: "Ask everything that this environment names, and say what is wrong.",
    load: () => import("../cli/doctor.ts").then(({ doctorCommand }) => doctorCommand),
  },
  status: {
    description: "Say whether the service does its work, and what to do where it does not.",
    load: () => import("../cli/status.ts").then(({ statusCommand }) => statusCommand),
  },
  keys: {
    description: "Issue, list and revoke API keys.",
    load: () => import("../cli/keys.ts").then(({ keysCommand }) => keysCommand),
  },
  operators: {
    description: "Who may look and act at the console, and who did.",
    load: () => import("../cli/operators.ts").then(({ operatorsCommand }) => operatorsCommand),
  },
  catalog: {
    description: "Fill the directory and decide what it shows.",
    load: () => import("../cli/catalog.ts").then(({ catalogCommand }) => catalogCommand),
  },
  seasons: {
    description: "Seasons: of the leaderboard and of premium passes.",
    load: () => import("../cli/seasons.ts").then(({ seasonsCommand }) => seasonsCommand),
  },
  premium: {
    description: "Premium passes: 20 votes a day while a season is on.",
    load: () => import("../cli/premium.ts").then(({ premiumCommand }) => premiumCommand),
  },
  sessions: {
    description: "Voting sessions of wallets.",
    load: () => import("../cli/sessions.ts").then(({ sessionsCommand }) => sessionsCommand),
  },
  xp: {
    description: "Points of the leaderboard that stars do not bring.",
    load: () => import("../cli/xp.ts").then(({ xpCommand }) => xpCommand),
  },
  "holdings-check": {
    description: "Take the weight of NFTs that wallets no longer hold from forever mints.",
    load: () =>
      import("../cli/holdings-check.ts").then(({ holdingsCheckCommand }) => holdingsCheckCommand),
  },
  actors: {
    description: "What wallets, events and mints have been decided.",
    load: () => import("../cli/actors.ts").then(({ actorsCommand }) => actorsCommand),
  },
  journal: {
    description: "The journal and its topics, where they do not agree.",
    load: () => import("../cli/journal.ts").then(({ journalCommand }) => journalCommand),
  },
  audit: {
    description: "Prove or refute every published star and ranking from a mirror node alone.",
    load: () => import("../cli/audit.ts").then(({ auditCommand }) => auditCommand),
  },
  rewards: {
    description: "The hand-off of accepted stars to the rewards feature.",
    load: () => import("../cli/rewards.ts").then(({ rewardsCommand }) => rewardsCommand),
  },
  topics: {
    description: "The two public topics that stars are published to.",
    load: () => import("../cli/topics.ts").then(({ topicsCommand }) => topicsCommand),
  },
  publishing: {
    description: "How stars get to the ledger, and what went wrong.",
    load: () => import("../cli/publishing.ts").then(({ publishingCommand }) => publishingCommand),
  },
  demo: {
    description:
      "Sign in with a real signature, cast a star, wait for the ledger, print the receipt.",
    load: () => import("../cli/demo.ts").then(({ demoCommand }) => demoCommand),
  },
};

/**
 * The subcommands for a command line: the one it names is loaded, of the others there is what the
 * list shows.
 *
 * @param words the command line after `starboard`
 */
export function subCommandsFor(words: readonly string[]): SubCommandsDef {
  const named = words.find((word) => !word.startsWith("-"));
  const known = Object.entries(commands).map(
    ([name, { description, load }]): [string, SubCommandsDef[string]] => [
      name,
      name === named ? load : { meta: { name, description } },
    ],
  );
  // Without a prototype: `starboard constructor` is no command either.
  return Object.assign(Object.create(null), Object.fromEntries(known));
}
