import type { State } from "../state/state.ts";
import type { Query } from "./parameters.ts";

/** A request, as far as an endpoint looks at it. */
export interface MirrorRequest {
  readonly state: State;
  /** As it was written: `links.next` repeats it. */
  readonly path: string;
  readonly query: Query;
  /** The named part of the path. */
  part(name: string): string;
}

export interface MirrorAnswer {
  readonly body: {
    /** The next page also goes into the `Link` header. */
    readonly links?: { readonly next: string | null };
    readonly [field: string]: unknown;
  };
  /** Seconds it may be cached. */
  readonly maxAge: number;
}

export type Endpoint = (request: MirrorRequest) => MirrorAnswer;

/** How long caches may keep an answer, in seconds, as the real one's configuration has it. */
export const MAX_AGE = { list: 1, account: 2, token: 5, record: 600 } as const;

export function listAnswer(name: string, rows: readonly unknown[], next: string | null) {
  return { body: { [name]: rows, links: { next } }, maxAge: MAX_AGE.list };
}
