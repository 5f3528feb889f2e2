/** The local ledger has one shard and one realm: an entity is its number. */
const ENTITY_ID = /^0\.0\.(0|[1-9]\d{0,11})$/;

/** `1001` → `0.0.1001` */
export function entityId(num: number | string): string {
  return `0.0.${num}`;
}

/**
 * `0.0.1001` → `1001`
 *
 * @throws RangeError for any other spelling
 */
export function entityNum(id: string): number {
  const num = ENTITY_ID.exec(id)?.[1];
  if (num === undefined) throw new RangeError(`"${id}" is not an entity id such as 0.0.1001`);
  return Number(num);
}
