/**
 * Waits for work that may never end, but no longer than this. An answer that has arrived counts,
 * though this process was too busy to read it: Node fires what is due before it reads.
 *
 * @param late makes the error when time is up; "no answer in time" when absent
 * @throws what `late` makes, or what the work throws
 */
export function withDeadline<T>(
  work: PromiseLike<T>,
  deadlineMs: number,
  late: () => Error = () => new Error("no answer in time"),
): Promise<T> {
  return new Promise((resolve, reject) => {
    let reading: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      reading = setImmediate(() => reject(late()));
    }, deadlineMs);
    void work.then(resolve, reject).then(() => {
      clearTimeout(timer);
      clearImmediate(reading);
    });
  });
}
