import type { Context } from "hono";
import { z } from "zod";
import { recordTypes } from "../../catalogue/record-type.ts";
import { badField } from "../../errors.ts";
import { RECORD_ID } from "../../hosting/actor-name.ts";
import { isEntityId, type LedgerNetwork, parseEntityId } from "../../ledger/entity-id.ts";
import { UUID } from "../../uuid.ts";
import { parseParameters, parseSearch, searchOf, shownName } from "../v1/parameters.ts";

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Bodies of the voting requests (contract, section 3): unknown fields are refused. */

/**
 * `{ wallet }`: canonical `0.0.n`, whose checksum, where given, is verified for the network; or an
 * EVM address, which becomes lower case.
 */
export function challengeBody(network: LedgerNetwork) {
  return z.strictObject({
    wallet: z.string().transform((text, context) => {
      const isAddress = EVM_ADDRESS.test(text);
      const id = isAddress ? text.toLowerCase() : parseEntityId(text, network);
      if (id === undefined) {
        context.addIssue({
          code: "custom",
          message: `must be an account id such as 0.0.1001, with its checksum for ${network} or without, or an EVM address`,
        });
        return z.NEVER;
      }
      return id;
    }),
  });
}

/** Four KiB bound the body; a signature map of many keys still fits. */
const SIGNATURE_LENGTH_MAX = 4_096;

export const sessionBody = z.strictObject({
  challengeId: z.string().regex(UUID, "must be the id of a challenge").toLowerCase(),
  scheme: z.enum(["hip820", "eip191"]).default("hip820"),
  signature: z.string().min(1).max(SIGNATURE_LENGTH_MAX),
  /** For our own pages: the token goes into their cookie and stays out of the reply. */
  cookie: z.boolean().default(false),
});

export const targetType = z.enum(recordTypes);

export const starTarget = z
  .strictObject({ type: targetType, id: z.string() })
  .superRefine(({ type, id }, context) => {
    // Events and projects have record ids, tokens and collections their ledger id.
    const isId = type === "token" || type === "collection" ? isEntityId(id) : RECORD_ID.test(id);
    if (!isId) context.addIssue({ code: "custom", path: ["id"], message: `is no ${type} id` });
  });

export const starBody = z.strictObject({ target: starTarget });

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
