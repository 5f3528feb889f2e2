#!/usr/bin/env node
import { defineCommand, runMain, showUsage } from "citty";
import { subCommandsFor } from "./commands.ts";

/** `npx starboard <command>` */
const starboard = defineCommand({
  meta: {
    name: "starboard",
    description: "Star voting for a Hedera-ecosystem directory, and its public data API.",
  },
  subCommands: subCommandsFor(process.argv.slice(2)),
});

await runMain(starboard, {
  // A refusal is one line on standard error; how to call a command is told when asked.
  showUsage: async (command, parent) => {
    if (process.argv.some((word) => word === "--help" || word === "-h")) {
      await showUsage(command, parent);
    }
  },
});
