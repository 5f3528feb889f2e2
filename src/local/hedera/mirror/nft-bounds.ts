import type { Fragment } from "postgres";
import { MirrorError } from "./errors.ts";
import type { Cursor } from "./next-link.ts";
import { filtersOf, type Operator, type Query } from "./parameters.ts";
import { allOf, compare, type View } from "./view.ts";

/** The filters on one of the two columns that a list of NFTs is sorted by: one of each kind. */
export interface Bounds {
  readonly name: "token.id" | "serialnumber";
  readonly equal?: string;
  readonly lower?: { readonly operator: "gt" | "gte"; readonly value: string };
  readonly upper?: { readonly operator: "lt" | "lte"; readonly value: string };
}

/**
 * @param read turns a value as written into a number's digits
 * @throws MirrorError 400 when a kind occurs twice
 */
export function boundsOf(
  query: Query,
  name: Bounds["name"],
  read: (text: string) => string,
): Bounds {
  let bounds: Bounds = { name };
  for (const { operator, value } of filtersOf(query, name)) {
    const { kind, called } = kindOf(operator, name);
    if (bounds[kind] !== undefined) bad(`Only one ${called} operator is allowed for ${name}`);
    const bound = kind === "equal" ? read(value) : { operator, value: read(value) };
    bounds = { ...bounds, [kind]: bound };
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

/** The rows inside both: a bound on serials cuts only the collection at its edge. */
export function within(view: View, token: Bounds, serial: Bounds): Fragment {
  const { sql } = view;
  const conditions: Fragment[] = [];
  const add = (column: string, operator: Operator, value: string): void =>
    void conditions.push(compare(view, column, { operator, value }));
  if (token.equal !== undefined) add("n.token", "eq", token.equal);
  if (serial.equal !== undefined) add("n.serial", "eq", serial.equal);
  for (const side of ["lower", "upper"] as const) {
    const edge = token[side];
    const cut = serial[side];
    if (edge === undefined && cut !== undefined) add("n.serial", cut.operator, cut.value);
    if (edge === undefined) continue;
    add("n.token", edge.operator, edge.value);
    if (cut === undefined) continue;
    const inside = compare(view, "n.serial", cut);
    conditions.push(sql`(n.token <> ${edge.value}::bigint or ${inside})`);
  }
  return allOf(view, conditions);
}

/** Where the page after this row starts. */
export function cursorsAfter(
  last: { readonly token: string; readonly serial: string },
  token: Bounds,
  serial: Bounds,
): Cursor[] {
  const cursors: Cursor[] = [];
  if (token.equal === undefined) {
    const inclusive = serial.equal === undefined;
    cursors.push({ parameter: token.name, value: `0.0.${last.token}`, inclusive });
  }
  if (serial.equal === undefined) cursors.push({ parameter: serial.name, value: last.serial });
  return cursors;
}

function kindOf(operator: Operator, name: string) {
  switch (operator) {
    case "eq":
      return { kind: "equal", called: "equal (eq)" } as const;
    case "gt":
    case "gte":
      return { kind: "lower", called: "gt/gte" } as const;
    case "lt":
    case "lte":
      return { kind: "upper", called: "lt/lte" } as const;
    case "ne":
      return bad(`Not equal (ne) operator is not supported for ${name}`);
  }
}

function bad(message: string): never {
  throw new MirrorError(400, [message]);
}
