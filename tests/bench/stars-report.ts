import { availableParallelism } from "node:os";
import {
  atLeast,
  atMost,
  type Figures,
  type Goal,
  type Rival,
  type Spread,
  show,
  spreadOf,
  table,
} from "./report.ts";
import { OLDER } from "./stars.ts";

const ECHO = "echo 64 /s";
const APP_ECHO = "house 64 /s";
const TURN = "pgbench turn 64 /s";

/** Everything that was measured, every rate beside its ceilings of the same run. */
export function showStars(figures: Figures): string {
  const names = figures.names("/s").map((name) => name.replace(/ \/s$/, ""));
  const rows = names.map((name) => {
    const of = (what: string) => show(spreadOf(figures.of(`${name} ${what}`)));
    const ratio = (ceiling: string) => short(figures.ratio(`${name} /s`, ceiling).median);
    const connections = Number(/\d+$/.exec(name)?.[0] ?? 64);
    return [
      name,
      of("/s"),
      ratio(figures.has(`echo ${connections} /s`) ? `echo ${connections} /s` : ECHO),
      ratio(
        figures.has(`pgbench turn ${connections} /s`) ? `pgbench turn ${connections} /s` : TURN,
      ),
      of("p50 ms"),
      of("p99 ms"),
    ];
  });
  const costs = names
    .filter((name) => figures.has(`${name} server µs`))
    .map((name) => {
      const of = (what: string) => show(spreadOf(figures.of(`${name} ${what}`)));
      return [
        name,
        ...["server µs", "postgres µs", "client µs", "transactions", "wal syncs"].map(of),
        ...["batches", "slot", "claim"].map(of),
      ];
    });
  return [
    table(["", "per second", "× echo", "× turn", "p50 ms", "p99 ms"], rows),
    "Per accepted (or refused) star:",
    table(
      [
        ...["", "server CPU µs", "postgres CPU µs", "client CPU µs", "transactions", "WAL syncs"],
        ...["batches", "slot", "claim"],
      ],
      costs,
    ),
    ...ceilingOfFull(figures),
    ...againstOlder(figures, names),
  ].join("\n\n");
}

/** This commit by the older one, each round's figure by that of the round: rates, and CPU a star. */
function againstOlder(figures: Figures, names: readonly string[]): readonly string[] {
  const rows = names
    .filter((name) => figures.has(`${OLDER}${name} /s`))
    .map((name) => {
      const of = (what: string) =>
        show(figures.ratio(`${name} ${what}`, `${OLDER}${name} ${what}`));
      return [name, ...["/s", "p50 ms", "server µs", "postgres µs"].map(of)];
    });
  if (rows.length === 0) return [];
  const head = ["", "per second", "p50", "server CPU", "postgres CPU"];
  return ["This commit ÷ the older one:", table(head, rows)];
}

/**
 * What the goal of the full path can be at all on this machine: the mirror node, its Postgres and
 * the clients take their part of the cores for each star. By CPU time alone, so that whatever else
 * runs changes little; the mirror node and the service are one thread each.
 */
function ceilingOfFull(figures: Figures): readonly string[] {
  if (!figures.has("full cold 64 mirror µs")) return [];
  const median = (name: string) => spreadOf(figures.of(name)).median;
  const mirror = median("mirror pairs 64 mirror µs");
  const itsPostgres = median("mirror pairs 64 postgres µs");
  const others = mirror + itsPostgres + median("full cold 64 client µs");
  const server = median("full cold 64 server µs");
  const ours = server + median("full cold 64 postgres µs") - itsPostgres;
  const cores = availableParallelism();
  const share = (us: number) => ((cores * mirror) / us).toFixed(2);
  return [
    `Of the mirror node's pairs, ${mirror.toFixed(0)} µs of its CPU each, the full path can reach`,
    `× ${share(others)} on ${cores} cores if our part of a star cost nothing (${others.toFixed(0)} µs are not ours),`,
    `× ${share(others + ours)} with our ${ours.toFixed(0)} µs, and × ${(mirror / server).toFixed(2)} where the server is the one busy core.`,
  ];
}

function short(ratio: number): string {
  return Number.isNaN(ratio) ? "–" : ratio.toFixed(ratio < 0.1 ? 3 : 2);
}

