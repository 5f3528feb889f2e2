import { isOutOfRoom } from "../store/postgres.ts";

/** What a process learns by its own work, since when Postgres or a queue takes it no more. */
export type OwnTrouble = "databaseFullSince" | "rewardsStuckSince" | "exportsFailSince";

/** Troubles that a process has met itself, each from the work that failed until the same work goes well. */
export interface OwnTroubles {
  note(trouble: OwnTrouble, isThere: boolean): void;
  isThere(trouble: OwnTrouble): boolean;
  /** Called at each change. */
  listen(listener: () => void): void;
}

export function createOwnTroubles(): OwnTroubles {
  const there = new Set<OwnTrouble>();
  let tell = (): void => undefined;
  return {
    note(trouble, isThere) {
      if (there.has(trouble) === isThere) return;
      if (isThere) there.add(trouble);
      else there.delete(trouble);
      tell();
    },
    isThere: (trouble) => there.has(trouble),
    listen(listener) {
      tell = listener;
    },
  };
}

/** Notes where storing a star finds the database's disk full; the next one that is stored ends it. */
export async function watchRoom<T>(
  troubles: Pick<OwnTroubles, "note">,
  storing: Promise<T>,
): Promise<T> {
  try {
    return await storing;
  } catch (error) {
    if (isOutOfRoom(error)) troubles.note("databaseFullSince", true);
    throw error;
  }
}
