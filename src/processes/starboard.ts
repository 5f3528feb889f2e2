#!/usr/bin/env node
import { defineCommand, runMain, showUsage } from "citty";

/**
 * `npx starboard <command>`: one subcommand per file, loaded only when it is called, so that
 * a command needs only the packages and settings that it uses.
 */
const starboard = defineCommand({
  meta: {
    name: "starboard",
    description: "Star voting for a Hedera-ecosystem directory, and its public data API.",
  },
  subCommands: {
    dev: () => import("./dev.ts").then(({ devCommand }) => devCommand),
    serve: () => import("./serve.ts").then(({ serveCommand }) => serveCommand),
    work: () => import("./work.ts").then(({ workCommand }) => workCommand),
    migrate: () => import("../cli/migrate.ts").then(({ migrateCommand }) => migrateCommand),
    keys: () => import("../cli/keys.ts").then(({ keysCommand }) => keysCommand),
    catalog: () => import("../cli/catalog.ts").then(({ catalogCommand }) => catalogCommand),
    seasons: () => import("../cli/seasons.ts").then(({ seasonsCommand }) => seasonsCommand),
    premium: () => import("../cli/premium.ts").then(({ premiumCommand }) => premiumCommand),
    xp: () => import("../cli/xp.ts").then(({ xpCommand }) => xpCommand),
    "holdings-check": () =>
      import("../cli/holdings-check.ts").then(({ holdingsCheckCommand }) => holdingsCheckCommand),
    actors: () => import("../cli/actors.ts").then(({ actorsCommand }) => actorsCommand),
    audit: () => import("../cli/audit.ts").then(({ auditCommand }) => auditCommand),
    rewards: () => import("../cli/rewards.ts").then(({ rewardsCommand }) => rewardsCommand),
    topics: () => import("../cli/topics.ts").then(({ topicsCommand }) => topicsCommand),
    publishing: () =>
      import("../cli/publishing.ts").then(({ publishingCommand }) => publishingCommand),
    demo: () => import("../cli/demo.ts").then(({ demoCommand }) => demoCommand),
  },
});

await runMain(starboard, {
  // A refusal is one line on standard error; how to call a command is told when asked.
  showUsage: async (command, parent) => {
    if (process.argv.some((word) => word === "--help" || word === "-h")) {
      await showUsage(command, parent);
    }
  },
});
