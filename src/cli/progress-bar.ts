/** The part of a stream that a bar needs; `process.stderr` is one. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR_CELLS_MAX = 40;
const CLEAR_LINE = "\r\u001b[2K";

/**
 * Shows on a terminal how far something is; says nothing to a file or a pipe.
 *
 * @param what is counted, in the plural: `records`
 */
export function progressBar(terminal: Terminal, what: string) {
  let shown = "";
  const barOf = (done: number, total: number): string => {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const words = ` ${Math.floor(share * 100)} %  ${number(done)} of ${number(total)} ${what}`;
    // A line that wraps cannot be drawn over.
    const room = (terminal.columns ?? 80) - words.length - 3;
    const cells = Math.max(0, Math.min(BAR_CELLS_MAX, room));
    const full = Math.round(share * cells);
    return `[${"#".repeat(full)}${"-".repeat(cells - full)}]${words}`;
  };
  return {
    /** @param total null while it is not known: then the count alone is shown */
    show(done: number, total: number | null): void {
      if (terminal.isTTY !== true) return;
      const line = total === null ? `${number(done)} ${what}` : barOf(done, total);
      if (line !== shown) terminal.write(`${CLEAR_LINE}${line}`);
      shown = line;
    },
    /** Clears the line. */
    end(): void {
      if (shown !== "") terminal.write(CLEAR_LINE);
      shown = "";
    },
  };
}

/** A bar of work in several steps, one after the other: each counts things of its own. */
export function stepsBar(terminal: Terminal) {
  let step = "";
  let bar = progressBar(terminal, step);
  return {
    show(what: string, done: number, total: number | null) {
      if (step !== what) bar = progressBar(terminal, what);
      step = what;
      bar.show(done, total);
    },
    end: () => bar.end(),
  };
}

function number(value: number): string {
  return value.toLocaleString("en");
}
