import type { Dispatcher } from "undici";
import { MirrorError } from "./error.ts";
import type { Budget } from "./limits.ts";

const HEADERS = ["accept", "application/json"];
/** Takes a byte order mark away, as a reader of JSON may. */
const UTF8 = new TextDecoder();

/** One mirror node, reached at `origin`, its interface under `prefix + /api/v1`. */
export interface Endpoint {
  readonly origin: string;
  /** May hold an access key, so no error names it. */
  readonly prefix: string;
}

export interface Question {
  readonly endpoint: Endpoint;
  /** Path and query below the endpoint's prefix. */
  readonly target: string;
  readonly budget: Budget;
  /** Shorter than what is left of the budget; absent: all of that. */
  readonly withinMs?: number | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
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
    const timer = withinMs === undefined ? undefined : setTimeout(giveUp, withinMs);
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
  #retryAfter: string | undefined;
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

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#retryAfter = headers["retry-after"]?.toString();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...rest] = this.#chunks;
    const body = first === undefined || rest.length > 0 ? Buffer.concat(this.#chunks) : first;
    this.#done(undefined, {
      status: this.#status,
      text: UTF8.decode(body),
      retryAfter: this.#retryAfter,
    });
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
