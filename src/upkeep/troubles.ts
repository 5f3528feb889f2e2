import type { Clock } from "../clock.ts";
import { isOutOfRoom } from "../store/postgres.ts";
import type { Trouble } from "../store/service-report.ts";

/** Since when a process sees what is not as it should be: by a look, or where its own work fails. */
export type Troubles = ReturnType<typeof createTroubles>;

export function createTroubles(clock: Pick<Clock, "now">) {
  const since = new Map<Trouble, number>();
  let tell = (): void => undefined;
  return {
    note(trouble: Trouble, isThere: boolean): void {
      if (since.has(trouble) === isThere) return;
      if (isThere) since.set(trouble, clock.now());
      else since.delete(trouble);
      tell();
    },
    standing: (): Partial<Record<Trouble, number>> => Object.fromEntries(since),
    /** @param listener called at each change */
    listen(listener: () => void): void {
      tell = listener;
    },
  };
}

/** Notes where storing a star finds the database's disk full; the next one that is stored ends it. */
export async function watchRoom<T>(
  troubles: Pick<Troubles, "note">,
  storing: Promise<T>,
): Promise<T> {
  try {
    return await storing;
  } catch (error) {
    if (isOutOfRoom(error)) troubles.note("databaseFullSince", true);
    throw error;
  }
}
