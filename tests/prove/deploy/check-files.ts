import type { Place } from "./place.ts";

/** Each file's own linter, on the tree as it stands at /src. */
const LINTERS: Readonly<Record<string, string>> = {
  "promtool check config": "promtool check config --syntax-only deploy/prometheus/prometheus.yaml",
  "promtool check rules": "promtool check rules --lint-fatal deploy/prometheus/alerts.yaml",
  "kubectl kustomize": "kubectl kustomize deploy/kubernetes > /dev/null",
  shellcheck: "shellcheck bin/starboard deploy/postgres/*.sh",
  "systemd-analyze verify": [
    // What the units name has to be there; the rest of the system is not this check's.
    "useradd --system starboard",
    "useradd --system --gid starboard starboard-work",
    "mkdir -p /opt/starboard/bin /etc/starboard",
    "cp bin/starboard /opt/starboard/bin/",
    "touch /etc/starboard/starboard.env /etc/starboard/operator.env /etc/starboard/migrate.env",
    "cp deploy/systemd/*.service /etc/systemd/system/",
    "systemd-analyze verify --recursive-errors=yes starboard-migrate.service starboard-serve@3000.service starboard-work@3101.service",
  ].join(" && "),
};

/** @throws Error with what a linter said when it is not content */
export async function checkFiles({ engine, say }: Place): Promise<void> {
  const inContainer = "docker run --rm -i --network none -v /src:/src:ro linters sh -euc";
  for (const [name, script] of Object.entries(LINTERS)) {
    await engine.run(`${inContainer} '${script}'`);
    say(`${name}: nothing to say`);
  }
  // The files that it reads its variables from come with the steps.
  const given = "OWNER_PASSWORD=x WEB_PASSWORD=x";
  const files = "touch deploy/starboard.env deploy/operator.env";
  const check = "docker compose -f deploy/compose.yaml --profile standby config -q";
  await engine.run(`cp -a /src /checked && cd /checked && ${files} && ${given} ${check}`);
  say("docker compose config: nothing to say");
}
