import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { openPostgres } from "../../../src/store/postgres.ts";
import { seedDirectory } from "../../support/engine.ts";
import { until } from "../../support/processes.ts";
import { shellBlocks } from "../runbooks/machine.ts";
import { votingLoad } from "../voting-load.ts";
import { filledIn, fromContainers, type Place, topicsIn, withoutEmpty } from "./place.ts";

const URLS = ["http://127.0.0.1:3000", "http://127.0.0.1:3001"];
const COMPOSE = "docker compose -f deploy/compose.yaml";

const SHELL =
  "{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.State.Health.Status}}";
const SHELL_HAS = "10001:10001 true [ALL] healthy";
/** What a process in a container may, as the kernel has it, and what it finds. */
const LOOK = [
  'grep -E "^(Uid|CapEff|CapBnd|NoNewPrivs)" /proc/1/status | tr -s "\\t\\n" " "',
  "for f in / /app /app/dist /var/tmp; do touch $f/x 2> /dev/null && echo writable: $f; done",
  "touch /tmp/x && ls /app/node_modules/@hashgraph 2> /dev/null || echo no SDK",
  "ls -d /app/node_modules/typescript /app/node_modules/tsx /app/src 2> /dev/null || true",
].join("; ");
const KERNEL =
  "Uid: 10001 10001 10001 10001 CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 ";
const SEEN = { serve: `${KERNEL}no SDK\n`, work: `${KERNEL}proto\nsdk\n` };

/** `deploy/compose.yaml` from nothing, by the blocks of README.md, to a release under load. */
export async function proveCompose({ engine, ledger, say }: Place): Promise<void> {
  const blocks = shellBlocks("deploy/README.md");
  const [settings = "", prepare = "", up = "", standby = "", release = ""] = blocks;
  const secrets = "deploy/secrets";
  const exported = `export OWNER_PASSWORD=$(cat ${secrets}/owner-password) WEB_PASSWORD=$(cat ${secrets}/web-password)`;
  const run = (script: string, input?: string): Promise<string> =>
    engine.run(`cd /src\n${script}`, input);
  const again = (script: string): Promise<string> => run(`${exported}\n${script}`);

  await run(settings);
  const { web, operator } = filledIn(fromContainers(ledger));
  await run(`${withoutEmpty("deploy/*.env")}\ncat >> deploy/starboard.env`, web);
  await run("cat >> deploy/operator.env", operator);
  await run(prepare);
  say("compose: images built, topics made, doctor is content");
  await again(up);
  say("compose: up");

  const inspect = async (service: string, format: string): Promise<string[]> => {
    const said = await again(`docker inspect -f '${format}' $(${COMPOSE} ps -q ${service})`);
    return said.trim().split("\n");
  };
  for (const service of ["serve", "work"]) {
    assert.deepEqual(await inspect(service, SHELL), [SHELL_HAS, SHELL_HAS]);
    for (const id of await inspect(service, "{{.Id}}")) {
      assert.equal(await run(`docker exec ${id} sh -c '${LOOK}'`), SEEN[service as "serve"]);
    }
  }
  say("compose: user 10001, no capability, nothing writable but /tmp; no ledger SDK in `web`");
  const [address] = await inspect(
    "postgres",
    "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}",
  );
  const password = (await run(`cat ${secrets}/owner-password`)).trim();
  const sql = openPostgres(`postgres://starboard:${password}@${address}:5432/starboard`);
  await seedDirectory(sql);
  const topics = topicsIn(await run("cat deploy/starboard.env"));
  const load = votingLoad({ ...ledger, sql, topics }, URLS);
  await until("both web processes are ready", () => URLS.every(load.isReady), 120_000);
  await again(standby);
  await until("the standby confirms each commit", async () => {
    const rows = await sql`select from pg_stat_replication where sync_state = 'sync'`;
    return rows.length === 1;
  });
  say("compose: a standby confirms each commit");

  // Read as they happen: the engine remembers only so many events.
  const format = `{{index .Actor.Attributes "com.docker.compose.service"}} {{.Actor.Attributes.exitCode}}`;
  const ends = "/run/ends";
  await run(`docker events --filter event=die --format '${format}' > ${ends} 2>&1 < /dev/null &`);
  await load.begin();
  await pause(2_000);
  await run(release);
  const figures = await load.finish();
  const ended = (await run(`cat ${ends}`)).trim().split("\n").sort();
  assert.deepEqual(ended, ["migrate 0", "serve 0", "serve 0", "work 0", "work 0"]);
  say(`compose: a release, 4 containers replaced, each exit status 0: ${figures}`);
  await sql.end();
  await until("Prometheus has all four processes", async () => {
    const said = await again(
      `${COMPOSE} exec -T prometheus curl -s localhost:9090/api/v1/targets?state=active`,
    );
    const { data } = JSON.parse(said) as { data: { activeTargets: { health: string }[] } };
    const { activeTargets: targets } = data;
    return targets.length === 4 && targets.every(({ health }) => health === "up");
  });
  const files = "/etc/grafana/provisioning/*/*.yaml /var/lib/grafana/dashboards/starboard.json";
  await again(`${COMPOSE} exec -T grafana sh -c 'cat ${files} > /dev/null'`);
  say("compose: Prometheus scrapes all four, with the token");
  await again(`${COMPOSE} --profile standby down -v -t 20`);
}
