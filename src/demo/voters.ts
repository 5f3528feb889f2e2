import type { DemoLedger, DemoWallet } from "../local/demo-ledger.ts";
import type { Logger } from "../log.ts";
import { every, type Service } from "../service.ts";

/** The public voting API, as any client uses it. */
export interface VotingClient {
  /** @returns the session's token */
  signIn(wallet: DemoWallet): Promise<string>;
  /** @returns the code of a refusal; none when the star was accepted */
  star(token: string, target: string): Promise<{ readonly code?: string | undefined }>;
}

const FIRST_PAUSE_MS = 6_000;
const PAUSE_MS_MAX = 600_000;
/** Often at first, then less and less: some 40 stars in the first 15 minutes. */
const CALMER = 1.04;
const REFUSALS_MAX = 5;

/**
 * Lets the demo's voters vote now and then, one at a time, until it is closed. What fails is
 * left until the next turn: a demo without voters is still a demo.
 *
 * @param given.targets such as `token/0.0.1001`, the more popular ones first
 * @param given.random from 0 to below 1; for tests
 */
export function startVoters(given: {
  readonly voters: DemoLedger["voters"];
  readonly targets: readonly string[];
  readonly client: VotingClient;
  readonly log: Logger;
  readonly random?: () => number;
}): Service {
  const { voters, targets, client, log, random = Math.random } = given;
  const tokens = new Map<string, string>();
  /** One voter signs in if need be, and stars what it may. */
  const vote = async (): Promise<void> => {
    const voter = voters[Math.floor(random() * voters.length)];
    if (voter === undefined) return;
    const token = tokens.get(voter.id) ?? (await client.signIn(voter));
    tokens.set(voter.id, token);
    for (let refusals = 0; refusals < REFUSALS_MAX; refusals += 1) {
      const target = targets[Math.floor(random() ** 2 * targets.length)];
      if (target === undefined) return;
      const { code } = await client.star(token, target);
      if (code === "INVALID_SESSION") tokens.delete(voter.id);
      // After this refusal alone another item helps.
      if (code !== "ALREADY_STARRED") return;
    }
  };
  let pauseMs = FIRST_PAUSE_MS / CALMER;
  const nextPauseMs = (): number => {
    pauseMs = Math.min(pauseMs * CALMER, PAUSE_MS_MAX);
    // Between a half and one and a half of it: people do not vote by the clock.
    return pauseMs * (0.5 + random());
  };
  return every(nextPauseMs, vote, {
    onFailure: (err) => log.debug({ err }, "a demo voter could not vote"),
  });
}
