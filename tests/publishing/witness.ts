import type { EpochWitness } from "../../src/store/database-identity.ts";

/** Remembers as Redis does. */
export function witness(): EpochWitness {
  let kept: Awaited<ReturnType<EpochWitness["recall"]>>;
  return {
    recall: async () => kept,
    keep: async (database) => {
      kept = database;
    },
  };
}

/** A Redis that is away. */
export const forgetful: EpochWitness = {
  recall: async () => undefined,
  keep: async () => undefined,
};
