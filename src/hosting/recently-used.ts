/** A map that forgets what was not used for long. */
export interface RecentlyUsed<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  clear(): void;
  /** How many entries there are. */
  size(): number;
}

/**
 * Two generations instead of an order of use: what is used moves into the young one, and when
 * that holds half of what is allowed, the old one is dropped as a whole. An exact order would
 * cost two writes to a map for every look-up, which is slow in maps of 100,000 entries.
 *
 * @param max most entries ever held; at least the `max / 2` used last are there
 */
export function recentlyUsed<V>(max: number): RecentlyUsed<V> {
  const generationMax = Math.max(1, Math.floor(max / 2));
  let young = new Map<string, V>();
  let old = new Map<string, V>();
  const set = (key: string, value: V): void => {
    young.set(key, value);
    if (young.size < generationMax) return;
    old = young;
    young = new Map();
  };
  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found;
      const rested = old.get(key);
      if (rested === undefined) return undefined;
      old.delete(key);
      set(key, rested);
      return rested;
    },
    set(key, value) {
      old.delete(key);
      set(key, value);
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    clear() {
      young.clear();
      old.clear();
    },
    size: () => young.size + old.size,
  };
}
