import type { Dispatcher } from "undici";
import type { RawAnswer } from "./mirror-answer.ts";
import type { Budget } from "./mirror-deadline.ts";
import type { MirrorEndpoint } from "./mirror-endpoints.ts";
import { MirrorError } from "./mirror-error.ts";

const HEADERS = ["accept", "application/json"];
/** Takes a byte order mark away, as whoever reads JSON may. */
const UTF8 = new TextDecoder();

/** What to ask, and for how long at most. */
export interface Question {
  /** Its prefix may hold an access key, so no error names it. */
  readonly endpoint: MirrorEndpoint;
  /** Path and query below that prefix. */
  readonly target: string;
  readonly budget: Budget;
  readonly withinMs: number;
}

/**
 * Asks for one thing and collects the whole answer. When the time is up, or the
 * read it belongs to is over, it ends at once and the connection is cut.
 *
 * @throws MirrorError "timeout", or what the connection threw
 */
export function exchange(
  connections: Dispatcher,
  { endpoint: { origin, prefix }, target, budget, withinMs }: Question,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const handler = new WholeAnswer((error, answer) => {
      clearTimeout(timer);
      forget();
      if (answer === undefined) reject(error);
      else resolve(answer);
    });
    const giveUp = (): void => {
      handler.giveUp(new MirrorError("timeout", `${target}: no answer in time`));
    };
    const timer = setTimeout(giveUp, withinMs);
    const forget = budget.whenOver(giveUp);
    const path = prefix + target;
    connections.dispatch({ origin, path, method: "GET", headers: HEADERS }, handler);
  });
}

type Settle = (error: unknown, answer?: RawAnswer) => void;

/**
 * Receives one answer. Undici's own `request` makes a stream of each body,
 * which cost as much as sending and parsing the rest.
 */
class WholeAnswer implements Dispatcher.DispatchHandler {
  #settle: Settle | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #givenUp: Error | undefined;
  #status = 0;
  readonly #chunks: Buffer[] = [];

  constructor(settle: Settle) {
    this.#settle = settle;
  }

  giveUp(error: Error): void {
    this.#givenUp = error;
    this.#done(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // While it waited for a connection.
    if (this.#givenUp !== undefined) controller.abort(this.#givenUp);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...rest] = this.#chunks;
    const body = first === undefined || rest.length > 0 ? Buffer.concat(this.#chunks) : first;
    this.#done(undefined, { status: this.#status, text: UTF8.decode(body) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#done(error);
  }

  #done(error: unknown, answer?: RawAnswer): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(error, answer);
  }
}
