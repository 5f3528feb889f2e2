import { table } from "./output.ts";

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

/**
 * Checks in a table, and below it what else is known of each that fails, a line each: in columns
 * of their own such sentences would push the others off the screen.
 *
 * @param details by their headings; one that is null is left out
 */
export function checksText<C extends Check>(
  checks: readonly C[],
  details: Readonly<Record<string, keyof C>>,
): string {
  const failing = checks.filter(({ ok }) => !ok);
  const known = failing.flatMap((check) => [
    `\n${check.name}`,
    ...Object.entries(details).flatMap(([heading, field]) =>
      check[field] === null ? [] : `  ${heading}: ${check[field]}`,
    ),
  ]);
  const rows = table(checks, {
    check: "name",
    "": ({ ok }) => (ok ? "ok" : "WRONG"),
    what: "message",
  });
  return [rows, ...known].join("\n");
}
