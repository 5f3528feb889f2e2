import { stripVTControlCharacters } from "node:util";
import type { FileResult } from "./test-process.ts";

/** What a failed test says, before the stack. */
const CAUSE = /^ +FAIL [^\n]*\n(.*?)(?=\n +at |\n\n\n)/gms;
/** A deadline of the product, of a test or of a browser has passed. An answer, 503 too, is one. */
const WANT_OF_TIME = /\bin time\b|within \d+ ms|time-?out|timed out|deadline/i;
/** What is wrong with a file as a whole where it was late. */
const NO_END = /^no end after /;
/** The library's mark of a test that ran. */
const TEST_RAN = /[•✘]/;

/**
 * Whether a file failed only because this machine was slow: a wrong answer is wrong however long it
 * took. The test library does not say what a hook threw: where one kept all tests from running it
 * may have been late, and where tests had run a wrong answer may be unsaid.
 */
export function isLate({ failed, output, complaint }: FileResult): boolean {
  if (failed === 0 || (complaint !== undefined && !NO_END.test(complaint))) return false;
  const plain = stripVTControlCharacters(output);
  const causes = [...plain.matchAll(CAUSE)].map(([, cause = ""]) => cause);
  const said = causes.length + (complaint === undefined ? 0 : 1);
  return (
    (said >= failed || !TEST_RAN.test(plain)) && causes.every((cause) => WANT_OF_TIME.test(cause))
  );
}
