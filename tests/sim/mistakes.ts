import { readFileSync } from "node:fs";
import { join } from "node:path";

type Change = readonly [file: string, from: string, to: string];

/** A way to break the service: in a file, a text that stands there once and what stands there instead. */
export interface Mistake {
  readonly name: string;
  readonly changes: readonly Change[];
}

const mistake = (name: string, ...changes: readonly Change[]): Mistake => ({ name, changes });

/** What the simulation has to notice; docs/proofs.md names each. */
export const mistakes: readonly Mistake[] = [
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
  mistake("a gap in a topic is skipped", [
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

/**
 * The files of a project that a mistake changes, with their broken text.
 *
 * @throws Error where a text that it replaces is not in its file, or stands there twice
 */
export function brokenFiles({ name, changes }: Mistake, tree: string): ReadonlyMap<string, string> {
  const broken = new Map<string, string>();
  for (const [file, from, to] of changes) {
    const text = broken.get(file) ?? readFileSync(join(tree, file), "utf8");
    if (text.split(from).length !== 2)
      throw new Error(`${name}: ${file} does not hold once: ${from}`);
    broken.set(
      file,
      text.replace(from, () => to),
    );
  }
  return broken;
}
