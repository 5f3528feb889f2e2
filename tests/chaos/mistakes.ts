/** What no fault of a server throws, but a mistake in the code: in a line of the log, or as last words. */
const MISTAKE = /(?:"type":"|^)(?:Type|Reference|Range|Syntax|Assertion)Error\b/;

/** Lines of a process' log that name a mistake in the code. */
export function mistakesIn(log: string): readonly string[] {
  return log.split("\n").filter((line) => MISTAKE.test(line));
}
