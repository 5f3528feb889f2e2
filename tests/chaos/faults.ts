import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "redis";
import { DAY_MS } from "../../actors/day.ts";
import { childrenOf, until } from "../support/processes.ts";
import type { Member } from "./fleet.ts";
import { patiently } from "./place.ts";
import type { TcpProxy } from "./proxy.ts";
import { recoverJournal } from "./restore.ts";
import type { Scene } from "./scene.ts";
import type { Voter } from "./voters.ts";

/** A fault; it is over when `inject` resolves. */
export interface Fault {
  readonly name: string;
  /** How often it comes in a round of all. */
  readonly times: number;
  inject(scene: Scene): Promise<void>;
}

const CUTS = 4;
const CUT_EVERY_MS = 400;
const OUTAGE_MS = 5_000;
const BACK_WITHIN_MS = 120_000;
const HOUR_MS = 3_600_000;
const CLOCKS_OFF_MS = [-600_000, -30_000, 30_000, 600_000] as const;

/** Loaded into each process: its machine clock can be set. */
export const CLOCK_PRELOAD = new URL("./shifted-clock.mjs", import.meta.url);

/** Where no disk may be mounted, it cannot happen. */
export const DISK_FULL = "disk full";

export const FAULTS: readonly Fault[] = [
  {
    name: "postgres killed",
    times: 4,
    inject: (scene) => killPostgres(scene, () => scene.place.postgres.pid()),
  },
  {
    name: "postgres backend killed",
    times: 2,
    inject: async (scene) => {
      const [row] = await patiently(
        () => scene.place.sql<{ pid: number }[]>`
          select pid from pg_stat_activity where application_name = 'starboard'
            and pid <> pg_backend_pid() order by random() limit 1`,
      );
      await killPostgres(scene, () => row?.pid ?? scene.place.postgres.pid());
    },
  },
  { name: "postgres frozen", times: 1, inject: freezePostgres },
  { name: "postgres cut", times: 2, inject: (scene) => cut(scene, [scene.place.proxies.postgres]) },
  {
    name: "postgres' replies to commits kept back",
    times: 3,
    inject: (scene) => keepReplies(scene, [scene.place.proxies.postgres], "holdings_read_at"),
  },
  { name: "postgres silent", times: 1, inject: ({ place }) => silence([place.proxies.postgres]) },
  { name: "redis flushed", times: 4, inject: flush },
  { name: "redis killed, back empty", times: 1, inject: killRedis },
  { name: "redis cut", times: 1, inject: (scene) => cut(scene, [scene.place.proxies.redis]) },
  { name: "redis silent", times: 1, inject: ({ place }) => silence([place.proxies.redis]) },
  { name: "nodes cut", times: 1, inject: (scene) => cut(scene, scene.place.proxies.nodes) },
  {
    name: "nodes' replies kept back",
    times: 1,
    inject: (scene) => keepReplies(scene, scene.place.proxies.nodes, "submitMessage"),
  },
  { name: "nodes silent", times: 1, inject: ({ place }) => silence(place.proxies.nodes) },
  { name: "mirror cut", times: 1, inject: (scene) => cut(scene, [scene.place.proxies.mirror]) },
  { name: "mirror silent", times: 1, inject: ({ place }) => silence([place.proxies.mirror]) },
  { name: "postgres' clock off", times: 1, inject: skewPostgres },
  { name: "a process' clock off", times: 2, inject: shiftProcess },
  { name: "midnight", times: 1, inject: midnight },
  { name: "NFTs move", times: 1, inject: moveNfts },
  { name: DISK_FULL, times: 1, inject: fillDisk },
  {
    name: "restored under running processes",
    times: 1,
    inject: (scene) => restore(scene, { live: true }),
  },
  { name: "restored by the runbook", times: 1, inject: (scene) => restore(scene, { live: false }) },
  { name: "rolling restart", times: 1, inject: rollingRestart },
];

/** All faults as often as they come in a round, in an order of the seed's. */
export function roundOf(draw: Scene["draw"]): readonly Fault[] {
  const round = FAULTS.flatMap((fault) => Array.from({ length: fault.times }, () => fault));
  for (let left = round.length; left > 1; left -= 1) {
    const other = draw(left);
    [round[left - 1], round[other]] = [round[other] as Fault, round[left - 1] as Fault];
  }
  return round;
}

/** Over when Postgres takes statements again. */
async function killPostgres({ place, counts }: Scene, victim: () => number): Promise<void> {
  signal(victim(), "SIGKILL");
  counts.postgresKills += 1;
  await pause(100);
  await patiently(() => place.sql`select 1`);
}

async function freezePostgres({ place }: Scene): Promise<void> {
  const postmaster = place.postgres.pid();
  const all = [postmaster, ...childrenOf(postmaster)];
  for (const pid of all) signal(pid, "SIGSTOP");
  await pause(OUTAGE_MS);
  for (const pid of all) signal(pid, "SIGCONT");
}

