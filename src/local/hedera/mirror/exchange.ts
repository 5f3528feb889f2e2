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
  readonly body: Readonly<Record<string, unknown>>;
  /** Seconds it may be cached. */
  readonly maxAge: number;
  /** Also goes into the `Link` header. */
  readonly next?: string | null;
}

export type Endpoint = (request: MirrorRequest) => MirrorAnswer;

/** How long caches may keep an answer, in seconds, as the real one's configuration has it. */
export const MAX_AGE = { list: 1, account: 2, token: 5, record: 600 } as const;

/** A list's body, with the link to the next page in it. */
export function listAnswer(
  name: string,
  rows: readonly unknown[],
  next: string | null,
): MirrorAnswer {
  return { body: { [name]: rows, links: { next } }, maxAge: MAX_AGE.list, next };
}
