import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { givenNumber } from "../support/given-number.ts";
import { onTrace } from "./trace.ts";
import { simulate } from "./world.ts";

/**
 * Simulates the service under faults, seed after seed:
 *
 *     npm run prove:sim -- --seeds 1000 --votes 1000000     # a thousand worlds, from seed 1 on
 *     npm run prove:sim -- --seed 17 --votes 1000           # the world of seed 17 again
 *     npm run prove:sim -- --seed 17 --votes 1000 --trace   # every step of it, on standard error
 *
 * `--votes` are shared out over the seeds. A seed that fails is written into `tests/sim/seeds.txt`,
 * whose seeds every run of the suite tries again. A signal ends the run after the seed under way,
 * with its sums. Exit status 1 when a promise was broken, 2 when no star came to its end.
 */

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1" },
    votes: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
    forget: { type: "boolean", default: false },
    failures: { type: "string", default: "5" },
  },
});

const SAY_EVERY_MS = 10_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const [seeds, first] = [givenNumber("seeds", values.seeds), givenNumber("seed", values.seed, 0)];
  const votes = Math.ceil(givenNumber("votes", values.votes) / seeds);
  if (values.trace) onTrace((text) => process.stderr.write(`${text}\n`));
  let isStopped = false;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      isStopped = true;
    });
  }
  const startedAt = performance.now();
  let saidAt = startedAt;
  const sum = {
    seeds: 0,
    votes: 0,
    accepted: 0,
    published: 0,
    steps: 0,
    worldMs: 0,
    violations: 0,
  };
  const faults = new Map<string, number>();
  for (let seed = first; seed < first + seeds && !isStopped; seed += 1) {
    const outcome = await simulate(seed, votes);
    sum.seeds += 1;
    for (const key of ["votes", "accepted", "published", "steps", "worldMs"] as const) {
      sum[key] += outcome[key];
    }
    for (const [kind, count] of outcome.faults) faults.set(kind, (faults.get(kind) ?? 0) + count);
    if (outcome.violation !== null) {
      sum.violations += 1;
      report(seed, votes, outcome.violation);
    }
    if (sum.violations >= Number(values.failures)) break;
    if (seeds === 1) console.log(`trace ${outcome.trace}`);
    if (performance.now() - saidAt < SAY_EVERY_MS) continue;
    saidAt = performance.now();
    console.log(`${sum.seeds} seeds, ${sum.votes} votes, ${sum.violations} violations`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = process.cpuUsage();
  for (const [kind, count] of [...faults].sort())
    console.log(`${String(count).padStart(9)} ${kind}`);
  console.log(
    `${sum.seeds} seeds, ${sum.votes} votes (${sum.accepted} accepted, ${sum.published} published), ` +
      `${sum.steps} steps, ${Math.round(sum.worldMs / 3_600) / 1_000} hours of the world, ` +
      `${sum.violations} violations`,
  );
  console.log(
    `${seconds.toFixed(1)} s, ${((cpu.user + cpu.system) / 1e6).toFixed(1)} s of CPU, ` +
      `${Math.round(sum.votes / seconds)} votes/s`,
  );
  if (sum.violations > 0) return 1;
  return sum.published > 0 ? 0 : 2;
}

function report(seed: number, votes: number, { message }: Error): void {
  console.log(`${message}\nnpm run prove:sim -- --seed ${seed} --votes ${votes}`);
  const file = join(import.meta.dirname, "seeds.txt");
  const line = `${seed} ${votes}`;
  if (values.forget || readFileSync(file, "utf8").split("\n").includes(line)) return;
  appendFileSync(file, `${line}\n`);
}
