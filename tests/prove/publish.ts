import { parseArgs } from "node:util";
import { FAILPOINT_MODES } from "../../src/failpoint.ts";
import { givenNumber } from "../support/given-number.ts";
import { allCases, caseNamed } from "./cases.ts";
import { openPublishWorld } from "./publish-world.ts";
import { type Outcome, runCases, tableOf } from "./run-cases.ts";
import { runTrouble, TROUBLES } from "./troubles.ts";
import { openVoteWorld } from "./vote-world.ts";

/**
 * Proves that each star has exactly one message, whatever happens on its way:
 *
 *     npm run prove:publish [-- --only pub.signed/kill/1 | two-owners] [--lanes 2]
 *
 * Every failpoint of voting and publishing × {killed, defect, hang, lost answer} × first, second,
 * … passing until there is none; then nodes, mirror node, Redis and workers in every trouble of
 * theirs, at the real SDK. After each case the topics are read from the mirror node and held
 * against the outbox (`check.ts`), and the product's own audit has to accept them (`auditor.ts`);
 * with rankings, where there is a web process. Exit status 1 when something did not hold, 2 when a
 * place was never passed.
 */
const { values } = parseArgs({
  options: { only: { type: "string" }, lanes: { type: "string", default: "2" } },
});

process.exitCode = await main();
// A world that failed may have left something open.
process.exit();

async function main(): Promise<number> {
  const { only } = values;
  const lanes = givenNumber("lanes", values.lanes);
  const trouble = TROUBLES.find(({ name }) => name === only);
  const chosen = only === undefined ? undefined : caseNamed(only);
  if (only !== undefined && trouble === undefined && chosen === undefined) {
    print(`there is no case ${only}; troubles are ${TROUBLES.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  const outcomes: Outcome[] = [];
  const run = async (part: "vote" | "publish"): Promise<void> => {
    const cases = chosen === undefined ? allCases(part) : [chosen];
    const open = part === "vote" ? openVoteWorld : openPublishWorld;
    // What is armed in this process for a vote is armed for all of it.
    const side = part === "vote" ? 1 : lanes;
    const options = { lanes: side, allHits: chosen === undefined, onOutcome: tell };
    outcomes.push(...(await runCases(cases, open, options)));
  };
  if (trouble === undefined) {
    if (chosen === undefined || !chosen.at.startsWith("vote.")) await run("publish");
    if (chosen === undefined || chosen.at.startsWith("vote.")) await run("vote");
    print(`\n${tableOf(outcomes, FAILPOINT_MODES)}\n`);
  }
  for (const each of TROUBLES.filter((one) => only === undefined || one === trouble)) {
    const outcome = await runTrouble(each);
    tell(outcome);
    outcomes.push(outcome);
  }
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  for (const { name } of failed) print(`FAILED ${name}`);
  print(`${outcomes.length - failed.length} of ${outcomes.length} cases held`);
  if (failed.length > 0) return 1;
  const passed = new Set(outcomes.map(({ at }) => at));
  const all = only === undefined ? [...allCases("publish"), ...allCases("vote")] : [];
  const wanted = new Set<string>([...all.map(({ at }) => at), ...(chosen ? [chosen.at] : [])]);
  const missed = [...wanted].filter((at) => !passed.has(at));
  for (const at of missed) print(`never passed: ${at}`);
  return missed.length === 0 ? 0 : 2;
}

function tell({ name, failure, seconds }: Outcome): void {
  const verdict = failure === undefined ? "held" : "FAILED";
  process.stderr.write(`${verdict} ${name} ${seconds.toFixed(1)} s\n`);
  if (failure === undefined) return;
  process.stderr.write(`${failure.message}\nnpm run prove:publish -- --only ${name}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
