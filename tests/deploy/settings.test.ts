/**
 * Goal: what `deploy/` sets is a setting, and what it names in one file is there in the other.
 * Method: the names that its files give, held against the configuration's and each other's.
 */
import * as assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { parse, parseAllDocuments } from "yaml";
import { settings } from "../../src/config.ts";
import { clientAddress } from "../../src/http/middleware/client-address.ts";
import { createMetrics } from "../../src/metrics.ts";

const DEPLOY = join(import.meta.dirname, "../../deploy");
const read = (path: string): string => readFileSync(join(DEPLOY, path), "utf8");
// biome-ignore lint/suspicious/noExplicitAny: files of several shapes
type Yaml = any;
const compose: Yaml = parse(read("compose.yaml"), { merge: true });
const services: [string, Yaml][] = Object.entries(compose.services);
/** Read by Node and its libraries, not by the configuration. */
const NOT_OURS = ["NODE_ENV"];

test("every name in the examples, the compose file, the manifests and the images is a setting", () => {
  const examples = [
    "starboard.env.example",
    "operator.env.example",
    "systemd/starboard.env.example",
  ];
  const named = examples.flatMap((path) =>
    [...read(path).matchAll(/^([A-Z_]+)=/gm)].map(([, name = ""]) => name),
  );
  const units = readdirSync(join(DEPLOY, "systemd")).filter((name) => name.endsWith(".service"));
  for (const unit of units) {
    named.push(
      ...[...read(`systemd/${unit}`).matchAll(/^Environment=(\w+)=/gm)].map(([, n = ""]) => n),
    );
  }
  for (const [, { image, environment = {} }] of services) {
    if (/^starboard-/.test(image)) named.push(...Object.keys(environment));
  }
  for (const document of parseAllDocuments(read("kubernetes/settings.yaml"))) {
    named.push(...Object.keys(document.toJS().data));
    named.push(
      ...[...read("kubernetes/settings.yaml").matchAll(/literal=([A-Z_]+)/g)].map(
        ([, n = ""]) => n,
      ),
    );
  }
  for (const [, line = ""] of read("Dockerfile").matchAll(/^ENV (.*)$/gm)) {
    named.push(...line.split(" ").map((pair) => pair.split("=")[0] ?? ""));
  }
  assert.ok(named.length > 40);
  const known = [...Object.keys(settings.shape), ...NOT_OURS];
  assert.deepEqual([...new Set(named.filter((name) => !known.includes(name)))], []);
});

test("every place behind a proxy names it: else all its clients share one limit", () => {
  const [settingsOfPods = {}] = parseAllDocuments(read("kubernetes/settings.yaml")).map(
    (document) => document.toJS().data,
  );
  const trusted = ["starboard.env.example", "systemd/starboard.env.example"]
    .map((path) => /^TRUSTED_PROXIES=(.+)$/m.exec(read(path))?.[1])
    .concat(settingsOfPods.TRUSTED_PROXIES);
  for (const ranges of trusted) {
    assert.doesNotThrow(() => clientAddress(String(ranges).split(",")), String(ranges));
  }
});

test("systemd: the roles that migrations may not make are made by the steps", () => {
  const grants = readFileSync(join(DEPLOY, "../migrations/011.do.grants.sql"), "utf8");
  const roles = /foreach role_name in array array\[(.*)\]/.exec(grants)?.[1]?.match(/\w+/g) ?? [];
  assert.equal(roles.length, 2);
  for (const role of roles) assert.ok(read("README.md").includes(`create role ${role} nologin`));
});

test("no file of secrets that the steps make in the working copy is one that git takes", () => {
  const ignored = readFileSync(join(DEPLOY, "../.gitignore"), "utf8").split("\n");
  const made = [...read("README.md").matchAll(/[ >](deploy\/(?:\w+\.env|secrets))(?=[\s/])/g)];
  const places = new Set(made.map(([, place = ""]) => place.replace(/\w+\.env$/, "*.env")));
  assert.deepEqual([...places].sort(), ["deploy/*.env", "deploy/secrets"]);
  for (const place of places)
    assert.ok(
      ignored.some((line) => line.startsWith(`/${place}`)),
      place,
    );
  assert.match(read("README.md"), /^mkdir -p -m 0700 deploy\/secrets$/m);
});

