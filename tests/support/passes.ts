/** A paid pass for one season: half-open, epoch milliseconds. */
export interface PremiumPass {
  readonly seasonId: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The season of the pass in force at an instant, as the journal's select gives it; null: none. */
export function seasonAt(at: number, passes: readonly PremiumPass[]): string | null {
  const pass = passes.find(({ startsAt, endsAt }) => startsAt <= at && at < endsAt);
  return pass?.seasonId ?? null;
}
