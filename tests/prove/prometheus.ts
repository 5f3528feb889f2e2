import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { freePort } from "../../src/local/free-port.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/processes.ts";

/** A Prometheus that scrapes one process of the service by the files of `deploy/`. */
export interface Prometheus {
  /** The runbook's entries that the alerts firing now lead to. */
  firing(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface Config {
  scrape_configs: Record<string, unknown>[];
}

const DEPLOYED = join(import.meta.dirname, "../../deploy/prometheus");

/**
 * Starts one with the intervals and the alerts that are deployed; its targets alone are another.
 *
 * @returns null where this machine has none (Debian: `apt-get install prometheus`)
 */
export async function startPrometheus(
  program: string,
  service: { readonly url: string; readonly token: string },
): Promise<Prometheus | null> {
  if (spawnSync(program, ["--version"]).status !== 0) return null;
  const folder = temporaryFolder("prometheus");
  const file = join(folder, "prometheus.yaml");
  const config = parse(readFileSync(join(DEPLOYED, "prometheus.yaml"), "utf8")) as Config;
  const scrape_configs = [
    {
      job_name: "starboard",
      authorization: { credentials: service.token },
      static_configs: [{ targets: [new URL(service.url).host] }],
    },
  ];
  writeFileSync(file, stringify({ ...config, scrape_configs }), { mode: 0o600 });
  copyFileSync(join(DEPLOYED, "alerts.yaml"), join(folder, "alerts.yaml"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${new URL(url).host}`,
    ],
    { stdio: "ignore" },
  );
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  const ask = async (path: string): Promise<Response> => fetch(url + path);
  await until("Prometheus is ready", () =>
    ask("/-/ready").then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    async firing() {
      const { data } = (await (await ask("/api/v1/alerts")).json()) as {
        data: { alerts: { state: string; annotations: { runbook_url: string } }[] };
      };
      return data.alerts.flatMap(({ state, annotations }) =>
        state === "firing" ? annotations.runbook_url : [],
      );
    },
    async close() {
      const exited = once(child, "exit");
      end();
      await exited;
      process.off("exit", end);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
