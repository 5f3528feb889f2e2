import { type ActorScope, type AnyEventObject, type AnyStateMachine, createActor } from "xstate";

/** An actor at rest: plain data, nothing alive in it. */
export interface State<Context> {
  readonly value: string;
  readonly context: Context;
}

/** A machine as a pure function. */
export interface Decider<Input, Context, Event, Decision> {
  /** The state of an actor nothing has happened to. */
  initial(input: Input): State<Context>;
  /**
   * Applies one event: the next state and the decision the machine emitted.
   *
   * @throws Error when the machine fails or emits no decision, or more than one: that is a
   *   defect and must never be taken for an acceptance
   */
  step(state: State<Context>, event: Event): readonly [State<Context>, Decision];
}

/**
 * Makes a machine callable: facts and intent in, next state and decision out.
 *
 * XState's `transition()` builds a new actor, and with it the machine's initial context, on
 * every call; one inert scope for all calls is 2–3 times faster and proven equal by a test.
 *
 * @param sampleInput any valid input: the scope's own actor is made with it, once
 */
export function createDecider<Input, Context, Event extends AnyEventObject, Decision>(
  machine: AnyStateMachine,
  sampleInput: Input,
): Decider<Input, Context, Event, Decision> {
  const emitted: Decision[] = [];
  const self = createActor(machine, { input: sampleInput });
  const scope: ActorScope<ReturnType<typeof machine.transition>, AnyEventObject> = {
    self,
    id: "",
    sessionId: "",
    system: self.system,
    logger: () => undefined,
    defer: () => undefined,
    stopChild: () => undefined,
    emit: () => undefined,
    actionExecutor: (action) => {
      if (action.type === "xstate.emit") emitted.push((action.params as { event: Decision }).event);
    },
  };
  // To resolve a state value costs as much as a transition, and there are only a few of them.
  const resolved = new Map<string, ReturnType<typeof machine.resolveState>>();
  const resolve = ({ value, context }: State<Context>): ReturnType<typeof machine.resolveState> => {
    const known = resolved.get(value) ?? machine.resolveState({ value, context });
    resolved.set(value, known);
    return { ...known, context };
  };
  return {
    initial: (input) => plain(machine.getInitialSnapshot(scope, input)),
    step(state, event) {
      emitted.length = 0;
      const next = machine.transition(resolve(state), event, scope);
      const [decision] = emitted;
      if (next.status === "error" || decision === undefined || emitted.length > 1) {
        throw new Error(`${machine.id} made ${emitted.length} decisions on ${event.type}`, {
          cause: next.error,
        });
      }
      return [plain(next), decision];
    },
  };
}

function plain<Context>(snapshot: { value: unknown; context: unknown }): State<Context> {
  return { value: String(snapshot.value), context: snapshot.context as Context };
}
