/**
 * Goal: the steps in `deploy/` make a working service. Method: clean roots of Debian packages; in
 * one of them a Docker engine, which checks the files, builds the images and runs `compose.yaml`
 * with the local ledger, to a release under load; then a server under systemd, to the same.
 * Everything has namespaces of its own and ends with them; this machine's network and processes
 * stay as they are.
 * `npm run prove:deploy -- [--roots F] [--only checks|compose|systemd]`, as root.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../support/folder.ts";
import { nodeArguments } from "../support/script.ts";
import { CGROUP } from "./deploy/engine.ts";

const PROGRAMS = ["debootstrap", "slirp4netns", "ip"];

const { values } = parseArgs({ options: { roots: { type: "string" }, only: { type: "string" } } });
const missing = PROGRAMS.filter((name) => !has(name));
if (process.getuid?.() !== 0 || missing.length > 0) {
  process.stderr.write(`this needs root, and of Debian: debootstrap, slirp4netns, iproute2\n`);
  process.exit(1);
}
const folder = temporaryFolder("prove-deploy");
const roots = resolve(values.roots ?? join(folder, "roots"));
mkdirSync(roots, { recursive: true });
const inside = nodeArguments(new URL("./deploy/inside.ts", import.meta.url));
const namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
const proof = spawn(
  "unshare",
  [...namespaces, process.execPath, ...inside, folder, roots, values.only ?? ""],
  { stdio: ["ignore", "inherit", "inherit"] },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => proof.kill());
const ended = once(proof, "exit");
// The way out for packages, as an ordinary process: nothing of this machine's network changes.
const outward = spawn("slirp4netns", ["--configure", "--mtu=65520", String(proof.pid), "tap0"], {
  stdio: "ignore",
});
const [status] = await ended;
outward.kill();
removeLeftovers();
process.exitCode = status ?? 1;

function has(program: string): boolean {
  try {
    execFileSync("which", [program], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function removeLeftovers(): void {
  rmSync(folder, { recursive: true, force: true });
  const groups = `find /sys/fs/cgroup -depth -type d -path '*/${CGROUP}*' -exec rmdir {} +`;
  execFileSync("sh", ["-c", groups], { stdio: "ignore" });
}
