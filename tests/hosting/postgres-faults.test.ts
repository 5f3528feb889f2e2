/**
 * Goal: whatever happens to Postgres under votes, an acknowledged star is stored, and a voter
 * without an answer gets the outcome by the same key. Method: two engines on a Postgres of their
 * own, which is killed, or stopped for longer than a star may take, while forty wallets vote.
 */
import * as assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { suite } from "uvu";
import { type LocalPostgres, startPostgres } from "../../src/local/postgres.ts";
import { processIdentity } from "../../src/local/process-identity.ts";
import { migrate } from "../../src/store/migrate.ts";
import type { CastResult } from "../../src/voting/cast-star.ts";
import { bodyOf, type Engine, seedDirectory, startEngine, verdictOf } from "../support/engine.ts";
import { temporaryFolder } from "../support/folder.ts";
import { patiently } from "../support/patiently.ts";
import { childrenOf } from "../support/processes.ts";

const WALLETS = Array.from({ length: 40 }, (_, n) => `0.0.${700 + n}`);
/** One more than a free day has. */
const STARS_EACH = 6;

interface Stage {
  postgres: LocalPostgres;
  engines: readonly [Engine, Engine];
  close: () => Promise<void>;
}

const test = suite<Stage>("postgres-faults");

test.before.each(async (context) => {
  const dataDir = temporaryFolder("postgres-faults");
  const postgres = await startPostgres({ dataDir });
  await migrate(postgres.url);
  const engines = [await startEngine(postgres.url), await startEngine(postgres.url)] as const;
  await seedDirectory(engines[0].sql);
  Object.assign(context, {
    postgres,
    engines,
    close: async () => {
      await Promise.all(engines.map((engine) => engine.close()));
      await postgres.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
});
test.after.each((context) => context.close());

/** Repeats a star under its key until it is settled, by one engine and the other. */
function castUntilSettled(
  engines: Stage["engines"],
  [wallet, n]: readonly [wallet: string, n: number],
): Promise<CastResult> {
  let attempt = n;
  return patiently(() =>
    (engines[attempt++ % 2] as Engine).cast(wallet, `token/0.0.${9001 + n}`, `${wallet} ${n}`),
  );
}

/** All wallets vote at once, each one star after the other; `onAccepted` gets the count so far. */
async function voteAll(engines: Stage["engines"], onAccepted: (count: number) => void) {
  const acknowledged: { id: string; weight: number }[] = [];
  const refusals: string[] = [];
  const vote = async (wallet: string): Promise<void> => {
    for (let n = 0; n < STARS_EACH; n += 1) {
      const result = await castUntilSettled(engines, [wallet, n]);
      if (result.kind === "refused") refusals.push(verdictOf(result));
      else onAccepted(acknowledged.push(bodyOf(result).star));
    }
  };
  await Promise.all(WALLETS.map(vote));
  return { acknowledged, refusals };
}

async function assertTrue(
  { engines }: Stage,
  { acknowledged, refusals }: Awaited<ReturnType<typeof voteAll>>,
) {
  const rows = await engines[0].sql<{ id: string; weight: number; wallet: number; slot: number }[]>`
    select id::text, weight, wallet, slot from star order by wallet, slot`;
  const named = (all: readonly { id: string; weight: number }[]) =>
    all.map(({ id, weight }) => `${id} weighs ${weight}`);
  const [answered, stored] = [named(acknowledged), named(rows)];
  assert.deepEqual(
    {
      lost: answered.filter((star) => !stored.includes(star)),
      unacknowledged: stored.filter((star) => !answered.includes(star)),
      acknowledgedTwice: answered.filter((star, place) => answered.indexOf(star) < place),
    },
    { lost: [], unacknowledged: [], acknowledgedTwice: [] },
  );
  const slots = WALLETS.flatMap(() => [1, 2, 3, 4, 5]);
  assert.deepEqual(
    rows.map(({ slot }) => slot),
    slots,
  );
  assert.deepEqual(
    refusals,
    WALLETS.map(() => "ALLOWANCE_EXHAUSTED"),
  );
  assert.deepEqual(
    engines.flatMap(({ contradictions }) => contradictions),
    [],
  );
}

test("Postgres is killed with SIGKILL under votes: acknowledged stars are stored, lost answers are looked up (A4 pg-crash, P1, P2)", async (stage) => {
  const kills = [30, 80, 130];
  const killed = new Set<number>();
  const votes = await voteAll(stage.engines, (count) => {
    if (count < (kills[killed.size] ?? Number.POSITIVE_INFINITY)) return;
    const pid = stage.postgres.pid();
    // Stars in hand are answered after a kill too: the next one waits for a Postgres that runs.
    if (killed.has(pid) || processIdentity(pid) === undefined) return;
    process.kill(pid, "SIGKILL");
    killed.add(pid);
  });
  assert.equal(killed.size, kills.length);
  await assertTrue(stage, votes);
});

test("Postgres is frozen for longer than a star may take: 503, and a retry gets the outcome (A5 pg-stall, P17)", async (stage) => {
  let stopped: readonly number[] = [];
  const refused: string[] = [];
  const stall = async (): Promise<void> => {
    const postmaster = stage.postgres.pid();
    stopped = [postmaster, ...childrenOf(postmaster)];
    for (const pid of stopped) process.kill(pid, "SIGSTOP");
    // Each ends by its own deadline, long before Postgres goes on.
    const asked = WALLETS.map((wallet) =>
      stage.engines[0]
        .cast(wallet, "token/0.0.9001", `${wallet} 0`)
        .then(verdictOf, ({ code }) => code),
    );
    refused.push(...(await Promise.all(asked)));
    for (const pid of stopped) process.kill(pid, "SIGCONT");
  };
  let stalled: Promise<void> | undefined;
  const votes = await voteAll(stage.engines, (count) => {
    if (count === 60) stalled = stall();
  });
  await stalled;
  assert.deepEqual(new Set(refused), new Set(["UNAVAILABLE"]));
  await assertTrue(stage, votes);
});

test.run();
