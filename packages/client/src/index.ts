export { type Data, type DataOptions, data } from "./data.ts";
export {
  type DataErrorCode,
  type ErrorCode,
  StarboardError,
  type VotingErrorCode,
} from "./error.ts";
export type { Counter, LiveEvent, LiveOptions } from "./live.ts";
export type { components } from "./openapi.ts";
export type { Parameters, Path, Record, Reply } from "./paths.ts";
export type { CallOptions } from "./request.ts";
export {
  type Config,
  type CurrentAllowance,
  type ItemPage,
  type ItemQuery,
  mayStand,
  newIdempotencyKey,
  type Preview,
  type Retry,
  type Session,
  type Signer,
  type Star,
  type StarOptions,
  type StarReply,
  type StarTarget,
  type Voting,
  type VotingOptions,
  voting,
} from "./voting.ts";
export type { components as votingComponents } from "./voting-openapi.ts";
