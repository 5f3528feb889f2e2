/**
 * Goal: a cluster takes the manifests as they stand, and gets what the image is made for. Method:
 * each manifest as a literal of its kind's type from Kubernetes' own schema, which refuses fields
 * that it does not have; and what lies between the files.
 */
import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "uvu";
import { parse, parseAllDocuments } from "yaml";
import { temporaryFolder } from "../support/folder.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "deploy/kubernetes");
const TYPES = fileURLToPath(new URL(".", import.meta.resolve("kubernetes-types/package.json")));
const TSC = fileURLToPath(new URL("./bin/tsc", import.meta.resolve("typescript/package.json")));

// biome-ignore lint/suspicious/noExplicitAny: the compiler judges their shapes
type Manifest = any;

const kustomization: Manifest = parse(readFileSync(join(FOLDER, "kustomization.yaml"), "utf8"));
const manifests: readonly Manifest[] = readdirSync(FOLDER)
  .filter((name) => name !== "kustomization.yaml")
  .flatMap((name) => parseAllDocuments(readFileSync(join(FOLDER, name), "utf8")))
  .map((document) => document.toJS());
const pods = manifests.flatMap(({ spec }) => (spec?.template ? [spec.template] : []));

/** @returns what the compiler says of these manifests as literals of their kinds */
function complaints(of: readonly Manifest[]): string {
  const folder = temporaryFolder("manifests");
  const text = of.map((manifest, index) => {
    const { apiVersion, kind } = manifest;
    const path = apiVersion === "v1" ? "core/v1" : apiVersion.replace(/\.k8s\.io/, "");
    const from = JSON.stringify(join(TYPES, `${path}.d.ts`));
    return `export const m${index}: import(${from}).${kind} = ${JSON.stringify(manifest, null, 1)};\n`;
  });
  try {
    const file = join(folder, "manifests.ts");
    writeFileSync(file, text.join(""));
    const flags = ["--ignoreConfig", "--noEmit", "--strict", "--skipLibCheck", "--types", ""];
    execFileSync(process.execPath, [TSC, ...flags, "--target", "es2023", file], {
      encoding: "utf8",
      stdio: "pipe",
    });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("each manifest has its kind's fields, no other ones, and of the right types", () => {
  assert.ok(manifests.length > 6);
  assert.equal(complaints(manifests), "");
});

test("a misspelt, a missing and a mistyped field are noticed", () => {
  const broken = (change: (deployment: Manifest) => void): Manifest => {
    const deployment = structuredClone(manifests.find(({ kind }) => kind === "Deployment"));
    change(deployment);
    return deployment;
  };
  const said = complaints([
    broken(({ spec }) => Object.assign(spec.template.spec, { terminationGraceSeconds: 1 })),
    broken(({ spec }) => Object.assign(spec.template.spec.containers[0], { readonlyProbe: {} })),
    broken(({ spec }) => Reflect.deleteProperty(spec, "selector")),
    broken(({ spec }) => Object.assign(spec, { replicas: "2" })),
  ]);
  for (const word of ["terminationGraceSeconds", "readonlyProbe", "selector", "string"]) {
    assert.match(said, new RegExp(word));
  }
});

test("kustomize has every file, and the images of this version", () => {
  const { version } = parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const files = readdirSync(FOLDER).filter((name) => name !== "kustomization.yaml");
  assert.deepEqual([...kustomization.resources].sort(), files.sort());
  const images = new Set(pods.flatMap(({ spec }) => spec.containers.map((c: Manifest) => c.image)));
  assert.deepEqual(
    kustomization.images,
    [...images].sort().map((name) => ({ name, newTag: version })),
  );
});

test("every pod runs as the image's user, has a read-only root, and has no privileges", () => {
  const dockerfile = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
  const [, user] = /^USER (\d+):/m.exec(dockerfile) ?? [];
  for (const { spec } of pods) {
    assert.equal(spec.automountServiceAccountToken, false);
    const { runAsNonRoot, runAsUser, runAsGroup, seccompProfile } = spec.securityContext;
    assert.deepEqual([runAsNonRoot, runAsUser, runAsGroup], [true, Number(user), Number(user)]);
    assert.equal(seccompProfile.type, "RuntimeDefault");
    for (const container of spec.containers) {
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      assert.ok(container.resources.limits.memory);
    }
  }
});

test("selectors find pods, budgets leave room, probes ask what is served, nothing is cut short", () => {
  const dockerfile = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
  const exposed = [...dockerfile.matchAll(/^EXPOSE (\d+)/gm)].map(([, port]) => Number(port));
  const labels = pods.map(({ metadata }) => JSON.stringify(metadata.labels));
  for (const { kind, spec } of manifests) {
    const selector = kind === "Service" ? spec.selector : spec?.selector?.matchLabels;
    if (selector !== undefined) assert.ok(labels.includes(JSON.stringify(selector)), kind);
    if (kind !== "Deployment") continue;
    assert.deepEqual([spec.replicas, spec.strategy.rollingUpdate.maxUnavailable], [2, 0]);
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    for (const container of containers) {
      assert.ok(exposed.includes(container.ports[0].containerPort));
      assert.equal(container.startupProbe.httpGet.path, "/healthz");
      assert.equal(container.livenessProbe.httpGet.path, "/healthz");
      assert.equal(container.readinessProbe.httpGet.path, "/readyz");
      // A process finishes its requests within ten seconds of SIGTERM.
      assert.ok(terminationGracePeriodSeconds >= 20);
    }
  }
});

test.run();
