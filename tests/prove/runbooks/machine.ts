import * as assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { nodeArguments } from "../../support/script.ts";
import type { PostgresServers } from "../postgres-servers.ts";

const ENTRY = new URL("../../../src/processes/starboard.ts", import.meta.url);
type Settings = Readonly<Record<string, string>>;

/** The `sh` blocks of a page of docs/operating. */
export function blocksOf(page: string): readonly string[] {
  return shellBlocks(`docs/operating/${page}.md`);
}

/** The `sh` blocks of a file of the tree. */
export function shellBlocks(path: string): readonly string[] {
  const file = fileURLToPath(new URL(`../../../${path}`, import.meta.url));
  const found = readFileSync(file, "utf8").matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm);
  return [...found].map(([, indent = "", text = ""]) => text.replaceAll(`\n${indent}`, "\n"));
}

/** A machine as the pages have it: releases below `$OPT`, settings below `$CONFIG`, `systemctl`. */
export interface Machine {
  /** What a block finds in its environment; more may be set. */
  readonly env: Record<string, string>;
  /** Writes a file of settings, `starboard.env` or `operator.env`. */
  configure(file: string, settings: Settings): void;
  /** Adds a release to `$OPT`, whose `bin/starboard` runs this. @param args of `node` */
  addRelease(name: string, args: readonly string[]): void;
  /** Runs a block in bash. @throws AssertionError when its status is not 0. @returns what it printed */
  run(block: string, options?: { readonly asServer?: boolean }): Promise<string>;
  close(): Promise<void>;
}

/** @param onUnit starts, stops or restarts a unit that is none of the service's, say `postgresql` */
export async function openMachine(
  servers: PostgresServers,
  onUnit?: (verb: string, unit: string) => Promise<void>,
): Promise<Machine> {
  const folder = servers.makeFolder("machine");
  const [opt, config, bin] = ["opt", "config", "bin"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [opt, config, bin]) mkdirSync(each);
  const units = new Map<string, ChildProcess>();
  const logs = new Map<string, string>();
  const start = (unit: string): void => {
    const [, role = "", port = ""] = /^starboard-(serve|work)@(\d+)$/.exec(unit) ?? [];
    assert.notEqual(role, "", `unit ${unit}`);
    const files = role === "work" ? ["starboard.env", "operator.env"] : ["starboard.env"];
    const settings = Object.assign({}, ...files.map((file) => readSettings(join(config, file))));
    const own = role === "serve" ? { PORT: port } : { WORKER_PORT: port };
    const { PATH = "" } = process.env;
    const child = spawn(join(opt, "starboard/bin/starboard"), [role], {
      env: { PATH, HOME: folder, ...settings, ...own },
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.on("data", (chunk) => logs.set(unit, (logs.get(unit) ?? "") + chunk));
    units.set(unit, child);
  };
  const stop = async (unit: string, signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    const child = units.get(unit);
    units.delete(unit);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  const act = async (verb: string, unit: string): Promise<void> => {
    if (!unit.startsWith("starboard-")) {
      assert.ok(onUnit, `no unit ${unit}`);
      return onUnit(verb, unit);
    }
    if (verb !== "start") await stop(unit);
    if (verb !== "stop") start(unit);
  };
  const control = createServer((request, response) => {
    const [, verb = "", unit = ""] = (request.url ?? "").split("/");
    act(verb, unit).then(
      () => response.end(),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  control.listen(0, "127.0.0.1");
  await once(control, "listening");
  const { port } = control.address() as AddressInfo;
  const systemctl = `#!/bin/sh
verb=$1
shift
for unit in "$@"; do curl -sS --fail-with-body -X POST "http://127.0.0.1:${port}/$verb/$unit"; done
`;
  writeFileSync(join(bin, "systemctl"), systemctl, { mode: 0o755 });
  const addRelease = (name: string, args: readonly string[]): void => {
    mkdirSync(join(opt, name, "bin"), { recursive: true });
    const node = [process.execPath, ...args].map((each) => `'${each}'`).join(" ");
    const script = `#!/bin/sh\nexec ${node} "$@"\n`;
    writeFileSync(join(opt, name, "bin/starboard"), script, { mode: 0o755 });
  };
  addRelease("starboard-1", nodeArguments(ENTRY));
  symlinkSync(join(opt, "starboard-1"), join(opt, "starboard"));
  const machine: Machine = {
    env: {
      PATH: `${bin}:${opt}/starboard/bin:${servers.programs}:${process.env.PATH ?? ""}`,
      HOME: folder,
      OPT: opt,
      CONFIG: config,
    },
    configure(file, settings) {
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(join(config, file), lines.join(""));
    },
    addRelease,
    async run(block, { asServer = false } = {}) {
      const options = { env: machine.env, cwd: servers.folder, ...(asServer ? servers.user : {}) };
      // A server that a block starts keeps the block's output open: it goes to a file.
      const output = join(folder, "output");
      writeFileSync(output, "");
      chmodSync(output, 0o666);
      const script = `exec > '${output}' 2>&1\n${block}`;
      const shell = spawn("bash", ["-eu", "-o", "pipefail", "-c", script], {
        ...options,
        stdio: "ignore",
      });
      const [status] = await once(shell, "exit");
      const text = readFileSync(output, "utf8");
      const said = [...logs].map(([unit, lines]) => `${unit}: ${lines}`).join("\n");
      assert.equal(status, 0, `${block}\n${text}\n${said}`);
      return text;
    },
    async close() {
      for (const unit of [...units.keys()]) await stop(unit, "SIGKILL");
      control.close();
      control.closeAllConnections();
    },
  };
  return machine;
}

function readSettings(file: string): Settings {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** Waits until a port's `/readyz` says that all is well. */
export async function untilReady(port: number | string): Promise<void> {
  const args = ["-sf", "--retry", "240", "--retry-delay", "1", "--retry-all-errors"];
  await promisify(execFile)("curl", [...args, `http://127.0.0.1:${port}/readyz`]);
}
