#!/usr/bin/env node
import { defineCommand } from "citty";
import { runCommandLine } from "../cli/command-line.ts";
import { ownVersion } from "../version.ts";
import { subCommandsFor } from "./commands.ts";

const words = process.argv.slice(2);

/** `npx starboard <command>` */
const starboard = defineCommand({
  meta: {
    name: "starboard",
    description: "Star voting for a Hedera-ecosystem directory, and its public data API.",
  },
  subCommands: subCommandsFor(words),
});

await runCommandLine(starboard, words, ownVersion());
