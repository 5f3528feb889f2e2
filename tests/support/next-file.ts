/** Printed between the test files of one process; no test prints it. */
export const NEXT_FILE = "\u001e";
