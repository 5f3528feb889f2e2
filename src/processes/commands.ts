import type { CommandDef, SubCommandsDef } from "citty";

/** What the list of all says of a subcommand, and the file that it is in. */
type Listed = readonly [
  description: string,
  // biome-ignore lint/suspicious/noExplicitAny: each command has arguments of its own.
  load: () => Promise<{ readonly subcommand: CommandDef<any> }>,
];

/**
 * Every `starboard <command>`, one file each, loaded only when it is called: a command needs only
 * the packages and settings that it uses, and the list of all needs none.
 */
export const commands: Readonly<Record<string, Listed>> = {
  dev: ["Run everything on this machine, with embedded defaults.", () => import("./dev.ts")],
  serve: ["Run a web process: public API and voting API.", () => import("./serve.ts")],
  work: ["Run a worker process: publishing and upkeep.", () => import("./work.ts")],
  migrate: [
    "Apply migrations/; safe to run twice and side by side.",
    () => import("../cli/migrate.ts"),
  ],
  doctor: [
    "Ask everything that this environment names, and say what is wrong.",
    () => import("../cli/doctor.ts"),
  ],
  status: [
    "Say whether the service does its work, and what to do where it does not.",
    () => import("../cli/status.ts"),
  ],
  keys: ["Issue, list and revoke API keys.", () => import("../cli/keys.ts")],
  operators: [
    "Who may look and act at the console, and who did.",
    () => import("../cli/operators.ts"),
  ],
  catalog: ["Fill the directory and decide what it shows.", () => import("../cli/catalog.ts")],
  seasons: [
    "Seasons: of the leaderboard and of premium passes.",
    () => import("../cli/seasons.ts"),
  ],
  premium: [
    "Premium passes: 20 votes a day while a season is on.",
    () => import("../cli/premium.ts"),
  ],
  sessions: ["Voting sessions of wallets.", () => import("../cli/sessions.ts")],
  xp: ["Points of the leaderboard that stars do not bring.", () => import("../cli/xp.ts")],
  "holdings-check": [
    "Take the weight of NFTs that wallets no longer hold from forever mints.",
    () => import("../cli/holdings-check.ts"),
  ],
  actors: ["What wallets, events and mints have been decided.", () => import("../cli/actors.ts")],
  journal: [
    "The journal and its topics, where they do not agree.",
    () => import("../cli/journal.ts"),
  ],
  audit: [
    "Prove or refute every published star and ranking from a mirror node alone.",
    () => import("../cli/audit.ts"),
  ],
  rewards: [
    "The hand-off of accepted stars to the rewards feature.",
    () => import("../cli/rewards.ts"),
  ],
  topics: ["The two public topics that stars are published to.", () => import("../cli/topics.ts")],
  publishing: [
    "How stars get to the ledger, and what went wrong.",
    () => import("../cli/publishing.ts"),
  ],
  demo: [
    "Sign in with a real signature, cast a star, wait for the ledger, print the receipt.",
    () => import("../cli/demo.ts"),
  ],
};

/**
 * The subcommands for a command line: the one it names is loaded, of the others there is what the
 * list shows.
 *
 * @param words the command line after `starboard`
 */
export function subCommandsFor(words: readonly string[]): SubCommandsDef {
  const named = words.find((word) => !word.startsWith("-"));
  // Without a prototype: `starboard constructor` is no command either.
  const found: SubCommandsDef = Object.create(null);
  for (const [name, [description, load]] of Object.entries(commands)) {
    const meta = { name, description };
    found[name] = name === named ? async () => ({ ...(await load()).subcommand, meta }) : { meta };
  }
  return found;
}
