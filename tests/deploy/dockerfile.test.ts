/**
 * Goal: the Dockerfile builds what it says, from what it says. Method: a validator of its syntax, and
 * the rules of good images that matter here; each rule is also held against a line that breaks it.
 */
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { test } from "uvu";

const dockerfile = readFileSync(join(import.meta.dirname, "../../deploy/Dockerfile"), "utf8");

interface Stage {
  readonly from: string;
  readonly name: string;
  /** `["RUN", "npm ci"]` and so on, lines that go on joined. */
  readonly steps: readonly (readonly [string, string])[];
}

function stagesOf(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter(Boolean);
  const starts = lines.flatMap((line, index) => (/^FROM /.test(line) ? [index] : []));
  return starts.map((start, index) => {
    const [, from = "", name = ""] = /^FROM (\S+)(?: AS (\S+))?$/.exec(lines[start] ?? "") ?? [];
    const steps = lines.slice(start + 1, starts[index + 1]).map((line) => {
      const [, word = "", rest = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
      return [word, rest] as const;
    });
    return { from, name, steps };
  });
}

/** A stage's steps after those of the stages that it stands on. */
function wholeOf(stages: readonly Stage[], stage: Stage): Stage["steps"] {
  const below = stages.find(({ name }) => name === stage.from);
  return [...(below ? wholeOf(stages, below) : []), ...stage.steps];
}

const IMAGES = ["web", "worker"];

/** What is wrong with a Dockerfile, in a word each. */
function faultsOf(text: string): readonly string[] {
  const stages = stagesOf(text);
  const names = stages.map(({ name }) => name);
  const bases = stages.map(({ from }) => from).filter((from) => !names.includes(from));
  const every = stages.flatMap(({ steps }) => steps);
  const runs = every.filter(([word]) => word === "RUN").map(([, rest]) => rest);
  const finals = stages.filter(({ name }) => IMAGES.includes(name));
  const ofImages = finals.map((stage) => wholeOf(stages, stage));
  const last = (steps: Stage["steps"], wanted: string): string =>
    steps.findLast(([word]) => word === wanted)?.[1] ?? "";
  const faults: Record<string, boolean> = {
    "base not pinned": bases.some((base) => !/^[a-z/]+:\d+\.\d+\.\d+-[a-z-]+$/.test(base)),
    "several bases": new Set(bases).size > 1,
    "a frontend to pull": /^# *syntax=/im.test(text),
    "no such stage": !IMAGES.every((image) => names.includes(image)),
    "root user": ofImages.some((steps) => !/^[1-9]\d*:[1-9]\d*$/.test(last(steps, "USER"))),
    "ADD, where COPY is enough": every.some(([word]) => word === "ADD"),
    "packages without their list": runs.some(
      (run) => run.includes("apt-get install") && !run.startsWith("apt-get update"),
    ),
    "packages that are only recommended": runs.some(
      (run) => run.includes("apt-get install") && !/-y --no-install-recommends/.test(run),
    ),
    "lists left behind": runs.some(
      (run) => run.includes("apt-get update") && !run.endsWith("rm -rf /var/lib/apt/lists/*"),
    ),
    "not the lock file's packages": runs.some((run) => /npm (install|i|update)\b/.test(run)),
    "a failure in a pipe": runs.some((run) => /[^|]\|[^|]/.test(run)),
    "a shell between": ofImages.some((steps) =>
      ["ENTRYPOINT", "CMD"].some((word) => !last(steps, word).startsWith("[")),
    ),
    "no health check": ofImages.some((steps) => !/ CMD \["/.test(last(steps, "HEALTHCHECK"))),
    "no init": ofImages.some((steps) => !last(steps, "ENTRYPOINT").includes("tini")),
    "a folder that is not absolute": every.some(
      ([word, rest]) => word === "WORKDIR" && !rest.startsWith("/"),
    ),
    "a secret": every.some(([word, rest]) => /ENV|ARG/.test(word) && /KEY|TOKEN|PASS/.test(rest)),
    "development packages": ofImages.some((steps) =>
      steps.some(([, rest]) => /--from=build \S*node_modules/.test(rest)),
    ),
  };
  return Object.keys(faults).filter((fault) => faults[fault]);
}

test("the Dockerfile's syntax is right, and no rule is broken", () => {
  assert.deepEqual(
    validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${message}`),
    [],
  );
  assert.deepEqual(faultsOf(dockerfile), []);
});

const BROKEN: readonly (readonly [string, RegExp | string, string])[] = [
  ["base not pinned", /node:\d\S*/g, "node:latest"],
  ["several bases", "AS base", "AS x\nFROM node:20.1.0-bookworm-slim AS base"],
  ["a frontend to pull", /^/, "# syntax=docker/dockerfile:1\n"],
  ["no such stage", "AS worker", "AS other"],
  ["root user", "USER 10001:10001", "USER root"],
  ["root user", "USER 10001:10001\n", ""],
  ["ADD, where COPY is enough", "COPY . .", "ADD . ."],
  ["packages without their list", "apt-get update \\\n  && ", ""],
  ["packages that are only recommended", " --no-install-recommends", ""],
  ["lists left behind", " \\\n  && rm -rf /var/lib/apt/lists/*", ""],
  ["not the lock file's packages", "npm ci", "npm install"],
  ["a failure in a pipe", "RUN npm run build", "RUN npm run build | tee log"],
  ["a shell between", 'CMD ["serve"]', "CMD serve"],
  ["no health check", /HEALTHCHECK/g, "LABEL x="],
  ["no init", '"/usr/bin/tini", "--", ', ""],
  ["a folder that is not absolute", /WORKDIR \/app/g, "WORKDIR app"],
  ["a secret", "NODE_ENV=production", "OPERATOR_TOKEN=x"],
  ["development packages", "--from=dependencies", "--from=build"],
];

for (const [fault, from, to] of BROKEN) {
  test(`a Dockerfile with this fault is refused: ${fault} (${to.trim().split("\n")[0]})`, () => {
    const broken = dockerfile.replace(from, to);
    assert.notEqual(broken, dockerfile);
    assert.ok(faultsOf(broken).includes(fault), faultsOf(broken).join());
  });
}

test("a syntax error is noticed", () => {
  assert.ok(validate(dockerfile.replace("EXPOSE 3000", "EXPOSED 3000")).length > 0);
  assert.ok(validate(dockerfile.replace("--interval=10s", "--intervall=10s")).length > 0);
});

test("the web image has no ledger SDK, the worker's has", () => {
  const stages = stagesOf(dockerfile);
  const packagesOf = (image: string): string | undefined =>
    stages
      .find(({ name }) => name === image)
      ?.steps.map(([, rest]) => /--from=(\S+) \/app\/node_modules/.exec(rest)?.[1])
      .find(Boolean);
  const removed = stages
    .filter(({ name }) => name === packagesOf("web"))
    .flatMap(({ steps }) => steps.map(([, rest]) => rest));
  assert.deepEqual(removed, ["rm -rf node_modules/@hashgraph node_modules/@grpc"]);
  assert.equal(packagesOf("worker"), "dependencies");
});

test.run();
