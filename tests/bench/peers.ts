import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../src/local/free-port.ts";
import { startServer, use } from "./candidates.ts";
import { compiled } from "./checkout.ts";
import { launch, launchProgram, WEB_FLAGS } from "./children.ts";
import { type Bench, type Candidate, measure } from "./measure.ts";
import { askForRules, byRestate, byVoting } from "./peers/rules.ts";
import { FIRST_WALLET, type RestateCall, type StarWorkload } from "./workloads.ts";

/**
 * What a user could take instead of this service's own turn. Each has what serves it best on two
 * cores, and is as durable as ours: nothing is answered before it is synced to disk.
 *
 *   DBOS     the plain service, each star's transaction as the one step of a workflow; its tables
 *            in the same database (`peers/dbos.ts`)
 *   Restate  virtual objects (`peers/restate.ts`), called without a web process in between and
 *            without a session, a directory or a message to publish, all of which our turn has
 *
 * Their packages lie beside their compiled code, so the product's own know nothing of them.
 */
const SOURCES = fileURLToPath(new URL("./peers/", import.meta.url));
const INSTALLED = dirname(compiled(new URL("./peers/restate.ts", import.meta.url)));

/** Installs them where they are missing; where that fails, notes why. */
export function installPeers(note: (line: string) => void): boolean {
  const lock = readFileSync(join(SOURCES, "package-lock.json"), "utf8");
  const copy = join(INSTALLED, "package-lock.json");
  const isThere =
    existsSync(join(INSTALLED, "node_modules/.package-lock.json")) &&
    existsSync(copy) &&
    readFileSync(copy, "utf8") === lock;
  if (isThere) return true;
  mkdirSync(INSTALLED, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) {
    copyFileSync(join(SOURCES, name), join(INSTALLED, name));
  }
  const { status, stderr, error } = spawnSync(
    "npm",
    ["ci", "--ignore-scripts", "--loglevel=error"],
    {
      cwd: INSTALLED,
      encoding: "utf8",
    },
  );
  if (status === 0) return true;
  note(`the peers are left out, npm could not install them: ${stderr || error?.message}`);
  return false;
}

export async function underDbos(bench: Bench, template: string, wallets: number): Promise<void> {
  await use(startServer(bench, { kind: "dbos", template, name: "dbos" }), async (candidate) => {
    await askForRules(byVoting(candidate.urls[0] ?? ""), FIRST_WALLET);
    const common = { connections: 64, status: "201", wallets } as const;
    const from = await measure(bench, candidate, {
      ...{ ...common, workload: COLD, from: WALLETS_ASKED },
      name: "dbos cold 64",
    });
    await measure(bench, candidate, { ...common, workload: HOT, from, name: "dbos hot 64" });
  });
}

/** For the rules, before anything is measured. */
const WALLETS_ASKED = 2;
const COLD = { kind: "cold", first: FIRST_WALLET } as const;
const HOT = { kind: "hot", first: FIRST_WALLET, mint: "m1" } as const;

export async function underRestate(bench: Bench): Promise<void> {
  const program = findRestate();
  if (program === undefined) {
    bench.note(`  Restate has no server for ${platform()} on ${arch()}: its rows are left out`);
    return;
  }
  await use(startRestate(bench, program), async (candidate) => {
    await askForRules(byRestate(candidate.urls[0] ?? ""), FIRST_WALLET);
    let from = WALLETS_ASKED;
    const phase = async (name: string, call: RestateCall, stars: StarWorkload) => {
      const workload = { kind: "restate", call, stars } as const;
      const common = { connections: 64, status: "200", wallets: Number.MAX_SAFE_INTEGER };
      from = await measure(bench, candidate, { ...common, workload, from, name });
    };
    await phase("restate same answer 64", "walletDay", COLD);
    await phase("restate bare object 64", "bareDay", COLD);
    await phase("restate hot key 64", "bareItem", HOT);
  });
}

function findRestate(): string | undefined {
  try {
    return createRequire(join(INSTALLED, "package.json")).resolve(
      `@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`,
    );
  } catch {
    return undefined;
  }
}

/** As shipped, but for what makes it faster on two cores without making it less durable. */
const RESTATE = {
  // The log is synced to disk before anything is answered: as shipped, said once more.
  RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_FSYNC: "false",
  // One takes a third less CPU for a star than four; 24 are for clusters.
  RESTATE_DEFAULT_NUM_PARTITIONS: "1",
  // What was done is not kept to be looked at.
  RESTATE_DEFAULT_JOURNAL_RETENTION: "0s",
  RESTATE_DISABLE_TELEMETRY: "true",
  RESTATE_LISTEN_MODE: "tcp",
  RESTATE_LOG_FILTER: "error",
};

/** Settings of Restate in the environment go before these: another choice can be tried. */
function settingsGiven(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = ""]) =>
      name.startsWith("RESTATE_") ? [[name, value]] : [],
    ),
  );
}

async function startRestate(
  { world }: Bench,
  program: string,
): Promise<Candidate & { stop(): Promise<void> }> {
  const folder = mkdtempSync(join(world.folder, "restate-"));
  const [ingress, admin, node, objects] = await Promise.all([0, 0, 0, 0].map(() => freePort()));
  const server = launchProgram(program, ["--no-logo", "--base-dir", folder], {
    ...RESTATE,
    ...settingsGiven(),
    RESTATE_NODE_NAME: "bench",
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
  });
  const service = await launch({
    entry: new URL("./peers/restate.ts", import.meta.url),
    args: [JSON.stringify({ port: objects })],
    settings: { RESTATE_LOGGING: "ERROR" },
    nodeFlags: WEB_FLAGS,
    takesOrders: true,
  });
  await register(`http://127.0.0.1:${admin}`, `http://127.0.0.1:${objects}`, server.complaint);
  return {
    urls: [`http://127.0.0.1:${ingress}`],
    processes: [server, service],
    database: undefined,
    stop: async () => {
      await server.stop();
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starting includes electing a leader of each partition on a busy machine. */
const READY_WITHIN_MS = 60_000;

/** Tells the server where the objects are, as soon as it listens. */
async function register(admin: string, uri: string, complaint: () => string): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const response = await fetch(`${admin}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri }),
    }).catch(() => undefined);
    const reply = await response?.text();
    if (response?.ok) return;
    if (performance.now() > until) throw new Error(`Restate: ${reply ?? complaint()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
