#!/usr/bin/env node
import { defineCommand } from "citty";
import { runCommandLine } from "../cli/command-line.ts";
import { ownVersion } from "../this-build.ts";
import { subCommandsFor } from "./commands.ts";
import { heedSignals } from "./stop-signals.ts";

const PROCESSES: ReadonlySet<string> = new Set(["serve", "work", "dev"]);
const words = process.argv.slice(2);

const starboard = defineCommand({
  meta: {
    name: "starboard",
    description: "Star voting for a Hedera-ecosystem directory, and its public data API.",
  },
  subCommands: subCommandsFor(words),
});

// A check is no process to drain: a signal ends it as it ends any command.
if (PROCESSES.has(words[0] ?? "") && !words.includes("--check")) heedSignals();
await runCommandLine(starboard, words, ownVersion());