async function cut({ counts }: Scene, proxies: readonly TcpProxy[]): Promise<void> {
  for (let n = 0; n < CUTS; n += 1) {
    const connections = proxies.reduce((sum, proxy) => sum + proxy.cut(), 0);
    if (connections > 0) counts.cuts += 1;
    await pause(CUT_EVERY_MS);
  }
}

async function keepReplies(
  { counts }: Scene,
  proxies: readonly TcpProxy[],
  to: string,
): Promise<void> {
  const kept = (): number => proxies.reduce((sum, proxy) => sum + proxy.repliesKept(), 0);
  const before = kept();
  for (const proxy of proxies) proxy.keepReplies(to);
  await pause(CUTS * CUT_EVERY_MS);
  for (const proxy of proxies) proxy.pass();
  counts.cuts += kept() - before;
}

async function silence(proxies: readonly TcpProxy[]): Promise<void> {
  for (const proxy of proxies) proxy.swallow();
  await pause(OUTAGE_MS);
  for (const proxy of proxies) proxy.pass();
}

async function flush({ place, counts }: Scene): Promise<void> {
  const client = createClient({ url: place.redis.url });
  client.on("error", () => undefined);
  await client.connect();
  await client.flushAll();
  counts.flushes += 1;
  client.destroy();
}

async function killRedis({ place }: Scene): Promise<void> {
  rmSync(join(place.folder, "redis/data/appendonlydir"), { recursive: true, force: true });
  const before = place.redis.pid();
  signal(before, "SIGKILL");
  await until("redis is back", () => place.redis.pid() !== before, BACK_WITHIN_MS);
}

async function skewPostgres({ place, draw }: Scene): Promise<void> {
  const ms = CLOCKS_OFF_MS[draw(CLOCKS_OFF_MS.length)] ?? 0;
  const day = (at: number): number => Math.floor(at / DAY_MS);
  const now = place.clock.now();
  // Not back over midnight: a day that is over stays over.
  if (day(now) !== day(now + ms)) return;
  await place.clock.skew(ms);
  await pause(OUTAGE_MS);
  await place.clock.skew(0);
}

/** It stays so: a process has to live with the clock that its machine has. */
async function shiftProcess({ place, draw }: Scene): Promise<void> {
  const { members } = place.fleet;
  const member = members[draw(members.length)];
  if (member) shiftClock(member, CLOCKS_OFF_MS[draw(CLOCKS_OFF_MS.length)] ?? 0);
}

/** Sets a process' machine clock off by so much. */
export function shiftClock({ preloadFile }: Member, ms: number): void {
  writeFileSync(preloadFile, String(ms));
}

/** Ledger and database come to three seconds before midnight, and live through it under votes. */
async function midnight({ place }: Scene): Promise<void> {
  const now = place.clock.now();
  await place.clock.jump((Math.floor(now / DAY_MS) + 1) * DAY_MS - 3_000 - now);
  await pause(OUTAGE_MS);
}

/** So long before and after it that no reading can have met an NFT on its way. */
async function moveNfts({ place, voters, wallets, draw }: Scene): Promise<void> {
  await voters.hold();
  await place.clock.jump(HOUR_MS);
  const holders = wallets.filter(({ A, B }) => A.length + B.length > 0);
  for (let n = 0; n < 6 && holders.length > 0; n += 1) {
    const from = holders[draw(holders.length)] as Voter;
    const to = wallets[draw(wallets.length)] as Voter;
    const collection = from.A.length > 0 ? "A" : "B";
    const serial = (from[collection] as number[]).pop();
    if (serial === undefined || from === to) continue;
    await place.ledger.order({ do: "transfer", collection, serial, to: to.id });
    (to[collection] as number[]).push(serial);
  }
  await place.clock.jump(HOUR_MS);
  voters.release();
}

/** Over when Postgres takes statements again: it stops where it cannot write its log. */
async function fillDisk({ place: { disk, sql } }: Scene): Promise<void> {
  disk?.fill();
  await pause(OUTAGE_MS);
  disk?.empty();
  await patiently(() => sql`select 1`);
}

async function restore(scene: Scene, { live }: { live: boolean }): Promise<void> {
  const { counts } = scene;
  await recoverJournal(scene, { live });
  counts.restores += 1;
}

/** Moves one process after the other to the other build: both builds run side by side meanwhile. */
async function rollingRestart({ place: { fleet } }: Scene): Promise<void> {
  const [one, next] = fleet.builds;
  const build = (fleet.members[0] as Member).version() === one.version ? next : one;
  for (const member of fleet.members) {
    await member.restart(build);
    await until(`${member.name} is back`, member.isUp, BACK_WITHIN_MS);
  }
}

/** One that has ended already needs no signal. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
