import { ConfigurationError } from "../config.ts";
import { RetryableError } from "../errors.ts";
import { armFailpoint, parseFailpoint } from "../failpoint.ts";
import type { Logger } from "../log.ts";

/**
 * Arms the failpoint that the settings name; without one, nothing happens.
 *
 * @throws ConfigurationError when there is no such place or mode
 */
export function armFailpointFromSettings(
  { FAILPOINT: text }: { readonly FAILPOINT?: string | undefined },
  log: Logger,
): void {
  if (text === undefined) return;
  const order = parseFailpoint(text);
  if (order === undefined) throw new ConfigurationError("FAILPOINT names no place and mode");
  log.warn({ failpoint: text }, "this process is armed to fail, for a test");
  armFailpoint(order, {
    onHit: () => log.warn({ failpoint: text }, "the failpoint was hit"),
    lost: (message) => new RetryableError("UNAVAILABLE", message),
  });
}
