import type { AnyStateMachine, EventObject } from "xstate";
import type { DecideEvolve, State } from "../../actors/decide-evolve.ts";

/** A machine, the inputs it is walked with, and what the oracle says of a path. */
export interface Walk {
  readonly name: string;
  /** The file of `actors/` with its prose. */
  readonly file: string;
  readonly machine: AnyStateMachine;
  readonly logic: DecideEvolve<never, unknown, never, unknown, never>;
  readonly input: object | undefined;
  /** The commands that may come in a state, and the facts that a journal may hold next. */
  readonly events: (state: never) => readonly EventObject[];
  /** Fewer, where every order of them is walked. */
  readonly fewerEvents: (state: never) => readonly EventObject[];
  readonly isCommand: (event: EventObject) => boolean;
  /** States that agree in this decide the same from here on. */
  readonly memory: (context: never) => string;
  /** After facts, the state they make; after facts and a command, its decision as well. */
  readonly expected: (path: readonly never[]) => Expected;
}

export interface Expected {
  readonly state: State<unknown>;
  /** Null after a fact. */
  readonly decision: unknown;
}
