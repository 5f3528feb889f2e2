/**
 * Goal: no fault of processes and servers makes the service lose, double or make up a
 * star, and service is back seconds after it ends. Method: two `serve`, two `work`, Postgres and
 * Redis of their own behind proxies, and the local ledger in a process that is never touched;
 * clients that write down each attempt before it is sent; faults drawn from a seed; then a checker
 * that knows the specification alone reads history, journal and topics.
 *
 *     npm run prove:chaos -- --minutes N [--seed S] [--folder F] [--only NAME]
 *     npm run prove:chaos -- --report [--folder F]
 *
 * A folder keeps everything from run to run, so that runs add up. Exit status 1 where the checker
 * found something or a process logged a mistake in the code, 2 where under half of the calls were
 * accepted, or there was no fault: such a run shows nothing.
 */

import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { givenNumber } from "../support/given-number.ts";
import { until } from "../support/processes.ts";
import { judge } from "./check.ts";
import { readHistory, readJournal, readTopic } from "./evidence.ts";
import { CLOCK_PRELOAD, DISK_FULL, FAULTS, type Fault, roundOf, shiftClock } from "./faults.ts";
import type { Member } from "./fleet.ts";
import { openHistory } from "./history.ts";
import { forgetPlace, openPlace, type Place, patiently } from "./place.ts";
import type { Scene } from "./scene.ts";
import {
  addCounts,
  type Checked,
  type Counts,
  noCounts,
  readSums,
  reportOf,
  writeSums,
} from "./sums.ts";
import { startVoters, type Voter } from "./voters.ts";
import { drawing, targetsOf, walletsOf } from "./wallets.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string" },
    folder: { type: "string", default: "test-output/chaos" },
    only: { type: "string", multiple: true },
    report: { type: "boolean", default: false },
  },
});

const folder = resolve(values.folder);
const sums = readSums(folder);
const counts = noCounts();
let isInterrupted = false;

const KILL_EVERY_MS = 3_000;
const FREEZE_MS = 35_000;
const CALM_MS = 1_000;
const CALM_MS_MAX = 8_000;
const BACK_WITHIN_MS = 5_000;
const NEVER_BACK_MS = 60_000;
const SETTLED_WITHIN_MS = 240_000;
/** Past every transaction of before, so that what waits for their end goes on. */
const PAST_TRANSACTIONS_MS = 200_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(minutes: number, seed: number): Promise<void> {
  say(`seed ${seed}, ${minutes} minutes, in ${folder}`);
  forgetPlace(folder);
  const place = await openPlace(folder, CLOCK_PRELOAD);
  const draw = drawing(seed);
  const history = openHistory(join(folder, "history.jsonl"));
  const webs = place.fleet.members.filter(({ role }) => role === "serve");
  const wallets: Voter[] = [];
  const voters = startVoters({
    webs,
    history,
    draw,
    targets: await targetsOf(place),
    takeWallet: walletsOf(place, wallets),
  });
  const scene: Scene = { place, voters, history, counts, draw, wallets };
  let isValid = false;
  let startedAt = performance.now();
  const isOver = (): boolean => isInterrupted || performance.now() - startedAt > minutes * 60_000;
  try {
    await until("the first star is accepted", () => voters.figures.accepted > 0, 180_000);
    startedAt = performance.now();
    await Promise.all([injectAll(scene, isOver), killing(scene, isOver), freezing(scene, isOver)]);
    for (const member of place.fleet.members) shiftClock(member, 0);
    await voters.stop();
    await settle(place);
    sums.checked = await check(place);
    isValid = true;
  } catch (error) {
    process.exitCode = 1;
    say(error instanceof Error ? String(error.stack) : String(error));
  } finally {
    // What runs beside a part that failed ends too.
    isInterrupted = true;
    await voters.stop();
    counts.minutes += (performance.now() - startedAt) / 60_000;
    counts.runs += 1;
    add(voters.figures, place);
    const hasFaults = Object.keys(counts.faults).length > 0;
    isValid &&= hasFaults && voters.figures.accepted >= voters.figures.calls / 2;
    if (isValid) sums.counts = addCounts(sums.counts, counts);
    else sums.invalid += 1;
    writeSums(folder, sums);
    await history.close();
    await place.close();
  }
  say(reportOf(sums));
  const { accepted, calls } = voters.figures;
  say(`seed ${seed}: ${accepted} of ${calls} calls were accepted${isValid ? "" : ": INVALID"}`);
  if (!isValid) process.exitCode = 2;
  const isFaulty = voters.figures.errors.length > 0 || counts.mistakes > 0;
  if (isFaulty || Object.keys(sums.checked?.violations ?? {}).length > 0) {
    process.exitCode = 1;
  }
}

/** One fault after the other; each is followed by a calm as long as itself, within bounds. */
async function injectAll(scene: Scene, isOver: () => boolean): Promise<void> {
  const chosen = values.only;
  const can = ({ name }: Fault): boolean => name !== DISK_FULL || scene.place.disk !== null;
  while (!isOver()) {
    const all = chosen ? FAULTS.filter(({ name }) => chosen.includes(name)) : roundOf(scene.draw);
    const round = all.filter(can);
    if (round.length === 0) return;
    for (const fault of round) {
      if (isOver()) return;
      await inject(scene, fault);
    }
  }
}

