export { type Data, type DataOptions, data } from "./data.ts";
export { type ErrorCode, StarboardError } from "./error.ts";
export type { components } from "./openapi.ts";
export type { Parameters, Path, Record, Reply } from "./paths.ts";