test("what a runbook changes in a file of settings stands there, by the examples or the steps", () => {
  const operating = join(DEPLOY, "../docs/operating");
  const steps = read("README.md");
  for (const page of readdirSync(operating)) {
    const text = readFileSync(join(operating, page), "utf8");
    for (const [, name, file] of text.matchAll(/s\|\^([A-Z_]+)=.*\$CONFIG\/(\w+\.env)"/g)) {
      const example = read(`${file === "operator.env" ? "" : "systemd/"}${file}.example`);
      const isAdded = steps.includes(`echo "${name}=`);
      assert.ok(isAdded || new RegExp(`^${name}=`, "m").test(example), `${page}: ${name}`);
    }
  }
});

test("the operator's key is at the workers alone", () => {
  const withKey = services.filter(([, { env_file: files = [] }]) => files.includes("operator.env"));
  assert.deepEqual(
    withKey.map(([name]) => name),
    ["work"],
  );
  assert.doesNotMatch(read("systemd/starboard-serve@.service"), /^EnvironmentFile.*operator/m);
  assert.doesNotMatch(read("kubernetes/web.yaml"), /starboard-operator/);
});

test("systemd: what has the operator's key or the owner's login runs as another user than the web processes", () => {
  const [web, work, migrate] = ["serve@", "work@", "migrate"].map((one) => {
    const unit = read(`systemd/starboard-${one}.service`);
    return [/^User=(.+)$/m.exec(unit)?.[1], /^Group=(.+)$/m.exec(unit)?.[1]];
  });
  assert.notEqual(work?.[0], web?.[0]);
  assert.notEqual(migrate?.[0], web?.[0]);
  for (const [user, group] of [web, work, migrate].map((one) => one ?? [])) {
    assert.match(read("README.md"), new RegExp(`^useradd .* ${user}$`, "m"));
    // An authority's certificate that is put there is for all of them.
    assert.match(
      read("README.md"),
      new RegExp(`^install -d -m 0750 -g ${group} /etc/starboard$`, "m"),
    );
  }
});

test("compose: pinned images, existing files, and processes without privileges", () => {
  for (const [name, { image, volumes = [], ...service }] of services) {
    for (const volume of volumes) {
      const [from = ""] = volume.split(":");
      const isThere = from.startsWith(".")
        ? existsSync(join(DEPLOY, from))
        : from in compose.volumes;
      // Secrets are made by the steps.
      assert.ok(isThere || from.startsWith("./secrets/"), `${name}: ${volume}`);
    }
    if (!/^starboard-/.test(image)) {
      assert.match(image, /:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/, name);
      continue;
    }
    assert.deepEqual([service.read_only, service.cap_drop], [true, ["ALL"]], name);
    assert.deepEqual(service.security_opt, ["no-new-privileges:true"], name);
    // A process finishes its requests within ten seconds of SIGTERM.
    assert.equal(service.stop_grace_period, "20s", name);
  }
});

test("compose: no one signs in to Grafana, whose first admin's password is known to all", () => {
  const { environment = {} } = compose.services.grafana;
  assert.equal(environment.GF_AUTH_BASIC_ENABLED, "false");
  assert.equal(environment.GF_AUTH_DISABLE_LOGIN_FORM, "true");
  assert.equal(environment.GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION, "true");
});

test("Prometheus asks the services of the compose file at the ports of the images", () => {
  const { scrape_configs: configs }: Yaml = parse(read("prometheus/prometheus.yaml"));
  const asked = configs[0].dns_sd_configs.map((each: Yaml) => [each.names[0], each.port]);
  const exposed = [...read("Dockerfile").matchAll(/^EXPOSE (\d+)/gm)].map(([, port]) =>
    Number(port),
  );
  assert.deepEqual(
    asked.map(([name]: [string]) => name),
    ["serve", "work"],
  );
  assert.deepEqual(asked.map(([, port]: [string, number]) => port).sort(), exposed.sort());
  for (const [name] of asked) assert.ok(name in compose.services);
});

/** What the scrape itself adds to each sample, and the bound of a bucket. */
const LABELS_OF_SCRAPE = ["instance", "job", "le"];

test("the dashboard and the alerts ask for metrics that there are, by labels that they have", () => {
  // The names alone are public in the library's types.
  const made = createMetrics({ process: true }).registry.getMetricsAsArray() as unknown as {
    readonly name: string;
    readonly labelNames: readonly string[];
  }[];
  const dashboard = JSON.parse(read("grafana/starboard.json"));
  const alerts = parse(read("prometheus/alerts.yaml"));
  const expressions: string[] = [
    ...dashboard.panels.flatMap(({ targets = [] }: Yaml) => targets.map(({ expr }: Yaml) => expr)),
    ...alerts.groups.flatMap(({ rules }: Yaml) => rules.map(({ expr }: Yaml) => expr)),
  ];
  assert.ok(expressions.length > 40);
  const flaws = expressions.flatMap((expression) => {
    const [name = "up"] = /starboard_\w+/.exec(expression) ?? [];
    const metric = made.find((each) => name.replace(/_(bucket|sum|count)$/, "") === each.name);
    const [, by = ""] = /by \(([^)]*)\)/.exec(expression) ?? [];
    const known = [...LABELS_OF_SCRAPE, ...(metric?.labelNames ?? [])];
    const unknown = by.split(/,\s*/).filter((label) => label !== "" && !known.includes(label));
    return metric === undefined && name !== "up"
      ? [name]
      : unknown.map((each) => `${name} ${each}`);
  });
  assert.deepEqual(flaws, []);
});

test.run();
