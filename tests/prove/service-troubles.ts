/**
 * Goal: each trouble that needs a person shows at every place within 15 s, and at no place
 * within 15 s of its cure. Method: one trouble after the other happens to a web process and a worker
 * with the intervals that they always have; the places are asked four times a second. The last
 * troubles are a disk that is really full, once where the data find no room and once where the
 * write-ahead log finds none: Postgres has a small one of its own, for which this needs the right to
 * mount (`unshare`). A Prometheus, where there is one, judges by the files of `deploy/`. Ends with 1
 * where a place takes longer. `npm run prove:troubles -- --only "disk" --prometheus prometheus`.
 */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startPostgres } from "../../src/local/postgres.ts";
import { signInOperator, TOKEN, type Visitor } from "../http/console/browser-session.ts";
import { cast, newWallet, signIn } from "../support/service.ts";
import { openScene, type Scene, TROUBLES, type Trouble } from "../support/service-troubles.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";
import { inOwnMounts, mountSmallDisk, type SmallDisk } from "./small-disk.ts";

const GOAL_S = 15;
const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 250;
const PLACES = ["verdict", "metric", "banner", "runbook", "alarm"] as const;
type Place = (typeof PLACES)[number];

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    prometheus: { type: "string", default: "prometheus" },
  },
});
const isElsewhere = await inOwnMounts(fileURLToPath(import.meta.url));
if (isElsewhere !== true) await prove(isElsewhere === false);

async function prove(mayMount: boolean): Promise<void> {
  const disk = mayMount ? mountSmallDisk() : null;
  const postgres = disk && (await startPostgres({ dataDir: `${disk.folder}/postgres` }));
  if (postgres) process.env.STARBOARD_TEST_DATABASE_URL = postgres.url;
  else print("no disk may be mounted here: the full disk is left out");
  const scene = await openScene();
  const operator = await signInOperator(scene.service);
  const service = { url: scene.service.url, token: TOKEN };
  const prometheus = await startPrometheus(values.prometheus, service);
  if (prometheus === null) print("there is no Prometheus here: alarms are left out");
  const fullDisks = disk === null ? [] : await fullDisksOf(scene, disk);
  const troubles = [
    ...TROUBLES.filter(({ name }) => name !== "the disk is full"),
    ...fullDisks,
  ].filter(({ name }) => name.includes(values.only));
  assert.equal((await cast(scene.service, scene.voter, "event/meetup")).status, 201);
  await scene.service.untilWell();
  if (troubles.length === 0) {
    print(`no trouble's name holds "${values.only}"`);
    process.exitCode = 2;
  }
  print(`${"".padEnd(40)} seconds until shown, and until shown no more`);
  try {
    for (const trouble of troubles) await measure({ scene, operator, prometheus, trouble });
  } finally {
    disk?.empty();
    await prometheus?.close();
    await scene.close();
    await postgres?.close();
    disk?.close();
  }
}

interface Measured {
  readonly scene: Scene;
  readonly operator: Visitor;
  readonly prometheus: Prometheus | null;
  readonly trouble: Trouble;
}

async function measure(given: Measured): Promise<void> {
  const { scene, trouble } = given;
  await trouble.happen(scene);
  const shown = await secondsUntil(given, true);
  await trouble.cure(scene);
  const gone = await secondsUntil(given, false);
  const text = (seconds: Readonly<Record<Place, number>>) =>
    placesOf(given)
      .map((place) => `${place} ${seconds[place].toFixed(1)}`)
      .join(", ");
  print(`${trouble.name.padEnd(40)} ${text(shown)}`);
  print(`${"  … cured".padEnd(40)} ${text(gone)}`);
  const slowest = Math.max(...Object.values(shown), ...Object.values(gone));
  if (slowest > GOAL_S) {
    print(`${"".padEnd(40)} above ${GOAL_S} s`);
    process.exitCode = 1;
  }
  await scene.service.untilWell();
}

function placesOf({ prometheus }: Measured): readonly Place[] {
  return PLACES.filter((place) => place !== "alarm" || prometheus !== null);
}

/** How long each place takes from now on to show a trouble, or to stop showing it. */
async function secondsUntil(
  given: Measured,
  isShown: boolean,
): Promise<Readonly<Record<Place, number>>> {
  const startedAt = performance.now();
  const found = await Promise.all(
    placesOf(given).map(async (place) => {
      while ((await shows(given, place).catch(() => !isShown)) !== isShown) {
        if (performance.now() - startedAt > PATIENCE_MS) return [place, Infinity];
        await pause(LOOK_EVERY_MS);
      }
      return [place, (performance.now() - startedAt) / 1_000];
    }),
  );
  return Object.fromEntries(found);
}

/** Whether a place shows a trouble now. */
async function shows(
  { scene, operator, prometheus, trouble }: Measured,
  place: Place,
): Promise<boolean> {
  const { check, says } = trouble;
  switch (place) {
    case "verdict": {
      const { checks } = await scene.service.verdict();
      return checks.some(({ name, ok, message }) => name === check && !ok && says.test(message));
    }
    case "metric":
      return (await scene.service.metrics()).includes(
        `starboard_check_failing{check="${check}"} 1`,
      );
    case "banner":
      return says.test(await banner(operator));
    case "runbook":
      return (await banner(operator)).includes(`href="/ops/alarms#${check}"`);
    case "alarm":
      return (await prometheus?.firing())?.includes(`docs/operating/alarms.md#${check}`) ?? false;
  }
}

/** What every page says is wrong; empty where nothing is. */
async function banner(operator: Visitor): Promise<string> {
  const { text } = await operator.get("/ops/keys");
  return /<div[^>]* data-verdict>([\s\S]*?)<\/div>/.exec(text)?.[1] ?? "";
}

/** Postgres' disk has no byte left; stars are cast until one finds no room. */
async function fullDisksOf(scene: Scene, disk: SmallDisk): Promise<readonly Trouble[]> {
  const { service } = scene;
  const voters: string[] = [];
  for (let n = 0; n < 40; n += 1) {
    voters.push(await signIn(service, await newWallet(service.network, { a: 1 })));
  }
  const targets = ["event/meetup", "event/hack", "token/0.0.9001", "project/dex"];
  const stars = voters.flatMap((voter) => targets.map((target) => [voter, target] as const));
  const castUntil = async (wanted: number): Promise<void> => {
    for (;;) {
      const [voter, target] = stars.shift() ?? assert.fail("there are not enough voters");
      const { status } = await cast(service, voter, target).catch(() => ({ status: 0 }));
      if (status === wanted) return;
      if (wanted === 201) await pause(LOOK_EVERY_MS);
    }
  };
  const cure = async (): Promise<void> => {
    disk.empty();
    await castUntil(201);
  };
  return [
    {
      name: "the disk is full: the data",
      check: "postgres",
      says: /no room/,
      async happen() {
        disk.fill();
        await castUntil(503);
      },
      cure,
    },
    {
      name: "the disk is full: the write-ahead log",
      check: "postgres",
      says: /Postgres does not answer/,
      async happen() {
        disk.fill();
        await fillLog(scene).catch((error: Error) => print(error.message));
        await castUntil(503);
      },
      cure,
    },
  ];
}

/** Writes to the log until it finds no room; then Postgres ends, and comes up when it can. */
async function fillLog({ service: { network } }: Scene): Promise<never> {
  for (;;) await network.sql`select pg_logical_emit_message(true, 'full', repeat('x', 4000000))`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
