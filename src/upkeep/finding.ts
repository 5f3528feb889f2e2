import { coerceError } from "../errors.ts";

/** What a check of the doctor, or of the verdict, found. */
export interface Finding {
  /** One sentence, for people; holds no secret. */
  readonly message: string;
  /** What to do; null where nothing is wrong. */
  readonly fix: string | null;
  /** Since when it is wrong, epoch milliseconds; null where that is not known. */
  readonly since: number | null;
}

/** Nothing is wrong. */
export function well(message: string): Finding {
  return { message, fix: null, since: null };
}

/** Something is wrong, and this is what to do. */
export function wrong(message: string, fix: string, since: number | null = null): Finding {
  return { message, fix, since };
}

/** A setting that a check cannot do without. */
export function unset(setting: string): Finding {
  return wrong(`${setting} is not set`, `set ${setting}; docs/configuration.md says what it is`);
}

/** What a dependency threw, in one line and short; of an outage the cause says more. */
export function reasonOf(thrown: unknown): string {
  const error = coerceError(thrown);
  const text = (error.cause instanceof Error && coerceError(error.cause).message) || error.message;
  return (text || error.name).replace(/\s+/g, " ").slice(0, 200);
}
