/**
 * Goal: the simulation can fail. Method: break the service one way at a time in a copy of the
 * project, and simulate until a promise is broken. Run by
 * `npm run prove:sim-can-fail [-- --only TEXT] [--seeds 200]`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** A mistake: in a file, a text that stands there once and what stands there instead. */
interface Mistake {
  readonly name: string;
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
}

const mistake = (
  name: string,
  ...changes: readonly (readonly [file: string, from: string, to: string])[]
): Mistake => ({ name, changes });

const mistakes: readonly Mistake[] = [
  mistake("a star is acknowledged before its commit", [
    "src/journal/group-commit.ts",
    "        waiting.push({",
    '        resolve({ kind: "stored", totalVotes: 1_000_000 });\n        waiting.push({',
  ]),
  mistake("a message that got no answer is sent under a new id", [
    "src/publishing/publish-star.ts",
    '    return { kind: "send", attempt: counted };\n  }\n  lane.gate.passed();',
    '    await giveUp(outbox, counted, { outcome: "absent", evidence: "" });\n    return { kind: "new id" };\n  }\n  lane.gate.passed();',
  ]),
  mistake(
    "DUPLICATE counts as done",
    [
      "src/publishing/publish-star.ts",
      "  lane.follower.poke();",
      '  if (outcome.kind === "refused") {\n    const done = { status: "SUCCESS", sequenceNumber: null, runningHash: null };\n    await storeReceipt(outbox, counted, done);\n  }\n  lane.follower.poke();',
    ],
    [
      "src/publishing/publish-star.ts",
      "LeaseLost, reserveId, storeSigned }",
      "LeaseLost, reserveId, storeReceipt, storeSigned }",
    ],
  ),
  mistake(
    "a snapshot is believed, whatever its version",
    [
      "src/hosting/snapshots.ts",
      "return stars !== null && stars.length === version.used && isAt(version, stars) ? stars : null;",
      "return isAt(version, []) ? null : stars;",
    ],
    ["src/hosting/host.ts", "isProved: false }));", "isProved: true }));"],
  ),
  mistake("a refusal is not read again from the journal", [
    "src/voting/cast-star.ts",
    "if (isProved && state.context.stars.length === version.used) return refusal;",
    "if (isProved || version.used >= 0) return refusal;",
  ]),
  mistake("stars are dated by the machine's clock", [
    "src/clock.ts",
    "const at = Math.floor(performance.now() + offsetMs);",
    "const at = Date.now() + 0 * offsetMs;",
  ]),
  mistake("stars are sent before the topics are known", [
    "src/publishing/topic-knowledge.ts",
    "if (database === undefined || !read.has(kind)) return undefined;",
    "if (database === undefined) return undefined;",
  ]),
  mistake(
    "a claim is not unique",
    [
      "tests/sim/journal/votes.ts",
      'return type === "event" && !star.is_forever_mint && isTaken ? "claim" : null;',
      'return isTaken && slot < 0 ? "claim" : null;',
    ],
    [
      "tests/sim/journal/votes.ts",
      "if (this.#tables.claims.has(key) || this.#claims.has(key) || (isBonus && isCarrying)) {",
      "if (isBonus && isCarrying && serialOf(key) < 0) {",
    ],
    [
      "tests/sim/journal/votes.ts",
      "/** The message of an accepted star, pending. */",
      "const serialOf = (key: string): number => key.length;\n/** The message of an accepted star, pending. */",
    ],
  ),
  mistake("a pass that ended still counts at the commit", [
    "tests/sim/journal/votes.ts",
    'if (tables.passInForce(wallet, at) !== star.season_id) return "pass";',
    "",
  ]),
  mistake("a key is not bound", [
    "src/hosting/propose.ts",
    "idempotency: intent.idempotency?.bind(star) ?? null,",
    "idempotency: intent.idempotency === null ? null : null,",
  ]),
  mistake("a mirror node that fails gives a base weight", [
    "src/holdings/read-holdings.ts",
    "    } catch (error) {\n",
    "    } catch (error) {\n      if (error !== undefined) return { collectionA: [], collectionB: [], readAt };\n",
  ]),
  mistake("a gap in a topic is read over", [
    "src/publishing/topic-follower.ts",
    "const sound = hasGap ? messages.slice(0, gap) : messages;",
    "const sound = messages;",
  ]),
  mistake(
    "an id is given up while it may still land",
    [
      "src/publishing/prove-absence.ts",
      "const needed = validUntil + QUIET_MARGIN;",
      "const needed = validUntil - 2n * QUIET_MARGIN;",
    ],
    [
      "src/publishing/settle.ts",
      "const isOver = attempt.signed === null || clock.now() > attempt.signed.validUntil;",
      "const isOver = attempt.receipt === null;",
    ],
  ),
  mistake("what an older copy of the journal sent is not adopted", [
    "tests/sim/journal/publishing.ts",
    "const adopted = adopt({ topicId, payer }, said, journal);",
    "const adopted = adopt({ topicId, payer }, said.slice(0, 0), journal);",
  ]),
  mistake("a dump of before the first worker is taken for no copy", [
    "tests/sim/journal/publishing.ts",
    "if (tables.stars.size === 0) tables.home ??= identity;",
    "if (tables.stars.size < 0) tables.home ??= identity;",
  ]),
  mistake(
    "a wallet in memory is decided at the instant of an older reading of its pass",
    [
      "src/hosting/host.ts",
      "remember({ state, isProved: true });",
      "remember({ state, isProved: true, readAt } as HostedWalletDay);",
    ],
    [
      "src/hosting/turn.ts",
      "host.keep(key, { state, isProved: hosted.isProved });",
      "host.keep(key, { ...hosted, state });",
    ],
    [
      "src/hosting/turn.ts",
      "return { state: underPass(known.state, seasonId), isProved: known.isProved, readAt };",
      "return { readAt, ...known, state: underPass(known.state, seasonId) };",
    ],
    [
      "src/hosting/turn.ts",
      "{ ...restedOn(now), seasonId: seasonThen }",
      "{ ...restedOn(now), seasonId: seasonThen && now.state.context.seasonId, ...restedOn(now) }",
    ],
  ),
  mistake(
    "the daily check takes what it cannot read for lost",
    [
      "src/upkeep/holdings-check/readings.ts",
      "return inconclusive(error);\n  }\n  if (seen.size === 0)",
      "if (error === null) return inconclusive(error);\n  }\n  if (seen.size < 0)",
    ],
    [
      "src/upkeep/holdings-check/readings.ts",
      "return inconclusive(error);\n  } finally {",
      "return { owner: null, deleted: false, readAt, changedAt: null };\n  } finally {",
    ],
  ),
  mistake("the daily check keeps what was sold", [
    "src/upkeep/holdings-check/verify.ts",
    "if (holderOf(own) === wallet) {",
    'if (holderOf(own) !== wallet) return "held";\n  if (holderOf(own) === wallet) {',
  ]),
  mistake("the +5 goes though another NFT of its wallet carries it on", [
    "actors/nft-accounting.ts",
    "const held = end.b === null ? [] : (losses[index]?.heldB ?? []);",
    "const held = end.b === null ? [] : (losses[index]?.heldB ?? []).slice(0, 0);",
  ]),
  mistake("a sending is not fenced by the database", [
    "tests/sim/journal/publishing.ts",
    "return known === identity && epoch !== null && tables.epochs.has(epoch);",
    "return known !== identity || epoch === null || tables.epochs.size > 0;",
  ]),
];

