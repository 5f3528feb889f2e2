import type { paths } from "./openapi.ts";

/** What the OpenAPI document says of each path, in the words of a caller. */
type Operation<P extends Path> = paths[P]["get"];

/** A path below `/v1`, as the OpenAPI document writes it: `/events/{id}`. */
export type Path = keyof paths;

/** What is filled into a path and what follows its question mark, by name in one object. */
export type Parameters<P extends Path> = Part<P, "path"> & Part<P, "query">;

type Part<P extends Path, In extends "path" | "query"> = [Given<Operation<P>, In>] extends [never]
  ? unknown
  : Given<Operation<P>, In>;

/** Each operation of a union for itself. */
type Given<O, In extends "path" | "query"> = O extends {
  parameters: Partial<{ [K in In]: infer G }>;
}
  ? Exclude<G, undefined>
  : never;

/** The JSON body of a path's reply. */
export type Reply<P extends Path> = Operation<P>["responses"][200]["content"]["application/json"];

/** A path whose reply is one page of a list. */
export type PagedPath = {
  [P in Path]: Reply<P> extends { hasMore: boolean } ? P : never;
}[Path];

/** One record of a paged list: what the list in its reply holds. */
export type Record<P extends PagedPath> = {
  [K in keyof Reply<P>]: Reply<P>[K] extends readonly (infer R)[] ? R : never;
}[keyof Reply<P>];
