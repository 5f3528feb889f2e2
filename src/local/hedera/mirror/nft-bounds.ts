import type { Bound, Sortable } from "../sorted.ts";
import { MirrorError } from "./errors.ts";
import type { Cursor } from "./next-link.ts";
import { filtersOf, type Query } from "./parameters.ts";

/** The filters on one of the two columns that a list of NFTs is sorted by: one of each kind. */
export interface Bounds {
  readonly name: "token.id" | "serialnumber";
  readonly equal?: Bound;
  readonly lower?: Bound;
  readonly upper?: Bound;
}

/**
 * @param read turns a value as written into a number
 * @throws MirrorError 400 when a kind occurs twice
 */
export function boundsOf(
  query: Query,
  name: Bounds["name"],
  read: (text: string) => Sortable,
): Bounds {
  let bounds: Bounds = { name };
  for (const { operator, value } of filtersOf(query, name)) {
    const kind = KINDS[operator];
    if (bounds[kind] !== undefined) bad(`Only one ${CALLED[kind]} operator is allowed for ${name}`);
    bounds = { ...bounds, [kind]: { operator, value: read(value) } };
  }
  if (bounds.equal !== undefined && (bounds.lower ?? bounds.upper) !== undefined) {
    bad(`Can't support both range and equal for ${name}`);
  }
  return bounds;
}

/** @throws MirrorError 400 when serials are bounded where no collection says whose they are */
export function checkBounds(token: Bounds, serial: Bounds): void {
  const isEmpty = (bounds: Bounds): boolean =>
    (bounds.equal ?? bounds.lower ?? bounds.upper) === undefined;
  if (isEmpty(token) && !isEmpty(serial)) {
    bad(`${serial.name} without a ${token.name} parameter filter`);
  }
  if (token.equal !== undefined) return;
  if (serial.lower !== undefined && token.lower?.operator !== "gte") {
    bad(`${token.name} must have gte or eq operator`);
  }
  if (serial.upper !== undefined && token.upper?.operator !== "lte") {
    bad(`${token.name} must have lte or eq operator`);
  }
}

/** Which serials it may have there: a bound on serials cuts only the collection at its edge. */
export function serialsWithin(num: number, token: Bounds, serial: Bounds): Bound[] {
  const cuts = (side: "lower" | "upper"): Bound | undefined => {
    const edge = token[side]?.value;
    return edge === undefined || edge === num ? serial[side] : undefined;
  };
  return [serial.equal, cuts("lower"), cuts("upper")].filter((bound) => bound !== undefined);
}

/** Where the page after this row starts. */
export function cursorsAfter(
  last: { readonly token_id: string; readonly serial_number: number },
  token: Bounds,
  serial: Bounds,
): Cursor[] {
  const cursors: Cursor[] = [];
  if (token.equal === undefined) {
    const inclusive = serial.equal === undefined;
    cursors.push({ parameter: token.name, value: last.token_id, inclusive });
  }
  if (serial.equal === undefined) {
    cursors.push({ parameter: serial.name, value: String(last.serial_number) });
  }
  return cursors;
}

const KINDS = { eq: "equal", gt: "lower", gte: "lower", lt: "upper", lte: "upper" } as const;
const CALLED = { equal: "equal (eq)", lower: "gt/gte", upper: "lt/lte" } as const;

function bad(message: string): never {
  throw new MirrorError(400, [message]);
}
