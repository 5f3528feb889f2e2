/**
 * Every way to take something away from a machine's states: what properties and HTTP tests must
 * see. Pure data in, pure data out, as a machine's `states` is written.
 */

/** One branch of a handler. */
export interface Branch {
  readonly guard?: string;
  readonly target?: string;
  readonly actions?: string;
}

/** A machine's states, each handler a list of its branches. */
export type States = Readonly<
  Record<string, { readonly on: Readonly<Record<string, readonly Branch[]>> }>
>;

/** A machine's states with one thing taken away. */
export interface Change {
  readonly name: string;
  readonly states: States;
  readonly initial: string;
}

type Written = Readonly<Record<string, { readonly on?: Readonly<Record<string, unknown>> }>>;

/** States as they are written, where a handler may be a target, a branch or a list. */
export function listedStates(written: Written): States {
  const listed = (handler: unknown): readonly Branch[] =>
    [handler]
      .flat()
      .map((each) => (typeof each === "string" ? { target: each } : (each as Branch)));
  return mapValues(written, ({ on = {} }) => ({ on: mapValues(on, listed) }));
}

/** Each branch left out, each state without handlers, each state never entered: one at a time. */
export function changesOf(states: States, initial: string): readonly Change[] {
  const withOn = (name: string, state: string, on: States[string]["on"]): Change => ({
    name,
    initial,
    states: { ...states, [state]: { on } },
  });
  const branches = Object.entries(states).flatMap(([state, { on }]) =>
    Object.entries(on).flatMap(([type, list]) =>
      list.map(({ guard }, n) => {
        const left = list.filter((_, index) => index !== n);
        const { [type]: _, ...others } = on;
        const name = `${state}: ${type}${guard ? ` when ${guard}` : ""} left out`;
        return withOn(name, state, left.length === 0 ? others : { ...on, [type]: left });
      }),
    ),
  );
  const muted = Object.keys(states).map((state) => withOn(`${state} without handlers`, state, {}));
  return [...branches, ...muted, ...neverEntered(states, initial)];
}

/** What led to a state stays where it was; where the machine began in it, it begins in another. */
function neverEntered(states: States, initial: string): readonly Change[] {
  const names = Object.keys(states);
  return names.flatMap((gone) => {
    const other = names.find((name) => name !== gone);
    if (other === undefined) return [];
    const stay = (branch: Branch): Branch => {
      const { target, ...rest } = branch;
      return target === gone ? rest : branch;
    };
    const redirected = mapValues(states, ({ on }) => ({
      on: mapValues(on, (list) => list.map(stay)),
    }));
    const name = `${gone} never entered`;
    return [{ name, states: redirected, initial: initial === gone ? other : initial }];
  });
}

function mapValues<V, W>(
  record: Readonly<Record<string, V>>,
  map: (value: V) => W,
): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