const { values } = parseArgs({
  options: { only: { type: "string" }, seeds: { type: "string", default: "200" } },
});
const VOTES_A_SEED = 300;
const ROOT = join(import.meta.dirname, "../..");
const SEEN = /--seed (\d+) --votes/;

process.exitCode = main();

function main(): number {
  const chosen = mistakes.filter(({ name }) => name.includes(values.only ?? ""));
  let unseen = 0;
  for (const each of chosen) {
    const seen = firstSeed(each);
    if (seen === undefined) unseen += 1;
    console.log(`${each.name}: ${seen ?? `not seen in ${values.seeds} seeds`}`);
  }
  console.log(`${chosen.length - unseen} of ${chosen.length} seen`);
  return unseen === 0 ? 0 : 1;
}

/** @returns after how many seeds, and by which promise; undefined when never */
function firstSeed({ changes }: Mistake): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "starboard-broken-"));
  try {
    for (const part of [
      "src",
      "actors",
      "tests/sim",
      "tests/support",
      "package.json",
      "tsconfig.json",
    ]) {
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const [file, from, to] of changes) change(join(folder, file), from, to);
    const votes = String(VOTES_A_SEED * Number(values.seeds));
    const given = ["--seeds", values.seeds, "--votes", votes, "--failures", "1", "--forget"];
    const run = ["--import", "tsx", join(folder, "tests/sim/run.ts"), ...given];
    const { stdout, stderr } = spawnSync(process.execPath, run, { cwd: folder, encoding: "utf8" });
    const seed = SEEN.exec(stdout)?.[1];
    if (seed === undefined)
      return stdout.includes("0 violations\n") ? undefined : stderr.slice(-2_000);
    const promise = stdout.split("\n").find((line) => /^(P\d+|defect):/.test(line));
    return `seen in seed ${seed}: ${promise?.slice(0, 100)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function change(path: string, from: string, to: string): void {
  const text = readFileSync(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`${path} does not hold once: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
}