async function inject(scene: Scene, fault: Fault): Promise<void> {
  const beganAt = performance.now();
  await fault.inject(scene);
  const endedAt = performance.now();
  const backAt = await Promise.race([
    scene.voters.acceptedAfter(endedAt),
    pause(NEVER_BACK_MS, undefined, { ref: false }).then(() => Number.POSITIVE_INFINITY),
  ]);
  const backMs = backAt - endedAt;
  if (backMs > BACK_WITHIN_MS) counts.lateBack += 1;
  counts.faults[fault.name] ??= { times: 0, slowestBackMs: 0 };
  const seen = counts.faults[fault.name] as Counts["faults"][string];
  seen.times += 1;
  seen.slowestBackMs = Math.max(seen.slowestBackMs, backMs);
  const { accepted, calls } = scene.voters.figures;
  say(
    `${new Date().toISOString().slice(11, 19)} ${fault.name}: ${Math.round(endedAt - beganAt)} ms, back after ${Math.round(backMs)} ms${stopped(scene)}, ${accepted} of ${calls} accepted`,
  );
  await pause(Math.min(CALM_MS_MAX, Math.max(CALM_MS, endedAt - beganAt)));
}

/** Which processes were stopped or away then: clients that wait for one of them are late by that. */
function stopped({ place: { fleet } }: Scene): string {
  const names = fleet.members.filter((member) => !member.isUp()).map(({ name }) => name);
  return names.length === 0 ? "" : ` without ${names.join(", ")}`;
}

/** Kills one process after the other, as long as another of its kind is up. */
async function killing({ place: { fleet }, draw }: Scene, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(KILL_EVERY_MS / 2 + draw(KILL_EVERY_MS));
    const victim = fleet.members[draw(fleet.members.length)] as Member;
    if (!areAllUp(fleet.members, victim)) continue;
    await victim.kill();
    counts.kills += 1;
  }
}

/** Both processes of that kind: with one away and the other stopped for long, no service can be back. */
function areAllUp(members: readonly Member[], { role }: Member): boolean {
  return members.every((member) => member.role !== role || member.isUp());
}

/** Stops a process for longer than a worker's lock lasts, as long as another of its kind is up. */
async function freezing({ place: { fleet }, draw }: Scene, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(10_000 + draw(20_000));
    if (isOver()) return;
    const member = fleet.members[draw(fleet.members.length)] as Member;
    if (!areAllUp(fleet.members, member)) continue;
    member.freeze();
    await pause(FREEZE_MS);
    member.thaw();
    counts.freezes += 1;
  }
}

/** Waits until every star has its message, with no fault left. */
async function settle(place: Place): Promise<void> {
  await place.clock.jump(PAST_TRANSACTIONS_MS);
  await until(
    "every star is published",
    async () => {
      const [row] = await patiently(
        () => place.sql`select count(*) as waiting from outbox where state <> 'published'`,
      );
      return row?.waiting === 0;
    },
    SETTLED_WITHIN_MS,
  ).catch((error: Error) => say(error.message));
}

async function check({ sql, ledger: { place } }: Place): Promise<Checked> {
  const [event, asset] = await Promise.all([
    readTopic(place.mirrorUrl, place.topics.event),
    readTopic(place.mirrorUrl, place.topics.asset),
  ]);
  const { acknowledged, givenUp, violations } = judge({
    history: readHistory(join(folder, "history.jsonl")),
    journal: await readJournal(sql),
    topics: { event, asset },
  });
  for (const { kind, what } of violations.slice(0, 30)) say(`${kind}: ${what}`);
  const byKind: Record<string, number> = {};
  for (const { kind } of violations) byKind[kind] = (byKind[kind] ?? 0) + 1;
  return { acknowledged, givenUp, messages: event.length + asset.length, violations: byKind };
}

function add(
  { calls, accepted, refused, late, slowestMs, errors }: Scene["voters"]["figures"],
  { fleet }: Place,
): void {
  counts.calls += calls;
  counts.accepted += accepted;
  counts.late += late;
  counts.slowestMs = Math.max(counts.slowestMs, slowestMs);
  counts.errors += errors.length;
  counts.ownEnds += fleet.ownEnds.length;
  const mistakes = fleet.mistakes();
  counts.mistakes += mistakes.length;
  for (const [code, times] of Object.entries(refused)) {
    counts.refused[code] = (counts.refused[code] ?? 0) + times;
  }
  const lines = [errors.slice(0, 10), fleet.ownEnds.slice(0, 20), mistakes.slice(0, 10)];
  for (const line of lines.flat()) say(line);
}

// The first one ends the faults early, and what happened until then is checked and counted.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    process.once(signal, () => process.exit(130));
  });
}

const unknown = values.only?.find((wanted) => FAULTS.every(({ name }) => name !== wanted));
if (values.report) say(reportOf(sums));
else if (unknown !== undefined) {
  say(`there is no fault ${unknown}; faults are ${FAULTS.map(({ name }) => name).join(", ")}`);
  process.exitCode = 2;
} else {
  const minutes = givenNumber("minutes", values.minutes);
  await run(minutes, Number(values.seed ?? Date.now() % 1_000_000));
}
