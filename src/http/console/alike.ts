/** What is alike by a key stands together; the groups come in the order of their first ones. */
export function alike<T>(
  all: readonly T[],
  keyOf: (one: T) => string,
): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return [...groups.values()];
}
