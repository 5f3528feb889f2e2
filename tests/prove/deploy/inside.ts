/** What `deploy.ts` runs in namespaces of its own: first process, own network, own mounts. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { startLedger } from "../../support/network.ts";
import { until } from "../../support/processes.ts";
import { checkFiles } from "./check-files.ts";
import { makeRoot } from "./clean-root.ts";
import { proveCompose } from "./compose.ts";
import { ENGINE_PACKAGES, type Engine, startEngine } from "./engine.ts";
import { proveSystemd } from "./systemd.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** `slirp4netns` answers names there. */
const NAME_SERVER = "10.0.2.3";
/** The version that comes with Node 22.12.0. */
const NPM = "npm@10.9.0";
/** The stand-ins, by the images that they stand for. */
const STAND_INS = ["postgres", "redis", "prometheus", "grafana"];
const SUITES = ["bookworm", "trixie"];
const PROOFS = { checks: checkFiles, compose: proveCompose, systemd: proveSystemd };

/** What containers say of themselves after a failure. */
const LOOK_BACK = `for id in $(docker ps -aq); do
  docker inspect -f '{{.Name}} {{json .State}}' $id
  docker logs --tail 20 $id 2>&1
done
docker exec server journalctl --no-pager --lines 40 --unit 'starboard-*' 2>&1`;

const [folder = "", roots = "", only = ""] = process.argv.slice(2);
const run = (file: string, ...args: readonly string[]): string =>
  execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const own = join(roots, "engine");
const startedAt = performance.now();
const say = (text: string): void => {
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(`${String(seconds).padStart(5)} s  ${text}\n`);
};

if (only !== "" && !Object.hasOwn(PROOFS, only)) {
  process.stderr.write(`there is no part ${only}; parts are ${Object.keys(PROOFS).join(", ")}\n`);
  process.exit(2);
}
await joinNetwork();
const engine = await prepareEngine();
say("engine, base images and stand-ins are made");
copyTree(join(own, "src"));
const ledger = await startLedger();
for (const [name, prove] of Object.entries(PROOFS)) {
  if (only !== "" && only !== name) continue;
  await prove({ engine, ledger, say }).catch(async (error: Error) => {
    process.stderr.write(`${error.message}\n${await engine.run(LOOK_BACK).catch(String)}\n`);
    process.exit(1);
  });
}
// Everything else ends with the first process of its namespace.
process.exit(0);

/** Waits for the way out, and makes the addresses by which containers reach what listens at 127.0.0.n. */
async function joinNetwork(): Promise<void> {
  run("ip", "link", "set", "lo", "up");
  await until("the network is there", () => run("ip", "-4", "addr").includes("tap0"));
  const names = join(folder, "resolv.conf");
  writeFileSync(names, `nameserver ${NAME_SERVER}\n`);
  run("mount", "--bind", names, "/etc/resolv.conf");
  writeFileSync("/proc/sys/net/ipv4/conf/all/route_localnet", "1");
  for (const n of [1, 2]) {
    run("ip", "addr", "add", `10.99.0.${n}/32`, "dev", "lo");
  }
}

async function prepareEngine(): Promise<Engine> {
  for (const suite of SUITES) {
    const root = join(roots, suite);
    if (existsSync(root)) continue;
    say(`making a clean root: ${suite}`);
    makeRoot(`${root}.part`, suite);
    renameSync(`${root}.part`, root);
  }
  if (!existsSync(own)) {
    const part = `${own}.part`;
    run("cp", "-a", join(roots, "trixie"), part);
    cpSync("/etc/resolv.conf", join(part, "etc/resolv.conf"));
    const install = "DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends";
    run(
      "chroot",
      part,
      "sh",
      "-euc",
      `apt-get -q update && ${install} ${ENGINE_PACKAGES.join(" ")}`,
    );
    renameSync(part, own);
  }
  const started = await startEngine(own, openSync(join(folder, "engine.log"), "w"));
  // What a run that was broken off has left there.
  await started.run("docker ps -aq | xargs -r docker rm -fv && docker volume prune -af");
  for (const n of [1, 2]) {
    const rule = `-d 10.99.0.${n} -j DNAT --to-destination 127.0.0.${n}`;
    await started.run(`iptables -t nat -A PREROUTING ${rule}`);
  }
  for (const suite of SUITES) {
    const isThere = await started.run(`docker images -q debian:${suite}`);
    if (isThere === "") await started.importRoot(join(roots, suite), `debian:${suite}`);
  }
  await makeStandIns(started);
  return started;
}

/** Names of images come from the files of `deploy/`, so that what they pull is there. */
async function makeStandIns(engine: Engine): Promise<void> {
  const text = (path: string): string => readFileSync(join(ROOT, "deploy", path), "utf8");
  const [node = "", version = ""] = /node:([\d.]+)\S*/.exec(text("Dockerfile")) ?? [];
  const context = join(own, "stand-ins");
  rmSync(context, { recursive: true, force: true });
  cpSync(import.meta.dirname, context, { recursive: true });
  for (const [name, pack] of [
    ["node", `node-linux-${process.arch}@${version}`],
    ["npm", NPM],
  ] as const) {
    const file = run("npm", "pack", "--silent", "--pack-destination", context, pack).trim();
    renameSync(join(context, file), join(context, `${name}.tgz`));
  }
  const images = [...text("compose.yaml").matchAll(/image: (\S+:\S+)/g)].map(([, image]) => image);
  const tags: [string, string | undefined][] = [
    ["node", node],
    ["server", "server"],
    ["linters", "linters"],
    ...STAND_INS.map((name): [string, string | undefined] => [
      name,
      images.find((image) => image?.split(":")[0]?.endsWith(name)),
    ]),
  ];
  for (const [target, image] of tags) {
    await engine.run(`docker build -q --target ${target} -t ${image} /stand-ins`);
  }
}

/** The tree as it stands, committed or not, as a repository that can be cloned. */
function copyTree(to: string): void {
  rmSync(to, { recursive: true, force: true });
  const list = ["-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  for (const path of run("git", ...list)
    .split("\0")
    .filter(Boolean)) {
    if (!existsSync(join(ROOT, path))) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(ROOT, path), join(to, path));
  }
  const git = ["-C", to, "-c", "user.name=proof", "-c", "user.email=proof@localhost"];
  run("git", ...git, "init", "-q");
  run("git", ...git, "add", "-A");
  run("git", ...git, "commit", "-qm", "As it stands");
}
