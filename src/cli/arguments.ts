/** What a command line may hold, each with what `--help` says of it. */

/** A word that has to be there. */
export const word = (description: string) =>
  ({ type: "positional", description, required: true }) as const;

/** `--name value` */
export const option = (description: string) => ({ type: "string", description }) as const;

/** `--name value` that has to be there. */
export const needed = (description: string) =>
  ({ ...option(description), required: true }) as const;

/** `--name` alone */
export const flag = (description: string) =>
  ({ type: "boolean", description, default: false }) as const;

/** `0.0.n` */
export const WALLET = word("Account id, such as 0.0.1001.");

/** @throws Error in one line naming the option when it is no whole number of this range */
export function readWhole(
  given: string | undefined,
  { name, min = 0, max }: { readonly name: string; readonly min?: number; readonly max: number },
): number {
  const value = /^\d{1,9}$/.test(given ?? "") ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`${name} must be a whole number from ${min} to ${max}`);
}
