/**
 * A pool of postgres.js 3.4.9 (`src/index.js`) has ended when its connections have. Where they end of
 * their own accord, nothing refuses what still waits for one: the next to close opens again for it, and
 * so does one that waits to be opened. Nothing closes those: they keep a process up until they have been
 * idle for their time.
 */
export function openNoMore({ options }: { readonly options: object }): void {
  const socket = () => {
    throw Object.assign(new Error("the pool has ended"), { code: "CONNECTION_ENDED" });
  };
  // The driver asks for it each time it opens a connection.
  Object.assign(options, { socket });
}
