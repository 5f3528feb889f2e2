/**
 * Goal: the runbooks work as they stand. Method: the `sh` blocks of each page, in their order, on
 * servers by Postgres' own programs and around a service of its own; page by page in a process.
 * `npm run prove:runbooks -- [page …]`.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { nodeArguments } from "../support/script.ts";
import { requirePrograms } from "./postgres-servers.ts";

const PAGES = ["backup", "point-in-time", "failover", "moving", "upgrade", "keys"];

const { positionals } = parseArgs({ allowPositionals: true });
requirePrograms();
for (const page of positionals.length > 0 ? positionals : PAGES) {
  const startedAt = performance.now();
  const file = new URL(`./runbooks/${page}.ts`, import.meta.url);
  const { status } = spawnSync(process.execPath, [...nodeArguments(file)], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(`docs/operating/${page}.md holds (${seconds} s)\n`);
}
