/**
 * Waits for work that may never end, but no longer than this.
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
    const timer = setTimeout(() => reject(late()), deadlineMs);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
