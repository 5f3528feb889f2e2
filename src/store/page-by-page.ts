export type Pages<Row> = AsyncGenerator<readonly Row[], void, undefined>;

/**
 * Rows page by page, each read after the last row of the page before: a statement of its own, so who
 * reads slowly holds nothing up.
 *
 * @param read a page after that row, or the first one; empty at the end
 */
export async function* pageByPage<Row, Shown>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
  show: (row: Row) => Shown,
): Pages<Shown> {
  let last: Row | undefined;
  for (;;) {
    const rows = await read(last);
    last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(show);
  }
}
