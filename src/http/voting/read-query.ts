import type { Context } from "hono";
import type { z } from "zod";
import { TerminalError } from "../../errors.ts";
import { parseParameters, shownName } from "../v1/parameters.ts";

/**
 * Reads the query of a voting request, as strictly as the public API does.
 *
 * @throws TerminalError `INVALID_REQUEST` with `field`: the first parameter that is bad, missing,
 *   repeated, or none of the operation's
 */
export function readVotingQuery<S extends z.ZodObject>(c: Context, shape: S): z.output<S> {
  const { url } = c.req;
  const start = url.indexOf("?");
  const given = parseParameters(shape, new URLSearchParams(start === -1 ? "" : url.slice(start)));
  if ("values" in given) return given.values;
  const field = shownName(given.name);
  throw new TerminalError("INVALID_REQUEST", `The parameter ${field} ${given.flaw}.`, { field });
}
