/** The part of a stream that a bar needs; `process.stderr` is one. */
interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR_CELLS_MAX = 40;
const CLEAR_LINE = "\r\u001b[2K";

/** Shows on a terminal how far work is, step by step; says nothing to a file or a pipe. */
export function progressBar(terminal: Terminal) {
  let shown = "";
  return {
    /**
     * @param what the step counts, in the plural: `messages`
     * @param total null while it is not known: then the count alone is shown
     */
    show(what: string, done: number, total: number | null): void {
      if (terminal.isTTY !== true) return;
      const line =
        total === null
          ? `${number(done)} ${what}`
          : barOf(`${number(done)} of ${number(total)} ${what}`, {
              share: total === 0 ? 1 : Math.min(1, done / total),
              columns: terminal.columns ?? 80,
            });
      if (line !== shown) terminal.write(`${CLEAR_LINE}${line}`);
      shown = line;
    },
    end(): void {
      if (shown !== "") terminal.write(CLEAR_LINE);
      shown = "";
    },
  };
}

function barOf(count: string, given: { readonly share: number; readonly columns: number }): string {
  const { share, columns } = given;
  const words = ` ${Math.floor(share * 100)} %  ${count}`;
  // A line that wraps cannot be drawn over.
  const cells = Math.max(0, Math.min(BAR_CELLS_MAX, columns - words.length - 3));
  const full = Math.round(share * cells);
  return `[${"#".repeat(full)}${"-".repeat(cells - full)}]${words}`;
}

function number(value: number): string {
  return value.toLocaleString("en");
}
