import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { openPostgres } from "../../../src/store/postgres.ts";
import { seedDirectory } from "../../support/engine.ts";
import { until } from "../../support/processes.ts";
import { blocksOf, shellBlocks } from "../runbooks/machine.ts";
import { votingLoad } from "../voting-load.ts";
import { filledIn, type Place, topicsIn, withoutEmpty } from "./place.ts";

const WEBS = [3000, 3001];
const WORKERS = [3101, 3102];
const UNITS = [
  ...WEBS.map((port) => `starboard-serve@${port}`),
  ...WORKERS.map((port) => `starboard-work@${port}`),
];
const URLS = WEBS.map((port) => `http://127.0.0.1:${port}`);
/** It shares our network, and is a machine for systemd otherwise. */
const SERVER = [
  "docker run -d --name server --privileged --network host --cgroupns private",
  "--tmpfs /run --tmpfs /run/lock --tmpfs /tmp:exec -v /src:/src:ro server",
].join(" ");

/** A server under systemd from nothing, by the blocks of README.md, to a release under load. */
export async function proveSystemd({ engine, ledger, say }: Place): Promise<void> {
  const [install = "", configure = "", start = "", ...more] =
    shellBlocks("deploy/README.md").slice(5);
  assert.deepEqual(more, []);
  await engine.run(SERVER);
  const run = (script: string, input?: string): Promise<string> =>
    engine.run(`exec docker exec -i -e REPOSITORY=/src server bash -euc ${quoted(script)}`, input);
  const isUp = (): Promise<boolean> =>
    run("systemctl is-active postgresql redis-server").then(Boolean, () => false);
  await until("the server is up", isUp, 120_000).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${await engine.run("docker logs server 2>&1 | tail -20")}`);
  });
  say("systemd: a server with Postgres and Redis is up");

  await run("git config --system --add safe.directory '*'");
  await run(install);
  await run(configure);
  const { web, operator } = filledIn(ledger);
  const files = "/etc/starboard/starboard.env /etc/starboard/operator.env";
  await run(`${withoutEmpty(files)}\ncat >> /etc/starboard/starboard.env`, web);
  await run("cat >> /etc/starboard/operator.env", operator);
  await run(start);
  say("systemd: built, schema and topics made, doctor is content, processes started");

  const sql = openPostgres(await databaseUrl(run));
  await seedDirectory(sql);
  const topics = topicsIn(await run("cat /etc/starboard/starboard.env"));
  const load = votingLoad({ ...ledger, sql, topics }, URLS);
  await until("both web processes are ready", () => URLS.every(load.isReady), 120_000);
  for (const unit of UNITS) assert.equal(await run(look(unit)), seen(unit), unit);
  const exposure = await run("systemd-analyze security --no-pager starboard-serve@3000 | tail -1");
  say(`systemd: ${exposure.trim()}`);

  const [migrate = "", replace = ""] = blocksOf("upgrade");
  const given = `export OPT=/opt WEBS="${WEBS.join(" ")}" WORKERS="${WORKERS.join(" ")}"`;
  await load.begin();
  await pause(2_000);
  await run("cp -a /opt/starboard-1 /opt/starboard-2");
  await run(`${given}\nset -a; . /etc/starboard/migrate.env; set +a\n${migrate}`);
  await run(`${given}\n${replace}`);
  const figures = await load.finish();
  for (const unit of UNITS) {
    const said = await run(`systemctl show ${unit} -p NRestarts -p Result`);
    assert.equal(said, "Result=success\nNRestarts=0\n", unit);
    const ends = await run(`journalctl -u ${unit} | grep -c 'Deactivated successfully'`);
    assert.equal(ends.trim(), "1", unit);
  }
  say(`systemd: a release, 4 units restarted, each ended well: ${figures}`);
  await sql.end();
  await engine.run("docker rm -fv server");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

async function databaseUrl(run: (script: string) => Promise<string>): Promise<string> {
  const [, url = ""] = /DATABASE_URL=(\S+)/.exec(await run("cat /etc/starboard/migrate.env")) ?? [];
  return url;
}

/** What a unit's process may, as the kernel has it, and what it could write to if it were root. */
function look(unit: string): string {
  return `pid=$(systemctl show -P MainPID ${unit})
stat -c '%U %G' /proc/$pid
runuser -u starboard -- cat /proc/$pid/environ > /dev/null 2>&1 && echo "read by web processes"
grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/$pid/status | tr -s '\\t' ' '
for folder in /opt/starboard /etc/starboard /usr /var/lib /var/tmp /tmp; do
  nsenter -t $pid -m touch $folder/seen 2> /dev/null && echo "writes $folder"
done
test ! -e /tmp/seen && echo "a /tmp of its own"`;
}

function seen(unit: string): string {
  const who = unit.startsWith("starboard-work")
    ? "starboard-work starboard"
    : "starboard starboard\nread by web processes";
  return `${who}
CapEff: 0000000000000000
CapBnd: 0000000000000000
NoNewPrivs: 1
writes /var/tmp
writes /tmp
a /tmp of its own
`;
}
