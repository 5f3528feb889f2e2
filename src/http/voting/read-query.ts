import type { Context } from "hono";
import type { z } from "zod";
import { badField } from "../../errors.ts";
import { parseParameters, parseSearch, searchOf, shownName } from "../v1/parameters.ts";

/**
 * Reads the query of a voting request, as strictly as the public API does.
 *
 * @throws TerminalError `INVALID_REQUEST` with `field`: the first parameter that is bad, missing,
 *   repeated, or none of the operation's
 */
export function readVotingQuery<S extends z.ZodObject>(c: Context, shape: S): z.output<S> {
  const given = parseParameters(shape, parseSearch(searchOf(c.req.url)));
  if ("values" in given) return given.values;
  const field = shownName(given.name);
  throw badField(field, `The parameter ${field} ${given.flaw}.`);
}
