import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { actorGoals, benchActors, showActors } from "./actors.ts";
import { checkOut, compile } from "./checkout.ts";
import { profilesIn } from "./children.ts";
import { describeMachine } from "./machine.ts";
import { type Bench, type Options, startBench } from "./measure.ts";
import { hotspotsOf, showHotspots } from "./profile.ts";
import { benchPublish, publishGoals, showPublish } from "./publish.ts";
import { benchReads, readGoals, showReads } from "./reads.ts";
import { type Goal, goalTable, type Rival, unjudged } from "./report.ts";
import { benchScale, scaleGoals, showScale } from "./scale.ts";
import { benchStars } from "./stars.ts";
import { showStars, starGoals, starRivals } from "./stars-report.ts";
import { writeDocs } from "./write-docs.ts";

/**
 * Measures, as ratios against ceilings of the same run; asserts nothing.
 *
 *     npm run bench -- stars|actors|publish|reads|scale [--rounds 3] [--seconds 8] [--quick] [--json]
 *                      [--only engine,plain] [--profile] [--against <commit or checkout>]
 *                      [--peers] [--write]
 *
 * `--peers` measures stars beside what a user could take instead; the packages of that are installed
 * for it, apart from the product's. `--write` puts the goals, and a picture of them, into docs/benchmarks.md.
 * Real servers, thrown away at the end: a durable Postgres and a Redis. What is measured runs
 * compiled and in processes of its own, the clients in another. Progress goes to standard
 * error, the result to standard output.
 */
const { values, positionals } = parseArgs({
  options: {
    rounds: { type: "string" },
    seconds: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    only: { type: "string" },
    profile: { type: "boolean", default: false },
    against: { type: "string" },
    peers: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

interface Benchmark {
  readonly run: (bench: Bench) => Promise<void>;
  readonly show: (figures: Bench["figures"]) => string;
  readonly goals: (figures: Bench["figures"]) => readonly Goal[];
  readonly rivals?: (figures: Bench["figures"]) => readonly Rival[];
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  stars: { run: benchStars, show: showStars, goals: starGoals, rivals: starRivals },
  actors: { run: benchActors, show: showActors, goals: actorGoals },
  publish: { run: benchPublish, show: showPublish, goals: publishGoals },
  reads: { run: benchReads, show: showReads, goals: readGoals },
  scale: { run: benchScale, show: showScale, goals: scaleGoals },
};

process.exitCode = await main();

async function main(): Promise<number> {
  const [name = ""] = positionals;
  const benchmark = BENCHMARKS[name];
  if (benchmark === undefined || positionals.length !== 1) {
    process.stderr.write(`which one: ${Object.keys(BENCHMARKS).join(", ")}?\n`);
    return 2;
  }
  if (values.quick && values.write) {
    process.stderr.write("figures of --quick count for nothing, so --write does not keep them\n");
    return 2;
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  // The servers run as they would in production: compiled, not translated while they load.
  compile();
  const machine = describeMachine();
  const bench = await startBench(await readOptions());
  try {
    await benchmark.run(bench);
  } finally {
    await bench.close();
    bench.options.against?.close();
  }
  const after = { loadAfter: loadavg() };
  const measured = benchmark.goals(bench.figures);
  const goals = values.quick ? unjudged(measured) : measured;
  if (values.json) {
    const result = { benchmark: name, machine: { ...machine, ...after }, goals };
    print(JSON.stringify({ ...result, figures: bench.figures.asJson() }, null, 2));
  } else {
    print(
      Object.entries({ ...machine, ...after })
        .map(([what, is]) => `${what} ${is}`)
        .join(" · "),
    );
    print(`\n${benchmark.show(bench.figures)}\n\n${goalTable(goals)}`);
  }
  if (values.write) {
    const words = process.argv.slice(2).filter((word) => word !== "--write");
    const { cores, memoryGiB, node, commit, loadBefore } = machine;
    const load = [loadBefore[0], after.loadAfter[0]].map((each) => each?.toFixed(1)).join(" to ");
    writeDocs({
      name,
      machine: `${cores} cores, ${memoryGiB} GiB, Node ${node}, commit ${commit}, load ${load}`,
      command: `npm run bench -- ${words.join(" ")}`,
      goals,
      rivals: benchmark.rivals?.(bench.figures) ?? [],
    });
  }
  showProfiles(bench.options.profileInto);
  return 0;
}

async function readOptions(): Promise<Options> {
  const { quick, profile, only, against, peers } = values;
  const profileInto = profile ? join(tmpdir(), `starboard-profiles-${process.pid}`) : undefined;
  if (profileInto !== undefined) mkdirSync(profileInto, { recursive: true });
  return {
    quick,
    only,
    peers,
    against: against === undefined ? undefined : await checkOut(against),
    profileInto,
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    seconds: Number(values.seconds ?? (quick ? 1 : 8)),
  };
}

function showProfiles(folder: string | undefined): void {
  if (folder === undefined || !existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = profilesIn(join(folder, name)).at(-1);
    if (file !== undefined) process.stderr.write(`\n${file}\n${showHotspots(hotspotsOf(file))}\n`);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
