/** With the check of the key before it this stays below 2 s, the longest a reader waits. */
export const READ_DEADLINE_MS = 950;
