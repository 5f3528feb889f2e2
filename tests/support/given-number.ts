/**
 * A number that a proof or benchmark is given. Ends the process with 2 where it is too small or none:
 * what runs no round proves nothing, and must not end as if it had.
 */
export function givenNumber(option: string, text: string, least = 1): number {
  const number = Number(text);
  if (number >= least && Number.isFinite(number)) return number;
  process.stderr.write(`--${option} takes a number from ${least} on\n`);
  process.exit(2);
}
