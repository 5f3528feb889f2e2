import { setTimeout as pause } from "node:timers/promises";
import { type Dispatcher, request } from "undici";

/** A reply that came with 200. */
export type Reply = Pick<Dispatcher.ResponseData, "headers" | "body">;

const TIMEOUT_MS = 60_000;
/** Limits are windows of a minute: a service that refuses for longer is not limiting. */
const PATIENCE_MS = 10 * 60_000;
const WAIT_SECONDS_MAX = 120;
/** What of a refusal is repeated. */
const SAID_MAX = 200;
const SECOND_MS = 1_000;

/**
 * GET that obeys `Retry-After` for ten minutes at most.
 *
 * @throws Error in one line for any other answer than 200
 */
export async function fetchWithRetry(
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const reply = await request(address, {
      headers: { ...headers },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    if (reply.statusCode === 200) return reply;
    const said = (await reply.body.text()).slice(0, SAID_MAX);
    const seconds = Number(reply.headers["retry-after"]);
    const isRefused = reply.statusCode === 429 || reply.statusCode === 503;
    // `NaN` where nothing is said of when to come again.
    if (!isRefused || !(seconds <= WAIT_SECONDS_MAX) || performance.now() >= endsAt) {
      throw new Error(`${new URL(address).pathname}: HTTP ${reply.statusCode} ${said}`);
    }
    await pause(Math.max(1, seconds) * SECOND_MS);
  }
}
