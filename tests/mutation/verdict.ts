import type { FileResult } from "../support/test-process.ts";

/** How uvu heads a failed test: `FAIL  suite  "name"`. */
const FAIL = /FAIL .*?"(.*)"/g;
/** What an assertion says, of a hook too, or how uvu marks a failed test: it names it when all have run. */
const UNNAMED = /AssertionError|✘/;

/**
 * What a test file has to say of a bug: nothing where it was cut off, which a busy machine does too,
 * or where it could not begin, which any broken patch does.
 */
export type Verdict = "missed" | { readonly noticed: string } | { readonly undecided: string };

export function verdictOf({ failed, output, complaint = "a hook" }: FileResult): Verdict {
  if (failed === 0) return "missed";
  const [first, ...others] = [...output.matchAll(FAIL)].map(([, name]) => `"${name}"`);
  if (first === undefined) {
    return UNNAMED.test(output) ? { noticed: complaint } : { undecided: complaint };
  }
  return { noticed: others.length === 0 ? first : `${first} and ${others.length} more` };
}