/** Section by section what was wanted, G1 to G7. */
export function starGoals(figures: Figures): readonly Goal[] {
  const ratio = (name: string, ceiling: string) => figures.ratio(name, ceiling);
  const olderRatio = (name: string) => ratio(name, `${OLDER}${name}`);
  const value = (name: string) => spreadOf(figures.of(name));
  return [
    atLeast("G1 cold at 64 ÷ echo", 0.33, ratio("engine cold 64 /s", ECHO)),
    atLeast("G1 cold at 64 ÷ pgbench turn at 64", 0.75, ratio("engine cold 64 /s", TURN)),
    atLeast(
      "G2 cold at 64 ÷ one commit per star",
      2.5,
      ratio("engine cold 64 /s", "per star cold 64 /s"),
    ),
    atLeast(
      "   hot mint ÷ one commit per star",
      2.5,
      ratio("engine hot 64 /s", "per star hot 64 /s"),
    ),
    atLeast("   warm at 64 ÷ plain service", 1, ratio("engine warm 64 /s", "plain warm 64 /s")),
    atLeast("G3 hot mint ÷ cold, at 64", 0.9, ratio("engine hot 64 /s", "engine cold 64 /s")),
    atLeast("G4 repeated ÷ the app's echo", 0.4, ratio("engine repeated 64 /s", APP_ECHO)),
    atLeast("G4 exhausted ÷ the app's echo", 0.4, ratio("engine exhausted 64 /s", APP_ECHO)),
    atMost(
      "G5 idle p50 ÷ pgbench turn at 1",
      2.5,
      ratio("engine cold 1 p50 ms", "pgbench turn 1 p50 ms"),
    ),
    atMost(
      "G5 saturated p99 ÷ p50, at 64",
      2.5,
      ratio("engine cold 64 p99 ms", "engine cold 64 p50 ms"),
    ),
    atMost("G6 commits per star at 64", 0.08, value("engine cold 64 batches")),
    atMost("G6 commits per star at 256", 0.04, value("engine cold 256 batches")),
    atLeast(
      "G7 two processes ÷ one",
      0.95,
      ratio("two processes random 64 /s", "one process random 64 /s"),
    ),
    atMost("G7 lost compare-and-sets per star", 0.005, value("two processes random 64 slot")),
    atLeast("   cold at 64 ÷ the older commit", 1.6, olderRatio("engine cold 64 /s")),
    atLeast("   full path at 64 ÷ the older commit", 1.6, olderRatio("full cold 64 /s")),
    atMost("   cold at 64, server µs", 170, value("engine cold 64 server µs")),
    atMost("   full path at 64, server µs", 450, value("full cold 64 server µs")),
    atLeast("   one connection ÷ plain service", 1.1, ratio("engine cold 1 /s", "plain cold 1 /s")),
    atLeast(
      "   full path at 64 ÷ what the mirror node answers",
      0.6,
      ratio("full cold 64 /s", "mirror pairs 64 /s"),
    ),
    ...RIVALS.flatMap(([name, figure, ours, least]) =>
      least === undefined
        ? []
        : [atLeast(`   ${WORK[ours]} ÷ ${name}`, least, ratio(`${ours} /s`, `${figure} /s`))],
    ),
  ];
}

type Ours = "engine cold 64" | "engine hot 64";
const WORK = { "engine cold 64": "cold at 64", "engine hot 64": "hot mint" };

/** What a user could take instead, beside ours at the same work, and the goal where there is one. */
const RIVALS: readonly (readonly [name: string, figure: string, ours: Ours, least?: number])[] = [
  ["plain service, new wallets", "plain cold 64", "engine cold 64", 3.5],
  ["plain service, one item", "plain hot 64", "engine hot 64", 4.5],
  ["DBOS, new wallets", "dbos cold 64", "engine cold 64", 12],
  ["DBOS, one item", "dbos hot 64", "engine hot 64"],
  ["Restate, same answer", "restate same answer 64", "engine cold 64", 5],
  ["Restate, bare object", "restate bare object 64", "engine cold 64", 2.5],
  ["Restate, one hot key", "restate hot key 64", "engine hot 64", 20],
  ["pgbench, the turn without rules", "pgbench turn 64", "engine cold 64"],
];

/** Ours and what a user could take instead, at 64 connections; as far as it was measured. */
export function starRivals(figures: Figures): readonly Rival[] {
  const row = (name: string, figure: string, ours: Ours): Rival => {
    const of = (what: string) => figures.of(`${figure} ${what}`);
    return {
      name,
      isOurs: figure === ours,
      perSecond: spreadOf(of("/s")),
      p50Ms: spreadOf(of("p50 ms")),
      cpuUs: sumOf(of("server µs"), of("postgres µs")),
      times: figures.ratio(`${ours} /s`, `${figure} /s`),
    };
  };
  return [
    row("Starboard, new wallets", "engine cold 64", "engine cold 64"),
    row("Starboard, one item", "engine hot 64", "engine hot 64"),
    ...RIVALS.map(([name, figure, ours]) => row(name, figure, ours)),
  ].filter(({ perSecond }) => !Number.isNaN(perSecond.median));
}

/** Round by round. */
function sumOf(one: readonly number[], other: readonly number[]): Spread {
  return spreadOf(one.map((value, round) => value + (other[round] ?? 0)));
}
